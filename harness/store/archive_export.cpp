#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "harness/core/failpoint.h"
#include "harness/core/files.h"
#include "harness/core/sha256.h"
#include "harness/core/system_error.h"
#include "harness/core/unique_fd.h"
#include "harness/store/archive.h"
#include "harness/store/archive_format.h"
#include "harness/store/private_copy.h"
#include "harness/store/reader.h"
#include "harness/store/sqlite.h"

namespace qfs::store {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBufferBytes = size_t{1} << 20;

Error write_error(const fs::path& path) {
  return unavailable("cannot be written: " + error_text(errno), path.string());
}

/// A file that appears whole or not at all, written in pieces.
class GrowingFile {
 public:
  explicit GrowingFile(fs::path path)
      : path_(std::move(path)), partial_(path_.string() + ".partial") {
    constexpr mode_t kMode = 0644;
    fd_ = UniqueFd(::open(partial_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode));
    if (!fd_.valid()) status_ = write_error(partial_);
  }
  ~GrowingFile() {
    std::error_code ignored;  // of a file that was renamed there is nothing left
    if (!done_) fs::remove(partial_, ignored);
  }
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  std::string& buffer() { return buffer_; }
  bool flush_if_full() { return buffer_.size() < kBufferBytes || flush(); }

  /// Renames it; its digest.
  Result<std::string> finish() {
    if (!flush()) return status_.error();
    if (::fsync(fd_.get()) != 0) return write_error(partial_);
    std::error_code error;
    fs::rename(partial_, path_, error);
    if (error) return unavailable("cannot be renamed: " + error.message(), path_.string());
    done_ = true;
    return digest_.hex();
  }
  int64_t bytes() const { return bytes_; }
  const Status& status() const { return status_; }

 private:
  bool flush() {
    digest_.update(buffer_);
    std::string_view rest = buffer_;
    while (!rest.empty() && status_) {
      const ssize_t wrote = ::write(fd_.get(), rest.data(), rest.size());
      if (wrote < 0 && errno != EINTR) status_ = write_error(partial_);
      if (wrote > 0) rest.remove_prefix(static_cast<size_t>(wrote));
    }
    bytes_ += static_cast<int64_t>(buffer_.size());
    buffer_.clear();
    return status_.ok();
  }

  fs::path path_;
  fs::path partial_;
  UniqueFd fd_;
  std::string buffer_;
  Sha256 digest_;
  int64_t bytes_ = 0;
  bool done_ = false;
  Status status_;
};

/// Row numbers by content: of results and scores by their ids, of attempts in their order.
void number_rows(Connection& db) {
  db.script(
      "CREATE TEMP TABLE archive_result (number INTEGER PRIMARY KEY, result_id INTEGER UNIQUE);"
      "INSERT INTO temp.archive_result SELECT row_number() OVER (ORDER BY cell_id, numerics_id,"
      " kind), result_id FROM result ORDER BY 1;"
      "CREATE TEMP TABLE archive_attempt (number INTEGER PRIMARY KEY, attempt_id INTEGER UNIQUE);"
      "INSERT INTO temp.archive_attempt SELECT row_number() OVER (ORDER BY n.number, a.attempt_id),"
      " a.attempt_id FROM attempt a JOIN temp.archive_result n USING (result_id) ORDER BY 1;"
      "CREATE TEMP TABLE archive_score (number INTEGER PRIMARY KEY, score_job_id INTEGER UNIQUE);"
      "INSERT INTO temp.archive_score SELECT row_number() OVER (ORDER BY score_id), score_job_id"
      " FROM score_job ORDER BY 1;");
}

ArchiveValue value_at(const Query& rows, int column, const ArchiveColumn& type) {
  if (rows.null(column) && type.nullable) return {};
  switch (type.type) {
    case ColumnType::text:
      return rows.text(column);
    case ColumnType::integer:
      return rows.integer(column);
    case ColumnType::real:
      return rows.real(column);
    case ColumnType::number:
      break;
  }
  if (rows.holds_integer(column)) return rows.integer(column);
  return rows.real(column);
}

/// Writes the file of a table; none where it has no rows.
Result<std::optional<ArchiveFile>> write_table(Connection& db, const ArchiveTable& table,
                                               bool stripped, const fs::path& folder) {
  ArchiveFile file;
  file.table = &table;
  const bool shorter = stripped && table.select_stripped != nullptr;
  Query rows = db.query(shorter ? table.select_stripped : table.select);
  if (!rows.next()) {
    if (Status status = db.finish(); !status) return status.error();
    std::error_code ignored;  // most often there is none
    fs::remove(folder / file.name(), ignored);
    return std::optional<ArchiveFile>();
  }
  GrowingFile out(folder / file.name());
  ArchiveRow row(table.columns.size());
  do {
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = value_at(rows, static_cast<int>(i), table.columns[i]);
    }
    append_row(out.buffer(), table, row);
    ++file.rows;
    if (!out.flush_if_full()) return out.status().error();
  } while (rows.next());
  if (Status status = db.finish(); !status) return status.error();
  Result<std::string> digest = out.finish();
  if (!digest) return digest.error();
  file.sha256 = *std::move(digest);
  file.bytes = out.bytes();
  QFS_FAILPOINT_HERE("store.after_archive_file");
  return std::optional(std::move(file));
}

}  // namespace

Result<ExportSummary> export_store(const std::string& store, const std::string& folder,
                                   const ExportOptions& options) {
  // Opening it as a reader says whether it is a store, and of this schema.
  const Result<Reader> reader = Reader::open(store, {.foreign = options.foreign});
  if (!reader) return reader.error();
  std::optional<PrivateCopy> copy;
  std::string file = store;
  if (options.foreign) {
    Result<PrivateCopy> copied = copy_to_private_folder(store);
    if (!copied) return copied.error();
    copy = *std::move(copied);
    file = copy->file.string();
  }
  Result<Connection> db = Connection::open(file, OpenMode::read_only, kBusyTimeoutMs);
  if (!db) return db.error();
  db->name_in_errors(store);
  db->run("BEGIN");  // one state of the store, whoever writes it
  number_rows(*db);
  if (Status numbered = db->finish(); !numbered) return numbered.error();

  if (Status made = make_directories(folder); !made) return made.error();
  const fs::path manifest_path = fs::path(folder) / kManifestName;
  std::error_code error;
  fs::remove(manifest_path, error);
  if (error) return unavailable("cannot be replaced: " + error.message(), manifest_path.string());
  ArchiveManifest manifest{.stripped = options.strip_texts, .files = {}};
  ExportSummary summary;
  for (const ArchiveTable& table : archive_tables()) {
    auto written = write_table(*db, table, options.strip_texts, folder);
    if (!written) return written.error();
    if (!*written) continue;
    summary.rows[table.name] = (*written)->rows;
    summary.bytes += (*written)->bytes;
    manifest.files.push_back(**std::move(written));
  }
  if (Status written = write_file(manifest_path.string(), manifest_text(manifest)); !written) {
    return written.error();
  }
  return summary;
}

}  // namespace qfs::store

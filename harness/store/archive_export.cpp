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

/// A file that is written in pieces beside the one that it will replace.
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
    if (!done_ && fd_.valid()) fs::remove(partial_, ignored);
  }
  GrowingFile(GrowingFile&& other) noexcept
      : path_(std::move(other.path_)),
        partial_(std::move(other.partial_)),
        fd_(std::move(other.fd_)),
        buffer_(std::move(other.buffer_)),
        digest_(std::move(other.digest_)),
        bytes_(other.bytes_),
        done_(std::exchange(other.done_, true)),
        status_(std::move(other.status_)) {}
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;
  GrowingFile& operator=(GrowingFile&&) = delete;

  std::string& buffer() { return buffer_; }
  bool flush_if_full() { return buffer_.size() < kBufferBytes || flush(); }

  /// Its digest, when all of it is on the disk.
  Result<std::string> finish() {
    if (!flush()) return status_.error();
    if (::fsync(fd_.get()) != 0) return write_error(partial_);
    return digest_.hex();
  }
  /// Puts it in its place, after `finish`.
  Status publish() {
    std::error_code error;
    fs::rename(partial_, path_, error);
    if (error) return unavailable("cannot be renamed: " + error.message(), path_.string());
    done_ = true;
    return {};
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

/// A table's file, not in its place yet.
struct WrittenTable {
  ArchiveFile file;
  GrowingFile bytes;
};

/// Writes the file of a table; none where it has no rows.
Result<std::optional<WrittenTable>> write_table(Connection& db, const ArchiveTable& table,
                                                bool stripped, const fs::path& folder) {
  ArchiveFile file;
  file.table = &table;
  const bool shorter = stripped && table.select_stripped != nullptr;
  Query rows = db.query(shorter ? table.select_stripped : table.select);
  if (!rows.next()) {
    if (Status status = db.finish(); !status) return status.error();
    return std::optional<WrittenTable>();
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
  return std::optional<WrittenTable>({std::move(file), std::move(out)});
}

/// The archive that is in a folder goes, the new one comes. Killed in between there is none: its
/// manifest comes last.
Status publish(std::vector<WrittenTable>& tables, const ArchiveManifest& manifest,
               const fs::path& folder) {
  const fs::path manifest_path = folder / kManifestName;
  std::error_code error;
  fs::remove(manifest_path, error);
  if (error) return unavailable("cannot be replaced: " + error.message(), manifest_path.string());
  for (const ArchiveTable& table : archive_tables()) {
    ArchiveFile old;
    old.table = &table;
    fs::remove(folder / old.name(), error);  // most often there is none
  }
  for (WrittenTable& table : tables) {
    if (Status published = table.bytes.publish(); !published) return published;
  }
  return write_file(manifest_path.string(), manifest_text(manifest));
}

/// `invalid_argument` for a manifest that is not an archive's, and for an archive without texts
/// that one with texts would replace.
Status check_folder(const std::string& folder, bool strip_texts) {
  const std::string path = (fs::path(folder) / kManifestName).string();
  std::error_code error;
  if (!fs::exists(path, error)) return {};
  const Result<std::string> text = read_file(path, uint64_t{1} << 20);
  if (text && is_archive_manifest(*text)) {
    const Result<ArchiveManifest> there = parse_manifest(*text, path);
    if (strip_texts || !there || !there->stripped) return {};
    return invalid_argument(
        "the archive there was written without texts (--strip-texts): strip them again, or name "
        "another folder",
        path);
  }
  return invalid_argument(
      "the folder has a manifest.json that is no archive's, which would be lost: name another",
      path);
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
  if (Status free = check_folder(folder, options.strip_texts); !free) return free.error();
  ArchiveManifest manifest{.stripped = options.strip_texts, .files = {}};
  std::vector<WrittenTable> tables;
  ExportSummary summary;
  for (const ArchiveTable& table : archive_tables()) {
    auto written = write_table(*db, table, options.strip_texts, folder);
    if (!written) return written.error();
    if (!*written) continue;
    summary.rows[table.name] = (*written)->file.rows;
    summary.bytes += (*written)->file.bytes;
    manifest.files.push_back((*written)->file);
    tables.push_back(**std::move(written));
  }
  if (Status published = publish(tables, manifest, folder); !published) return published.error();
  return summary;
}

}  // namespace qfs::store

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "harness/core/files.h"
#include "harness/core/line_reader.h"
#include "harness/core/sha256.h"
#include "harness/store/archive.h"
#include "harness/store/archive_format.h"
#include "harness/store/private_copy.h"
#include "harness/store/sqlite.h"
#include "harness/store/store.h"

namespace qfs::store {
namespace {

namespace fs = std::filesystem;

/// The file is there, as long as the manifest says, and has its digest.
Status check_file(const fs::path& path, const ArchiveFile& file) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error || !fs::is_regular_file(path, error)) {
    return data_error("the archive has no such file, but its manifest names it", path.string());
  }
  if (size != static_cast<uintmax_t>(file.bytes)) {
    return data_error("the file has " + std::to_string(size) + " bytes; the manifest says " +
                          std::to_string(file.bytes),
                      path.string());
  }
  const Result<std::string> digest = sha256_file(path.string());
  if (!digest) return digest.error();
  if (*digest == file.sha256) return {};
  return data_error("the file is not the one that was exported (sha256 " + digest->substr(0, 12) +
                        "…, the manifest says " + file.sha256.substr(0, 12) + "…)",
                    path.string());
}

struct Finalizer {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

/// Inserts rows of one table.
class Inserter {
 public:
  Inserter(Connection& db, const ArchiveTable& table) : db_(db) {
    std::string columns;
    std::string marks;
    for (const ArchiveColumn& column : table.columns) {
      columns += (columns.empty() ? "\"" : ", \"") + std::string(column.name) + "\"";
      marks += marks.empty() ? "?" : ", ?";
    }
    const std::string sql =
        "INSERT INTO \"" + std::string(table.name) + "\" (" + columns + ") VALUES (" + marks + ")";
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v2(db.handle(), sql.c_str(), -1, &statement, nullptr);
    statement_.reset(statement);
    if (code != SQLITE_OK) db.fail_with_code(code);
  }

  Status insert(const ArchiveRow& row, const std::string& where) {
    sqlite3_stmt* const s = statement_.get();
    for (size_t i = 0; i < row.size() && !db_.failed(); ++i)
      bind(s, static_cast<int>(i) + 1, row[i]);
    if (Status bound = db_.finish(); !bound) return bound;
    const int code = sqlite3_step(s);
    sqlite3_reset(s);
    if (code == SQLITE_DONE) return {};
    if ((code & 0xFF) == SQLITE_CONSTRAINT) {
      return data_error(
          std::string("the row does not fit the others: ") + sqlite3_errmsg(db_.handle()), where);
    }
    db_.fail_with_code(code);
    return db_.finish();
  }

 private:
  void bind(sqlite3_stmt* s, int index, const ArchiveValue& value) {
    int code = SQLITE_OK;
    if (const auto* text = std::get_if<std::string>(&value)) {
      code = sqlite3_bind_text64(s, index, text->data(), text->size(), SQLITE_STATIC, SQLITE_UTF8);
    } else if (const auto* integer = std::get_if<int64_t>(&value)) {
      code = sqlite3_bind_int64(s, index, *integer);
    } else if (const auto* real = std::get_if<double>(&value)) {
      code = sqlite3_bind_double(s, index, *real);
    } else {
      code = sqlite3_bind_null(s, index);
    }
    if (code != SQLITE_OK) db_.fail_with_code(code);
  }

  Connection& db_;
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
};

Status read_table(Connection& db, const fs::path& path, const ArchiveFile& file) {
  if (Status sound = check_file(path, file); !sound) return sound;
  Result<LineReader> lines = LineReader::open(path.string(), kLongestLineBytes);
  if (!lines) return lines.error();
  Inserter inserter(db, *file.table);
  if (Status prepared = db.finish(); !prepared) return prepared;
  std::string line;
  int64_t rows = 0;
  for (;;) {
    const Result<bool> more = lines->next(line);
    if (!more) return more.error();
    if (!*more) break;
    if (++rows > file.rows) break;
    const Result<ArchiveRow> row = parse_row(line, *file.table, lines->where());
    if (!row) return row.error();
    if (Status inserted = inserter.insert(*row, lines->where()); !inserted) return inserted;
  }
  if (rows == file.rows) return {};
  return data_error(
      "the file has not the " + std::to_string(file.rows) + " rows of which the manifest tells",
      path.string());
}

/// A store with everything that is in the archive, in a private folder.
Status build_store(const std::string& path, const fs::path& folder,
                   const ArchiveManifest& manifest) {
  {
    const Result<Store> made = Store::open(path);
    if (!made) return made.error();
  }
  Result<Connection> db = Connection::open(path, OpenMode::read_write, kBusyTimeoutMs);
  if (!db) return db.error();
  db->script("PRAGMA synchronous=OFF; BEGIN IMMEDIATE");
  if (Status begun = db->finish(); !begun) return begun;
  for (const ArchiveFile& file : manifest.files) {
    if (Status read = read_table(*db, folder / file.name(), file); !read) return read;
  }
  db->script("COMMIT");
  return db->finish();
}

}  // namespace

Result<MergeOutcome> import_archive(const std::string& folder, const std::string& store,
                                    const MergeOptions& options) {
  const fs::path manifest_path = fs::path(folder) / kManifestName;
  std::error_code error;
  if (!fs::is_regular_file(manifest_path, error)) {
    return not_found("not an archive: no " + std::string(kManifestName) +
                         " (an export that was stopped has none)",
                     folder);
  }
  const Result<std::string> text = read_file(manifest_path.string(), kLongestManifestBytes);
  if (!text) return text.error();
  const Result<ArchiveManifest> manifest = parse_manifest(*text, manifest_path.string());
  if (!manifest) return manifest.error();
  const Result<TemporaryFolder> place = make_private_folder(folder);
  if (!place) return place.error();
  const std::string path = (place->path() / "archive.sqlite").string();
  if (Status filled = build_store(path, folder, *manifest); !filled) return filled.error();
  Result<MergeOutcome> outcome = merge_store(store, path, options);
  if (outcome || outcome.error().where != path) return outcome;
  Error named = outcome.error();
  named.where = folder;
  return named;
}

}  // namespace qfs::store

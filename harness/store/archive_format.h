// The archive form of a store: one file of JSON lines a table and a manifest with their digests,
// the same bytes for the same content, so that git shows what changed.
//
// Private to harness/store and its fuzz target. Row numbers are not those of a store file but
// counted in the order of ids. Reading is strict: `data` errors name file and line, the column and
// what was expected. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/api/result.h"

namespace qfs::store {

enum class ColumnType { text, integer, real, number };  ///< number: integer or real

struct ArchiveColumn {
  const char* name;
  ColumnType type = ColumnType::text;
  bool nullable = false;
};

struct ArchiveTable {
  const char* name;
  std::span<const ArchiveColumn> columns;
  const char* select;           ///< the rows in the archive's order, with its numbers
  const char* select_stripped;  ///< the same without texts of data sets; null: no difference
};

/// In an order in which no row refers to a later one. The queries need temp.archive_result
/// (number, result_id), temp.archive_attempt (number, attempt_id) and temp.archive_score (number,
/// score_job_id).
std::span<const ArchiveTable> archive_tables();

using ArchiveValue = std::variant<std::monostate, int64_t, double, std::string>;
using ArchiveRow = std::vector<ArchiveValue>;  ///< in the order of the columns

/// A JSON object and a line end, appended.
void append_row(std::string& out, const ArchiveTable& table, const ArchiveRow& row);
/// `where`: "file:line".
Result<ArchiveRow> parse_row(std::string_view line, const ArchiveTable& table,
                             const std::string& where);

/// The longest line of an archive.
inline constexpr size_t kLongestLineBytes = size_t{256} << 20;
inline constexpr size_t kLongestManifestBytes = size_t{1} << 20;
inline constexpr const char* kManifestName = "manifest.json";

struct ArchiveFile {
  const ArchiveTable* table = nullptr;
  int64_t rows = 0;
  int64_t bytes = 0;
  std::string sha256;

  std::string name() const { return std::string(table->name) + ".jsonl"; }
};

struct ArchiveManifest {
  bool stripped = false;           ///< without the texts of data sets
  std::vector<ArchiveFile> files;  ///< those that have rows, in the order of archive_tables()
};

std::string manifest_text(const ArchiveManifest& manifest);
/// Whether a text says that it is one, of whatever version.
bool is_archive_manifest(std::string_view text);
/// `data` for another schema, an unknown file, files out of order, counts that cannot be.
Result<ArchiveManifest> parse_manifest(std::string_view text, const std::string& where);

}  // namespace qfs::store

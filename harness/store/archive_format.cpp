#include "harness/store/archive_format.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "harness/core/json_dom.h"
#include "harness/core/suggest.h"
#include "harness/store/migration_list.h"

namespace qfs::store {
namespace {

using nlohmann::json;

constexpr const char* kSchema = "qfs-bench/archive/1";
constexpr const char* kSchemaName = "qfs-bench/archive/";

const char* expected_type(ColumnType type) {
  switch (type) {
    case ColumnType::text:
      return "a text";
    case ColumnType::integer:
      return "an integer of 64 bits";
    case ColumnType::real:
    case ColumnType::number:
      return "a number";
  }
  return "a value";
}

/// Whether it is no integer that only an unsigned type holds.
bool is_int64(const json& value) {
  return value.is_number_integer() &&
         (!value.is_number_unsigned() || value.get<uint64_t>() <= uint64_t{INT64_MAX});
}

std::optional<ArchiveValue> value_of(const json& value, const ArchiveColumn& column) {
  if (value.is_null() && column.nullable) return ArchiveValue();
  switch (column.type) {
    case ColumnType::text:
      if (value.is_string()) return ArchiveValue(value.get_ref<const std::string&>());
      return std::nullopt;
    case ColumnType::integer:
      if (is_int64(value)) return ArchiveValue(value.get<int64_t>());
      return std::nullopt;
    case ColumnType::number:
      if (is_int64(value)) return ArchiveValue(value.get<int64_t>());
      [[fallthrough]];
    case ColumnType::real:
      if (value.is_number()) return ArchiveValue(value.get<double>());
      return std::nullopt;
  }
  return std::nullopt;
}

Error unknown_column(const json& object, const ArchiveTable& table, const std::string& where) {
  std::vector<std::string> names;
  for (const ArchiveColumn& column : table.columns) names.emplace_back(column.name);
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(names, key) != names.end()) continue;
    return data_error(
        "a row of '" + std::string(table.name) + "' has no '" + key + "'" + suggestion(key, names),
        where);
  }
  return data_error("a row of '" + std::string(table.name) + "' has too many members", where);
}

/// A count of a manifest: a positive integer.
std::optional<int64_t> count_in(const json& file, const char* name) {
  const auto it = file.find(name);
  if (it == file.end() || !is_int64(*it) || it->get<int64_t>() <= 0) return std::nullopt;
  return it->get<int64_t>();
}

bool is_digest(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

Result<ArchiveFile> file_of(const json& entry, const std::string& where) {
  if (!entry.is_object()) return data_error("'files' holds something that is no object", where);
  const std::string name =
      entry.value("name", json()).is_string() ? entry["name"].get<std::string>() : "";
  std::vector<std::string> names;
  ArchiveFile file;
  for (const ArchiveTable& table : archive_tables()) {
    file.table = &table;
    names.push_back(file.name());
    if (names.back() == name) break;
  }
  if (names.back() != name) {
    return data_error("an archive has no file '" + name + "'" + suggestion(name, names), where);
  }
  const auto rows = count_in(entry, "rows");
  const auto bytes = count_in(entry, "bytes");
  const json sha256 = entry.value("sha256", json());
  if (!rows || !bytes || *rows > *bytes || !sha256.is_string() ||
      !is_digest(sha256.get_ref<const std::string&>())) {
    return data_error("the file '" + name + "' needs 'rows', 'bytes' and 'sha256'", where);
  }
  file.rows = *rows;
  file.bytes = *bytes;
  file.sha256 = sha256.get<std::string>();
  return file;
}

}  // namespace

void append_row(std::string& out, const ArchiveTable& table, const ArchiveRow& row) {
  out += '{';
  for (size_t i = 0; i < row.size(); ++i) {
    if (i > 0) out += ',';
    append_json_string(out, table.columns[i].name);
    out += ':';
    if (const auto* text = std::get_if<std::string>(&row[i])) {
      append_json_string(out, *text);
    } else if (const auto* integer = std::get_if<int64_t>(&row[i])) {
      out += std::to_string(*integer);
    } else if (const auto* real = std::get_if<double>(&row[i])) {
      out += json(*real).dump();  // the shortest form that reads back
    } else {
      out += "null";
    }
  }
  out += "}\n";
}

Result<ArchiveRow> parse_row(std::string_view line, const ArchiveTable& table,
                             const std::string& where) {
  const Result<json> object = parse_json(line, where, {.max_depth = 4});
  if (!object) return object.error();
  if (!object->is_object()) return data_error("a row is no JSON object", where);
  ArchiveRow row;
  for (const ArchiveColumn& column : table.columns) {
    const auto member = object->find(column.name);
    auto value = member == object->end() ? std::nullopt : value_of(*member, column);
    if (!value) {
      return data_error("a row of '" + std::string(table.name) + "' needs '" + column.name + "': " +
                            expected_type(column.type) + (column.nullable ? " or null" : ""),
                        where);
    }
    row.push_back(*std::move(value));
  }
  if (object->size() > row.size()) return unknown_column(*object, table, where);
  return row;
}

std::string manifest_text(const ArchiveManifest& manifest) {
  std::string text = std::string("{\"schema\": \"") + kSchema +
                     "\",\n \"store_schema\": " + std::to_string(migration_list().size()) +
                     ",\n \"texts\": " + (manifest.stripped ? "\"stripped\"" : "\"whole\"") +
                     ",\n \"files\": [";
  for (size_t i = 0; i < manifest.files.size(); ++i) {
    const ArchiveFile& file = manifest.files[i];
    text += (i == 0 ? "\n" : ",\n") + std::string("  {\"name\": \"") + file.name() +
            "\", \"rows\": " + std::to_string(file.rows) +
            ", \"bytes\": " + std::to_string(file.bytes) + ", \"sha256\": \"" + file.sha256 + "\"}";
  }
  return text + "]}\n";
}

bool is_archive_manifest(std::string_view text) { return has_schema(text, kSchemaName); }

Result<ArchiveManifest> parse_manifest(std::string_view text, const std::string& where) {
  const Result<json> object =
      parse_json(text, where, {.max_depth = 4, .max_bytes = kLongestManifestBytes});
  if (!object) return object.error();
  if (!object->is_object() || object->value("schema", json()) != kSchema) {
    return data_error(std::string("no manifest of schema ") + kSchema, where);
  }
  const json store_schema = object->value("store_schema", json());
  if (store_schema != migration_list().size()) {
    return data_error("the archive is of store schema " + store_schema.dump() +
                          "; this program reads " + std::to_string(migration_list().size()),
                      where);
  }
  const json texts = object->value("texts", json());
  if (texts != "whole" && texts != "stripped") {
    return data_error("'texts' must be \"whole\" or \"stripped\"", where);
  }
  ArchiveManifest manifest;
  manifest.stripped = texts == "stripped";
  const auto files = object->find("files");
  if (files == object->end() || !files->is_array()) {
    return data_error("the manifest has no list 'files'", where);
  }
  for (const json& entry : *files) {
    Result<ArchiveFile> file = file_of(entry, where);
    if (!file) return file.error();
    if (!manifest.files.empty() && file->table <= manifest.files.back().table) {
      return data_error("the file '" + file->name() + "' is out of order, or there twice", where);
    }
    manifest.files.push_back(*std::move(file));
  }
  return manifest;
}

}  // namespace qfs::store

#include "datasets/readers/record_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "datasets/identity.h"
#include "datasets/json_access.h"
#include "datasets/readers/csv.h"
#include "datasets/readers/field_map.h"
#include "datasets/readers/keyed_examples.h"
#include "datasets/readers/record.h"
#include "datasets/text_forms/text_form.h"
#include "harness/core/files.h"
#include "harness/core/line_reader.h"
#include "harness/core/sha256.h"

namespace qfs::datasets {
namespace {

namespace fs = std::filesystem;

enum class Format { json_lines, json, csv, tsv };

std::optional<Format> format_of(std::string name) {
  for (std::string_view compression : {".gz", ".zst"}) {
    if (name.ends_with(compression)) {
      name.resize(name.size() - compression.size());
      break;
    }
  }
  if (name.ends_with(".jsonl") || name.ends_with(".ndjson")) return Format::json_lines;
  if (name.ends_with(".json")) return Format::json;
  if (name.ends_with(".csv")) return Format::csv;
  if (name.ends_with(".tsv")) return Format::tsv;
  return std::nullopt;
}

/// Turns the records of all files into examples.
class Collector {
 public:
  explicit Collector(const FieldMap& fields) : fields_(fields) {}

  Status add(const nlohmann::json& record, const JsonPlace& place) {
    auto number = static_cast<int64_t>(examples_.size()) + 1;
    Result<Example> example = decode_record(record, fields_, number, place);
    if (!example) return example.error();
    return examples_.add(*std::move(example), place);
  }

  std::vector<Example> take() { return examples_.take(); }

 private:
  const FieldMap& fields_;
  KeyedExamples examples_;
};

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

Status read_json_lines(const std::string& path, Collector& collector) {
  Result<LineReader> lines = LineReader::open(path);
  if (!lines) return lines.error();
  while (true) {
    Result<std::optional<std::string>> line = lines->next();
    if (!line) return line.error();
    if (!line->has_value()) return {};
    if (is_blank(**line)) continue;
    Result<nlohmann::json> record = parse_json_line(**line, lines->where());
    if (!record) return record.error();
    Status added = collector.add(*record, {lines->where(), ""});
    if (!added) return added;
  }
}

/// A list of records; or one record a line, since public sets call both .json.
Status read_json(const std::string& path, Collector& collector) {
  Result<std::string> text = read_decompressed(path);
  if (!text) return text.error();
  const size_t first = text->find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first != std::string::npos && (*text)[first] != '[') {
    Status read = read_json_lines(path, collector);
    if (read) return read;
    Error error = read.error();
    error.message += "; a .json file holds a list of records, or one record a line";
    return error;
  }
  Result<nlohmann::json> root = parse_json(*text, path);
  if (!root) return root.error();
  JsonPlace place{path, ""};
  for (size_t i = 0; i < root->size(); ++i) {
    Status added = collector.add((*root)[i], place / i);
    if (!added) return added;
  }
  return {};
}

using TableParser = Result<CsvTable> (*)(std::string_view, const std::string&);

Status read_table(const std::string& path, TableParser parse, Collector& collector) {
  Result<std::string> text = read_decompressed(path);
  if (!text) return text.error();
  Result<CsvTable> table = parse(*text, path);
  if (!table) return table.error();
  for (CsvRow& row : table->rows) {
    const JsonPlace place{path + ":" + std::to_string(row.line), ""};
    Status added = collector.add(row_object(table->header, std::move(row)), place);
    if (!added) return added;
  }
  return {};
}

Result<std::vector<std::string>> files_at(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return not_found("no file or folder '" + path + "'");
  std::vector<std::string> files;
  if (fs::is_directory(path, error)) {
    for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
      std::string name = it->path().filename().string();
      if (it->is_regular_file(error) && format_of(name)) files.push_back(it->path().string());
    }
    std::ranges::sort(files);
    if (error) return data_error("cannot list the folder: " + error.message(), path);
    if (files.empty()) return not_found("no .jsonl, .json, .csv or .tsv file in the folder", path);
  } else {
    files.push_back(path);
  }
  return files;
}

Status read_file_into(const std::string& path, Collector& collector) {
  std::optional<Format> format = format_of(path);
  if (!format) {
    return invalid_argument(
        "unknown kind of data file; the name must end in .jsonl, .ndjson, .json, .csv or .tsv, "
        "with "
        ".gz or .zst behind when compressed",
        path);
  }
  switch (*format) {
    case Format::json_lines:
      return read_json_lines(path, collector);
    case Format::json:
      return read_json(path, collector);
    case Format::csv:
      return read_table(path, parse_csv, collector);
    case Format::tsv:
      return read_table(
          path, [](std::string_view t, const std::string& p) { return parse_tsv(t, p); },
          collector);
  }
  return internal_error("unhandled format", path);
}

}  // namespace

DatasetInfo record_file_info() {
  return {.name = "file",
          .doc = "records of a JSONL, JSON, CSV or TSV file through a field map",
          .licence = "",
          .splits = {"all"},
          .views = {"whole"},
          .text_forms = {"raw"},
          .bundled = false};
}

Result<Dataset> read_record_files(const DatasetRequest& request) {
  Result<FieldMap> fields = make_field_map(request.fields);
  if (!fields) return fields.error();
  Result<std::vector<std::string>> files = files_at(request.path);
  if (!files) return files.error();

  Dataset dataset;
  dataset.manifest.name = fs::path(request.path).filename().string();
  dataset.manifest.reader = kRecordReader;
  dataset.manifest.split = request.split;
  dataset.manifest.view = request.view;
  dataset.manifest.text_form = find_text_form("raw")->versioned_name();
  dataset.manifest.source = "user's file";
  Collector collector(*fields);
  for (const std::string& path : *files) {
    Result<std::string> digest = sha256_file(path);
    if (!digest) return digest.error();
    std::error_code ignored;
    dataset.manifest.files.push_back({fs::path(path).filename().string(), *digest,
                                      static_cast<int64_t>(fs::file_size(path, ignored))});
    Status read = read_file_into(path, collector);
    if (!read) return read.error();
  }
  dataset.examples = collector.take();
  if (dataset.examples.empty()) return data_error("no record in the data set", request.path);
  Status sealed = seal(dataset, field_names(*fields));
  if (!sealed) return sealed.error();
  return dataset;
}

}  // namespace qfs::datasets

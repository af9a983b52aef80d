#include "harness/cli/imported_predictions.h"

#include <map>
#include <nlohmann/json.hpp>

#include "datasets/predictions/importers/importers.h"
#include "datasets/predictions/prediction_lines.h"
#include "datasets/predictions/suspicious_lines.h"
#include "harness/api/prediction_length.h"
#include "harness/core/json_dom.h"
#include "harness/core/sha256.h"
#include "harness/core/suggest.h"

namespace qfs::cli {
namespace {

using nlohmann::json;

constexpr std::string_view kRecords = "jsonl";
constexpr std::string_view kLines = "lines";

Result<std::map<std::string, std::string>> chosen_fields(const Params& params) {
  std::map<std::string, std::string> fields;
  const auto text = params.find<std::string>("fields");
  if (!text) return fields;
  const Result<json> object = parse_json(*text, "'fields'");
  if (!object || !object->is_object()) return invalid_argument("'fields' is an object of names");
  for (const auto& [name, value] : object->items()) {
    if (!value.is_string()) {
      return invalid_argument("'fields': '" + name + "' is the name of a field, a text");
    }
    fields[name] = value.get<std::string>();
  }
  return fields;
}

Error unknown_form(const std::string& from) {
  std::vector<std::string> names = {std::string(kRecords), std::string(kLines),
                                    std::string(datasets::kLineFileImporter)};
  for (const datasets::Importer& importer : datasets::importers())
    names.emplace_back(importer.name);
  return not_found("'from': no form of prediction files is called '" + from + "'" +
                   suggestion(from, names));
}

bool is_importer(const std::string& from) {
  for (const datasets::Importer& importer : datasets::importers()) {
    if (importer.name == from) return true;
  }
  return false;
}

}  // namespace

Result<plan::ImportedFile> PredictionFiles::read(const std::string& path, const Params& params) {
  const std::string& from = params.get<std::string>("from");
  Result<std::map<std::string, std::string>> fields = chosen_fields(params);
  if (!fields) return fields.error();
  const bool joined = from == datasets::kLineFileImporter;
  plan::ImportedFile file;
  file.path = path;
  file.by_position = joined || from == kLines;
  if (file.by_position && !fields->empty()) {
    return invalid_argument("'fields' is about records; a line file has none");
  }
  if (!file.by_position && from != kRecords && !is_importer(from)) return unknown_form(from);
  Result<std::string> digest = sha256_file(path);
  if (!digest) return digest.error();
  file.sha256 = *std::move(digest);

  datasets::SuspiciousLines suspicious;
  const datasets::PredictionSink sink = [&](datasets::PredictionRecord record) -> Status {
    if (file.by_position) {
      suspicious.look_at(record.prediction.value_or(""),
                         static_cast<int64_t>(file.rows.size()) + 1);
    }
    if (Status sound = check_prediction_length(record.prediction.value_or("")); !sound) {
      return data_error(sound.error().message, record.where);
    }
    file.rows.push_back(
        {std::move(record.id), std::move(record.prediction), std::move(record.where)});
    return {};
  };
  Status read;
  if (file.by_position) {
    read = datasets::read_prediction_line_files(path, {}, sink, joined);
    file.suspicion = suspicious.describe();
  } else if (from == kRecords) {
    Result<datasets::PredictionFields> names = datasets::make_prediction_fields(*fields);
    if (!names) return names.error();
    read = datasets::read_prediction_json_lines(path, *names, sink);
  } else if (auto summary = datasets::import_predictions(from, path, *fields, sink); !summary) {
    read = summary.error();
  }
  if (!read) return read.error();
  return file;
}

}  // namespace qfs::cli

#include "harness/score/reference_records.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "datasets/predictions/prediction_lines.h"
#include "harness/core/sha256.h"

namespace qfs::score {
namespace {

constexpr size_t kDigestDigits = 12;

Example example_of(datasets::PredictionRecord record) {
  Example example;
  example.key = std::move(record.id);
  example.references = std::move(*record.references);
  if (record.document) example.document.push_back({*std::move(record.document), ""});
  example.query = std::move(record.query).value_or("");
  example.group = std::move(record.group);
  example.document_id = std::move(record.cluster);
  example.language = std::move(record.language);
  return example;
}

}  // namespace

Result<ReferenceRecords> read_reference_records(const std::vector<std::string>& paths) {
  // A reference row has no prediction: the constant "" stands for it.
  std::map<std::string, std::string> names = {{"prediction", "="}};
  const Result<datasets::PredictionFields> fields = datasets::make_prediction_fields({}, names);
  if (!fields) return fields.error();
  names["references"] = "output";
  const Result<datasets::PredictionFields> output = datasets::make_prediction_fields({}, names);
  if (!output) return output.error();

  auto dataset = std::make_shared<Dataset>();
  std::unordered_map<std::string, size_t> by_id;
  ReferenceRecords result;
  for (const std::string& path : paths) {
    Result<std::string> digest = sha256_file(path);
    if (!digest) return digest.error();
    if (!result.label.empty()) result.label += "+";
    result.label +=
        std::filesystem::path(path).filename().string() + "#" + digest->substr(0, kDigestDigits);
    Status read = datasets::read_json_records(
        path, [&](nlohmann::json& row, int64_t number, const datasets::JsonPlace& place) -> Status {
          const bool plain = row.is_object() && !row.contains("references");
          Result<datasets::PredictionRecord> record =
              datasets::decode_prediction(row, plain ? *output : *fields, number, place);
          if (!record) return record.error();
          if (record->numbered) {
            return data_error("a row of references has no 'id' to match predictions by",
                              place.to_string());
          }
          if (!record->references || record->references->empty()) {
            return data_error("a row of references has no 'references' and no 'output'",
                              place.to_string());
          }
          const auto [known, fresh] = by_id.emplace(record->id, dataset->examples.size());
          if (fresh) {
            dataset->examples.push_back(example_of(*std::move(record)));
            return {};
          }
          std::vector<std::string>& all = dataset->examples[known->second].references;
          for (std::string& reference : *record->references) all.push_back(std::move(reference));
          return {};
        });
    if (!read) return read.error();
  }
  result.examples = std::move(dataset);
  return result;
}

}  // namespace qfs::score

#include <nlohmann/json.hpp>
#include <utility>

#include "datasets/json_access.h"
#include "datasets/predictions/importers/formats.h"
#include "datasets/predictions/importers/rows.h"
#include "harness/core/line_reader.h"

namespace qfs::datasets {
namespace {

/// The text that the solver ended with; null for a sample that failed.
nlohmann::json completion_of(const nlohmann::json& sample) {
  const nlohmann::json* output = first_field(sample, {"output"});
  if (output == nullptr) return nullptr;
  const nlohmann::json* choices = first_field(*output, {"choices"});
  if (choices != nullptr && choices->is_array() && choices->empty()) return nullptr;
  if (const auto* completion = first_field(*output, {"completion"})) return *completion;
  const nlohmann::json* content = first_field(*output, {"choices.0.message.content"});
  return content == nullptr ? nlohmann::json(nullptr) : message_text(*content);
}

/// Epochs repeat a sample; each repetition is an item of its own.
nlohmann::json id_of(const nlohmann::json& sample) {
  const nlohmann::json* id = first_field(sample, {"id"});
  if (id == nullptr) return nullptr;
  const nlohmann::json* epoch = first_field(sample, {"epoch"});
  const std::string text = id->is_string() ? id->get<std::string>() : id->dump();
  if (epoch == nullptr || !epoch->is_number_integer() || *epoch == 1) return text;
  return text + "/epoch" + epoch->dump();
}

}  // namespace

Status read_inspect_json(const std::string& path, const UserFields& chosen,
                         const PredictionSink& sink) {
  Result<PredictionFields> fields = importer_fields(chosen);
  if (!fields) return fields.error();
  Result<std::string> text = read_decompressed(path);
  if (!text) return text.error();
  Result<nlohmann::json> root = parse_json(*text, path);
  if (!root) return root.error();
  text->clear();
  const JsonPlace place{path, ""};
  Result<const nlohmann::json*> list = list_member(*root, "samples", place);
  if (!list) return list.error();
  nlohmann::json& samples = (*root)["samples"];
  for (size_t i = 0; i < samples.size(); ++i) {
    nlohmann::json& sample = samples[i];
    const JsonPlace at = place / "samples" / i;
    nlohmann::json prediction = completion_of(sample);
    nlohmann::json id = id_of(sample);
    const nlohmann::json* target = first_field(sample, {"target"});
    nlohmann::json references = target == nullptr ? nlohmann::json(nullptr) : *target;
    if (!sample.is_object()) {
      return data_error("a sample must be an object, found " + std::string(describe_type(sample)),
                        at.to_string());
    }
    sample[kFoundPrediction] = std::move(prediction);
    sample[kFoundId] = std::move(id);
    sample[kFoundReferences] = std::move(references);
    Result<PredictionRecord> record =
        decode_prediction(sample, *fields, static_cast<int64_t>(i) + 1, at);
    if (!record) return record.error();
    if (Status status = sink(*std::move(record)); !status) return status;
  }
  return {};
}

}  // namespace qfs::datasets

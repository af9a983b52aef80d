#include <nlohmann/json.hpp>
#include <utility>

#include "datasets/json_access.h"
#include "datasets/predictions/importers/formats.h"
#include "datasets/predictions/importers/rows.h"
#include "harness/core/line_reader.h"

namespace qfs::datasets {
namespace {

/// References tagged "correct"; all of them where none is tagged.
nlohmann::json references_of(const nlohmann::json& instance) {
  const nlohmann::json* list = first_field(instance, {"references"});
  nlohmann::json correct = nlohmann::json::array();
  nlohmann::json all = nlohmann::json::array();
  if (list == nullptr || !list->is_array()) return nullptr;
  for (const nlohmann::json& reference : *list) {
    const nlohmann::json* text = first_field(reference, {"output.text", "output"});
    if (text == nullptr) continue;
    all.push_back(*text);
    const nlohmann::json* tags = first_field(reference, {"tags"});
    if (tags == nullptr || !tags->is_array()) continue;
    for (const nlohmann::json& tag : *tags) {
      if (tag == "correct") {
        correct.push_back(*text);
        break;
      }
    }
  }
  return correct.empty() ? all : correct;
}

/// An instance is asked once a train trial and once a perturbation.
nlohmann::json id_of(const nlohmann::json& state) {
  const nlohmann::json* id = first_field(state, {"instance.id"});
  if (id == nullptr || !id->is_string()) return nullptr;
  std::string text = id->get<std::string>();
  const nlohmann::json* trial = first_field(state, {"train_trial_index"});
  if (trial != nullptr && trial->is_number_integer() && *trial != 0) {
    text += "/trial" + trial->dump();
  }
  const nlohmann::json* perturbation = first_field(state, {"instance.perturbation.name"});
  if (perturbation != nullptr && perturbation->is_string()) {
    text += "/" + perturbation->get<std::string>();
  }
  return text;
}

nlohmann::json completion_of(const nlohmann::json& state) {
  const nlohmann::json* success = first_field(state, {"result.success"});
  if (success != nullptr && *success == false) return nullptr;
  const nlohmann::json* text = first_field(state, {"result.completions.0.text"});
  return text == nullptr ? nlohmann::json(nullptr) : *text;
}

}  // namespace

Status read_helm(const std::string& path, const UserFields& chosen, const PredictionSink& sink) {
  Result<PredictionFields> fields = importer_fields(chosen);
  if (!fields) return fields.error();
  Result<std::string> text = read_decompressed(path);
  if (!text) return text.error();
  Result<nlohmann::json> root = parse_json(*text, path);
  if (!root) return root.error();
  text->clear();
  const JsonPlace place{path, ""};
  Result<const nlohmann::json*> list = list_member(*root, "request_states", place);
  if (!list) return list.error();
  nlohmann::json& states = (*root)["request_states"];
  for (size_t i = 0; i < states.size(); ++i) {
    nlohmann::json& state = states[i];
    const JsonPlace at = place / "request_states" / i;
    const nlohmann::json* instance = first_field(state, {"instance"});
    if (instance == nullptr) {
      return data_error("no 'instance' in a request state", at.to_string());
    }
    nlohmann::json references = references_of(*instance);
    nlohmann::json id = id_of(state);
    nlohmann::json prediction = completion_of(state);
    state[kFoundPrediction] = std::move(prediction);
    state[kFoundId] = std::move(id);
    state[kFoundReferences] = std::move(references);
    Result<PredictionRecord> record =
        decode_prediction(state, *fields, static_cast<int64_t>(i) + 1, at);
    if (!record) return record.error();
    if (Status status = sink(*std::move(record)); !status) return status;
  }
  return {};
}

}  // namespace qfs::datasets

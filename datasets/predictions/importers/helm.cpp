#include <nlohmann/json.hpp>
#include <utility>

#include "datasets/predictions/importers/formats.h"
#include "datasets/predictions/importers/rows.h"

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

Status find_in_state(nlohmann::json& state, const JsonPlace& place) {
  const nlohmann::json* instance = first_field(state, {"instance"});
  if (instance == nullptr) {
    return data_error("no 'instance' in a request state", place.to_string());
  }
  add_found(state, completion_of(state), id_of(state), references_of(*instance));
  return {};
}

}  // namespace

Status read_helm(const std::string& path, const UserFields& chosen, const PredictionSink& sink) {
  return read_json_rows(path, "request_states", chosen, find_in_state, sink);
}

}  // namespace qfs::datasets

#include <nlohmann/json.hpp>
#include <utility>

#include "datasets/predictions/importers/formats.h"
#include "datasets/predictions/importers/rows.h"

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

Status find_in_sample(nlohmann::json& sample, const JsonPlace&) {
  const nlohmann::json* target = first_field(sample, {"target"});
  add_found(sample, completion_of(sample), id_of(sample),
            target == nullptr ? nlohmann::json(nullptr) : *target);
  return {};
}

}  // namespace

Status read_inspect_json(const std::string& path, const UserFields& chosen,
                         const PredictionSink& sink) {
  return read_json_rows(path, "samples", chosen, find_in_sample, sink);
}

}  // namespace qfs::datasets

#include "datasets/predictions/importers/rows.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "datasets/readers/field_map.h"

namespace qfs::datasets {

Result<PredictionFields> importer_fields(const std::map<std::string, std::string>& chosen) {
  std::map<std::string, std::string> all = {{"id", kFoundId},
                                            {"prediction", kFoundPrediction},
                                            {"references", kFoundReferences},
                                            {"document", ""},
                                            {"query", ""},
                                            {"group", ""},
                                            {"cluster", ""},
                                            {"language", ""}};
  for (const auto& [field, name] : chosen) all[field] = name;
  return make_prediction_fields(all);
}

const nlohmann::json* first_field(const nlohmann::json& row,
                                  std::initializer_list<std::string_view> names) {
  for (std::string_view name : names) {
    const nlohmann::json* found = find_field(row, name);
    if (found != nullptr && !found->is_null()) return found;
  }
  return nullptr;
}

nlohmann::json message_text(const nlohmann::json& content) {
  if (content.is_string()) return content;
  if (!content.is_array()) return nullptr;
  std::string text;
  bool some = false;
  for (const nlohmann::json& part : content) {
    const nlohmann::json* piece = first_field(part, {"text"});
    const nlohmann::json* type = first_field(part, {"type"});
    if (piece == nullptr || !piece->is_string()) continue;
    if (type != nullptr && *type != "text" && *type != "output_text") continue;
    text += piece->get_ref<const std::string&>();
    some = true;
  }
  return some ? nlohmann::json(text) : nlohmann::json(nullptr);
}

}  // namespace qfs::datasets

#include "datasets/predictions/importers/rows.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "datasets/readers/field_map.h"
#include "harness/core/line_reader.h"

namespace qfs::datasets {
namespace {

// Reserved names, which no field of a foreign file has.
constexpr const char* kFoundId = "found id";
constexpr const char* kFoundPrediction = "found prediction";
constexpr const char* kFoundReferences = "found references";

}  // namespace

Result<PredictionFields> importer_fields(const std::map<std::string, std::string>& chosen) {
  return make_prediction_fields(chosen, {{"id", kFoundId},
                                         {"prediction", kFoundPrediction},
                                         {"references", kFoundReferences},
                                         {"document", ""},
                                         {"query", ""},
                                         {"group", ""},
                                         {"cluster", ""},
                                         {"language", ""}});
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

void add_found(nlohmann::json& row, nlohmann::json prediction, nlohmann::json id,
               nlohmann::json references) {
  row[kFoundPrediction] = std::move(prediction);
  row[kFoundId] = std::move(id);
  row[kFoundReferences] = std::move(references);
}

Result<PredictionRecord> found_prediction(nlohmann::json& row, const PredictionFields& fields,
                                          int64_t number, const JsonPlace& place) {
  Result<PredictionRecord> record = decode_prediction(row, fields, number, place);
  if (record) return record;
  Error error = record.error();
  for (const char* name : {kFoundPrediction, kFoundId, kFoundReferences}) {
    const std::string reserved = (place / name).to_string();
    // The user's file has no such field: the row is its place.
    if (error.where.starts_with(reserved)) error.where = place.to_string();
  }
  return error;
}

Status read_json_rows(const std::string& path, std::string_view list, const UserFields& chosen,
                      const FindInRow& find, const PredictionSink& sink) {
  Result<PredictionFields> fields = importer_fields(chosen);
  if (!fields) return fields.error();
  Result<std::string> text = read_decompressed(path);
  if (!text) return text.error();
  Result<nlohmann::json> root = parse_json(*text, path);
  if (!root) return root.error();
  text->clear();
  const JsonPlace place{path, ""};
  Result<const nlohmann::json*> listed = list_member(*root, list, place);
  if (!listed) return listed.error();
  nlohmann::json& rows = (*root)[std::string(list)];
  for (size_t i = 0; i < rows.size(); ++i) {
    const JsonPlace at = place / list / i;
    if (!rows[i].is_object()) {
      return data_error("an element of '" + std::string(list) + "' must be an object, found " +
                            std::string(describe_type(rows[i])),
                        at.to_string());
    }
    if (Status found = find(rows[i], at); !found) return found;
    Result<PredictionRecord> record =
        found_prediction(rows[i], *fields, static_cast<int64_t>(i) + 1, at);
    if (!record) return record.error();
    if (Status status = sink(*std::move(record)); !status) return status;
  }
  return {};
}

}  // namespace qfs::datasets

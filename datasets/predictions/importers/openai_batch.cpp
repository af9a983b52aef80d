#include <nlohmann/json.hpp>
#include <utility>

#include "datasets/predictions/importers/formats.h"
#include "datasets/predictions/importers/rows.h"
#include "datasets/predictions/prediction_lines.h"

namespace qfs::datasets {
namespace {

/// Chat completions hold one message; the responses endpoint holds a list of output items.
nlohmann::json text_of(const nlohmann::json& body) {
  if (const auto* content = first_field(body, {"choices.0.message.content"})) {
    return message_text(*content);
  }
  if (const auto* text = first_field(body, {"choices.0.text"})) return *text;
  const nlohmann::json* output = first_field(body, {"output"});
  if (output == nullptr || !output->is_array()) return nullptr;
  for (const nlohmann::json& item : *output) {
    const nlohmann::json* type = first_field(item, {"type"});
    const nlohmann::json* content = first_field(item, {"content"});
    if (type != nullptr && *type == "message" && content != nullptr) return message_text(*content);
  }
  return nullptr;
}

}  // namespace

// Lines come in any order, so that only custom_id says what was asked; a failed request is a row
// without a body and counts as a missing prediction.
Status read_openai_batch(const std::string& path, const UserFields& chosen,
                         const PredictionSink& sink) {
  Result<PredictionFields> fields = importer_fields(chosen);
  if (!fields) return fields.error();
  return read_json_records(
      path, [&](nlohmann::json& row, int64_t number, const JsonPlace& place) -> Status {
        const nlohmann::json* id = first_field(row, {"custom_id"});
        if (id == nullptr) {
          return data_error(
              "no 'custom_id': this is no output file of a batch; fields: " + list_fields(row),
              place.to_string());
        }
        const nlohmann::json* status = first_field(row, {"response.status_code"});
        const nlohmann::json* body = first_field(row, {"response.body"});
        const bool failed = first_field(row, {"error"}) != nullptr || body == nullptr ||
                            (status != nullptr && *status != 200);
        add_found(row, failed ? nlohmann::json(nullptr) : text_of(*body), *id, nullptr);
        Result<PredictionRecord> record = found_prediction(row, *fields, number, place);
        return record ? sink(*std::move(record)) : Status(record.error());
      });
}

}  // namespace qfs::datasets

#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "datasets/predictions/importers/formats.h"
#include "datasets/predictions/importers/rows.h"
#include "datasets/predictions/prediction_lines.h"
#include "harness/core/sha256.h"

namespace qfs::datasets {

// Rows have no id, and pred.py appends to its file: after a second run every example is there
// twice. An example is recognised by its answers and its length.
Status read_longbench(const std::string& path, const UserFields& chosen,
                      const PredictionSink& sink) {
  Result<PredictionFields> fields = importer_fields(chosen);
  if (!fields) return fields.error();
  std::unordered_map<std::string, int64_t> first_rows;  // digest of answers and length -> row
  return read_json_records(
      path, [&](nlohmann::json& row, int64_t number, const JsonPlace& place) -> Status {
        const nlohmann::json* prediction = first_field(row, {"pred"});
        const nlohmann::json* answers = first_field(row, {"answers"});
        if (answers == nullptr || (prediction == nullptr && !row.contains("pred"))) {
          return data_error(
              "no 'pred' and 'answers': this is no prediction file of LongBench; "
              "fields: " +
                  list_fields(row),
              place.to_string());
        }
        const nlohmann::json* id = first_field(row, {"_id"});
        nlohmann::json key = id == nullptr ? nlohmann::json(nullptr) : *id;
        if (id == nullptr) {
          const nlohmann::json* length = first_field(row, {"length"});
          const std::string digest =
              sha256_hex(answers->dump() + (length == nullptr ? "" : length->dump()));
          key = std::to_string(first_rows.emplace(digest, number).first->second);
        }
        add_found(row, prediction == nullptr ? nlohmann::json(nullptr) : *prediction,
                  std::move(key), *answers);
        Result<PredictionRecord> record = found_prediction(row, *fields, number, place);
        return record ? sink(*std::move(record)) : Status(record.error());
      });
}

}  // namespace qfs::datasets

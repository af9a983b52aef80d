#include "datasets/predictions/score_records.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "datasets/predictions/prediction_lines.h"
#include "harness/core/suggest.h"

namespace qfs::datasets {
namespace {

const std::vector<std::string>& known_fields() {
  static const std::vector<std::string> fields = {"id",     "metric", "value",  "values",
                                                  "system", "group",  "cluster"};
  return fields;
}

bool is_name(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_.+-").find(c) != std::string_view::npos;
  });
}

Result<double> number_of(const nlohmann::json& value, const JsonPlace& place) {
  if (!value.is_number() || !std::isfinite(value.get<double>())) {
    return data_error("a score must be a finite number, found " + std::string(describe_type(value)),
                      place.to_string());
  }
  return value.get<double>();
}

/// Text, or a whole number; absent: empty.
Result<std::string> identifier(const nlohmann::json& record, const char* field,
                               const JsonPlace& place) {
  const auto found = record.find(field);
  if (found == record.end()) return std::string();
  if (found->is_number_integer()) return found->dump();
  if (!found->is_string() || found->get_ref<const std::string&>().empty()) {
    return data_error(
        std::string(field) + " must be text or a whole number, found " +
            (found->is_string() ? "an empty text" : std::string(describe_type(*found))),
        (place / field).to_string());
  }
  return found->get<std::string>();
}

Status read_values(const nlohmann::json& record, const JsonPlace& place, ScoreRecord& result) {
  const auto single = record.find("value");
  const auto several = record.find("values");
  if ((single == record.end()) == (several == record.end())) {
    return data_error("a score record has either 'value' or 'values'", place.to_string());
  }
  if (single != record.end()) {
    const Result<double> value = number_of(*single, place / "value");
    if (!value) return value.error();
    result.values[result.metric] = *value;
    return {};
  }
  if (!several->is_object() || several->empty()) {
    return data_error("'values' must be an object of numbers", (place / "values").to_string());
  }
  for (const auto& [key, member] : several->items()) {
    const JsonPlace at = place / "values" / key;
    if (!is_name(key)) {
      return data_error("'" + key + "' cannot name a value: letters, digits, '_', '.', '+', '-'",
                        at.to_string());
    }
    const Result<double> value = number_of(member, at);
    if (!value) return value.error();
    result.values[result.metric + "." + key] = *value;
  }
  return {};
}

Result<ScoreRecord> decode(const nlohmann::json& record, const JsonPlace& place) {
  if (!record.is_object()) {
    return data_error("a score must be an object, found " + std::string(describe_type(record)),
                      place.to_string());
  }
  for (const auto& [name, member] : record.items()) {
    if (std::ranges::find(known_fields(), name) != known_fields().end()) continue;
    return data_error("unknown field '" + name + "' of a score" + suggestion(name, known_fields()),
                      place.to_string());
  }
  ScoreRecord result;
  result.where = place.to_string();
  const std::pair<const char*, std::string*> texts[] = {{"id", &result.id},
                                                        {"metric", &result.metric},
                                                        {"system", &result.system},
                                                        {"group", &result.group},
                                                        {"cluster", &result.cluster}};
  for (const auto& [field, text] : texts) {
    Result<std::string> value = identifier(record, field, place);
    if (!value) return value.error();
    *text = *std::move(value);
  }
  if (result.id.empty()) return data_error("missing field 'id'", place.to_string());
  if (!is_name(result.metric)) {
    return data_error(
        result.metric.empty()
            ? "missing field 'metric'"
            : "'" + result.metric + "' cannot name a metric: letters, digits, '_', '.', '+', '-'",
        place.to_string());
  }
  if (Status status = read_values(record, place, result); !status) return status.error();
  return result;
}

}  // namespace

Status read_score_records(const std::string& path, const ScoreRecordSink& sink) {
  return read_json_records(path,
                           [&](nlohmann::json& value, int64_t, const JsonPlace& place) -> Status {
                             Result<ScoreRecord> record = decode(value, place);
                             if (!record) return record.error();
                             return sink(*std::move(record));
                           });
}

}  // namespace qfs::datasets

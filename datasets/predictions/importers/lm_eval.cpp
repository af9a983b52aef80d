#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "datasets/predictions/importers/formats.h"
#include "datasets/predictions/importers/rows.h"
#include "datasets/predictions/prediction_lines.h"

namespace qfs::datasets {
namespace {

/// filtered_resps is a list of responses, or of lists of them where a task repeats generation.
/// `others`: how many of those are behind the first.
const nlohmann::json* first_text(const nlohmann::json& responses, int64_t& others) {
  const nlohmann::json* value = &responses;
  while (value->is_array() && !value->empty()) {
    others += static_cast<int64_t>(value->size()) - 1;
    value = &value->front();
  }
  return value->is_string() ? value : nullptr;
}

/// One file holds every filter of the task; mixing them would score an example several times.
/// `seen`: the filters so far, to which the row's is added.
Status check_filter(const nlohmann::json& row, std::string& chosen, bool by_user,
                    const JsonPlace& place, std::set<std::string>& seen, bool& wanted) {
  const nlohmann::json* filter = first_field(row, {"filter"});
  wanted = true;
  if (filter == nullptr || !filter->is_string()) return {};
  const auto& name = filter->get_ref<const std::string&>();
  seen.insert(name);
  if (chosen.empty()) chosen = name;
  if (name == chosen) return {};
  if (!by_user) {
    return data_error("the file holds the filters '" + chosen + "' and '" + name +
                          "'; choose one with --fields filter=" + chosen,
                      place.to_string());
  }
  wanted = false;
  return {};
}

}  // namespace

Status read_lm_eval(const std::string& path, const std::map<std::string, std::string>& chosen,
                    const PredictionSink& sink) {
  std::map<std::string, std::string> own = chosen;
  std::string filter;
  if (const auto found = own.find("filter"); found != own.end()) {
    filter = found->second;
    own.erase(found);
  }
  const bool by_user = !filter.empty();
  Result<PredictionFields> fields = importer_fields(own);
  if (!fields) return fields.error();
  std::set<std::string> filters;
  Status read = read_json_records(
      path, [&](nlohmann::json& row, int64_t number, const JsonPlace& place) -> Status {
        bool wanted = false;
        if (Status status = check_filter(row, filter, by_user, place, filters, wanted); !status) {
          return status;
        }
        if (!wanted) return {};
        const nlohmann::json* responses = first_field(row, {"filtered_resps", "resps"});
        if (responses == nullptr) {
          return data_error(
              "no 'filtered_resps': this is no sample file of lm-eval (--log_samples); fields: " +
                  list_fields(row),
              place.to_string());
        }
        int64_t others = 0;
        const nlohmann::json* text = first_text(*responses, others);
        if (text == nullptr) {
          return data_error(
              "the response is not text; tasks that only compare likelihoods have "
              "no prediction to score",
              (place / "filtered_resps").to_string());
        }
        const nlohmann::json* id = first_field(row, {"doc_id"});
        const nlohmann::json* target = first_field(row, {"target"});
        add_found(row, *text, id == nullptr ? nlohmann::json(nullptr) : *id,
                  target == nullptr ? nlohmann::json(nullptr) : *target);
        Result<PredictionRecord> record = found_prediction(row, *fields, number, place);
        if (!record) return record.error();
        record->other_predictions = others;
        return sink(*std::move(record));
      });
  if (!read) return read;
  if (by_user && !filters.contains(filter)) {
    return not_found(
        fmt::format("{} has no filter '{}'; it has: {}", path, filter, fmt::join(filters, ", ")));
  }
  return {};
}

}  // namespace qfs::datasets

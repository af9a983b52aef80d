#include "reports/example_scores.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/core/json_dom.h"

namespace qfs::reports {

using nlohmann::json;

Result<std::map<int64_t, json>> example_scores(store::Reader& reader, const PlaceFacts& place) {
  std::map<std::string, int> uses;
  for (const store::ScoreJobRow& job : place.scores) ++uses[job.metric];
  std::map<int64_t, json> scores;
  for (const store::ScoreJobRow& job : place.scores) {
    const std::string& name = uses[job.metric] == 1 ? job.metric : job.signature;
    const Result<std::vector<store::StatisticRow>> rows = reader.statistics(job.id);
    if (!rows) return rows.error();
    for (const store::StatisticRow& row : *rows) {
      json& values = scores[row.ordinal][name];
      for (size_t i = 0; i < job.columns.size(); ++i) values[job.columns[i]] = row.values[i];
    }
  }
  return scores;
}

uint64_t shown_seed(const PlaceFacts& place) {
  uint64_t seed = place.cell.seed;
  const std::string& text = place.dimensions.at("seed");
  std::from_chars(text.data(), text.data() + text.size(), seed);
  return seed;
}

Result<json> shown_params(const PlaceFacts& place) {
  Result<json> params = parse_json(place.place.params.text, "parameters of a cell");
  if (params) params->erase(store::kShownSeed);
  return params;
}

}  // namespace qfs::reports

#include "reports/example_lines.h"

#include <charconv>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/core/json_dom.h"

namespace qfs::reports {
namespace {

using nlohmann::json;

/// The scores of a place by ordinal: metric -> column -> value. Several jobs of one metric (other
/// options, another chain) are told apart by their signatures.
Result<std::map<int64_t, json>> scores_of(store::Reader& reader, const PlaceFacts& place) {
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

/// All seeds that the result of a place stands for in the run.
std::vector<uint64_t> shown_seeds(const SweepFacts& facts, const PlaceFacts& place) {
  std::vector<uint64_t> seeds;
  for (const PlaceFacts& other : facts.places) {
    if (other.predict && other.predict->id == place.predict->id) seeds.push_back(shown_seed(other));
  }
  return seeds;
}

/// What all lines of a place have in common.
Result<json> head_of(const SweepFacts& facts, const PlaceFacts& place) {
  Result<json> params = parse_json(place.place.params.text, "parameters of a cell");
  if (!params) return params.error();
  params->erase(store::kShownSeed);
  json head = {{"cell_id", place.cell.id.hex()},
               {"numerics_id", place.predict->key.numerics.hex()},
               {"method", place.dimensions.at("method")},
               {"dataset", place.dimensions.at("dataset")},
               {"seed", shown_seed(place)},
               {"params", *std::move(params)}};
  const std::vector<uint64_t> seeds = shown_seeds(facts, place);
  if (seeds.size() > 1) head["shown_seeds"] = seeds;
  return head;
}

}  // namespace

Result<ExampleLines> example_lines(store::Reader& reader, const SweepFacts& facts,
                                   const std::vector<const PlaceFacts*>& places) {
  ExampleLines lines;
  for (const PlaceFacts* place : places) {
    if (place->scores.empty()) {
      ++lines.unscored;
      continue;
    }
    const Result<std::map<int64_t, json>> scores = scores_of(reader, *place);
    if (!scores) return scores.error();
    const Result<json> head = head_of(facts, *place);
    if (!head) return head.error();
    const Result<std::vector<store::ExampleRow>> examples = reader.examples(place->cell.dataset);
    if (!examples) return examples.error();
    for (const store::ExampleRow& example : *examples) {
      const auto own = scores->find(example.ordinal);
      if (own == scores->end()) continue;
      json line = *head;
      line["example"] = example.key;
      line["ordinal"] = example.ordinal;
      line["cluster"] = example.document_id;
      line["scores"] = own->second;
      lines.text += line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
    }
  }
  if (lines.unscored < places.size()) return lines;
  return not_found("no cell of the run has scores; 'qfs-bench score --store FILE' makes them");
}

}  // namespace qfs::reports

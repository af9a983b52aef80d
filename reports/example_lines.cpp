#include "reports/example_lines.h"

#include <map>
#include <nlohmann/json.hpp>

#include "reports/example_scores.h"

namespace qfs::reports {
namespace {

using nlohmann::json;

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
  Result<json> params = shown_params(place);
  if (!params) return params.error();
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
    const Result<std::map<int64_t, json>> scores = example_scores(reader, *place);
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

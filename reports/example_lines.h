// Scores of a stored run example by example, as JSON lines: what `report --per-example` writes.
//
// One line an example of a cell: cell_id, numerics_id, method, dataset, seed, params, example (its
// key), ordinal, cluster, and scores: metric -> column -> value, in full digits. A result that is
// shown for several seeds has one line, with shown_seeds. Reads only.
// Errors: `not_found` when none of the places has a score, `store` for the file.
#pragma once

#include <string>
#include <vector>

#include "harness/api/result.h"
#include "harness/store/reader.h"
#include "reports/sweep_facts.h"

namespace qfs::reports {

struct ExampleLines {
  std::string text;
  size_t unscored = 0;  ///< places without a score, which have no line
};

/// `places` of `facts`.
Result<ExampleLines> example_lines(store::Reader& reader, const SweepFacts& facts,
                                   const std::vector<const PlaceFacts*>& places);

}  // namespace qfs::reports

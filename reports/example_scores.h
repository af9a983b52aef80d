// What rows of examples and of scores share, whatever file they go to (example_lines.h,
// flat_tables.h). Reads only; errors are those of the store. Not thread-safe, as a Reader.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>

#include "harness/api/result.h"
#include "harness/store/reader.h"
#include "reports/sweep_facts.h"

namespace qfs::reports {

/// The scores of a place by ordinal: metric -> column -> value. Several jobs of one metric (other
/// options, another chain) are told apart by their signatures.
Result<std::map<int64_t, nlohmann::json>> example_scores(store::Reader& reader,
                                                         const PlaceFacts& place);

/// The seed that the sweep shows at a place, which may use the result of another.
uint64_t shown_seed(const PlaceFacts& place);

/// The parameters of a place as they are stored: reals are texts.
Result<nlohmann::json> shown_params(const PlaceFacts& place);

}  // namespace qfs::reports

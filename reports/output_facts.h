// What methods say beside each output (Prediction::extra): numbers of their own, and of servers how
// long answers took and what they cost.
//
// Used by PlaceEvaluator. Pure; thread-safe; facts of a stranger's store that cannot be read are as
// if they were not there.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "harness/api/json.h"
#include "harness/store/rows.h"

namespace qfs::reports {

/// A number that an output says.
struct SaidNumber {
  int64_t ordinal = 0;
  double value = 0;
};
/// Those of this name ("compression.achieved_ratio") among the outputs' facts or those of the run.
std::vector<SaidNumber> said_numbers(std::span<const store::OutputRow> outputs,
                                     const std::string& name);

/// What an output warns of, as trainings do (training_warnings.h): the words of each.
std::set<std::string> warnings_of(const store::OutputRow& output);

/// Milliseconds from request to answer, ascending; of the outputs that say it.
std::vector<int64_t> served_latencies_ms(std::span<const store::OutputRow> outputs);

/// The smallest value that at least `percent` of 100 are not above (nearest rank); `sorted` holds
/// one or more.
int64_t percentile(std::span<const int64_t> sorted, int percent);

/// Prices a million tokens.
struct Prices {
  double in = 0;
  double cached = 0;  ///< of the prompt's tokens that the server had already
  double out = 0;
};

/// `price_in`, `price_cached` and `price_out` of a cell's parameters; std::nullopt without the
/// first or the last.
std::optional<Prices> prices_in(const Json& params);

/// What the outputs cost; std::nullopt unless all of them but refusals say their tokens.
std::optional<double> served_cost(std::span<const store::OutputRow> outputs, const Prices& prices);

}  // namespace qfs::reports

// Policy: what a gate asks for: a margin in points a metric, bands for speed and memory as ratios
// of the baseline's, absolute limits, the chance of a false alarm, the fewest examples.
//
// Read from a JSON file (experiments/schema/gate.schema.json) by `gate`, which adds the options of
// its command line. Plain data; the functions are thread-safe. Errors name file and JSON pointer
// and the nearest key.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"
#include "harness/compare/comparison.h"

namespace qfs::gate {

/// A ratio of the candidate's median to the baseline's: at least, or at most.
struct Band {
  std::string value;  ///< as in tables: "tokens_per_second", "peak_memory"
  double ratio = 1;
  int64_t minimum_repetitions = 3;  ///< fewer decide nothing
};

/// What the candidate must reach by itself, in the unit that tables show (points, MiB, tokens/s).
struct Limit {
  /// "rougeL.f" (of every metric that the sweeps declare, else of all that have the column),
  /// "rouge/rougeL.f", or what a band may be about.
  std::string value;
  double bound = 0;
  bool at_least = true;
};

struct Policy {
  compare::Request request;  ///< margins, directions, pairing, level, fewest examples, noise
  std::vector<Band> bands;
  std::vector<Limit> limits;
  std::vector<double> power_at = {1, 2, 4};  ///< points: drops whose chance to be found is said
  std::string filter;                        ///< cells of both sides, as --filter
  int64_t repeats = 1;                       ///< runs (seeds) of a cell that are averaged
};

/// What a gate takes care of by itself: the numerics' noise, scores that did not change.
Policy default_policy();

Result<Policy> decode_policy(std::string_view text, const std::string& path);
Result<Policy> load_policy(const std::string& path);

/// Whether `value` is measured (speed or memory) and less of it is better.
bool is_measured(std::string_view value);
bool less_is_better(std::string_view measured);
/// Whether it says something about the machine rather than about the program: all but memory.
bool is_time(std::string_view measured);
/// Tables show a measured value times this: memory in MiB.
double measured_scale(std::string_view measured);

/// "rougeL.f=20pt", "peak_memory=600MiB", "tokens_per_second=50"; `option` is for messages.
Result<Limit> parse_limit(std::string_view text, std::string_view option, bool at_least);

}  // namespace qfs::gate

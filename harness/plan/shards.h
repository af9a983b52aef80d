// Shards: a plan cut into parts that machines run without talking to each other, of about equal
// time by the cost estimate (longest processing time first).
//
// Used by `plan --shards` and `worker`. What must not be torn apart stays together: a training that
// is not done with the cells that wait for it, cells of one id, and cells of which one that runs
// out of memory implies the others. Pure functions of the plan, the
// costs and the number; thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"
#include "harness/plan/plan.h"

namespace qfs::plan {

/// Seconds that are left of each cell and training of a plan; none where nothing is left.
struct RemainingSeconds {
  std::vector<std::optional<double>> cells;
  std::vector<std::optional<double>> trainings;
};

/// Everything, by the estimate.
RemainingSeconds all_seconds(const Plan& plan);

/// Indices into Plan::cells and Plan::trainings, ascending.
struct Shard {
  std::vector<size_t> cells;
  std::vector<size_t> trainings;  ///< those that its cells wait for
  double seconds = 0;
};

/// At most `count` shards, none of them empty; without what is done.
std::vector<Shard> cut_shards(const Plan& plan, const RemainingSeconds& left, size_t count);

/// "2/8": the second of eight.
struct ShardNumber {
  size_t index = 0;  ///< from 0
  size_t count = 1;
};
inline constexpr size_t kMostShards = 100'000;
Result<ShardNumber> parse_shard_number(std::string_view text);

/// What a worker of each shard runs, by ids, as JSON with a cell a line.
std::string shard_manifest(const Plan& plan, const std::vector<Shard>& shards);

/// Whether a text says that it is one, of whatever version.
bool is_shard_manifest(std::string_view text);
/// One shard of a manifest, in the plan that a worker has made. `invalid_argument` where the plan
/// is another than the manifest's: other data, other options, another version of a method.
Result<Shard> shard_in_manifest(std::string_view text, const std::string& source, const Plan& plan,
                                const ShardNumber& number);

}  // namespace qfs::plan

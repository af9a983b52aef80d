// The options that `compare` and `gate` share: margins by column, and which values are better.
// Not thread-safe. Errors name the option.
#pragma once

#include <string>
#include <vector>

#include "harness/api/result.h"
#include "harness/compare/comparison.h"
#include "harness/gate/policy.h"

namespace CLI {
class App;
}

namespace qfs::cli {

struct MarginOptions {
  std::vector<std::string> max_drops;  ///< "rougeL.f=1pt"
  std::vector<std::string> non_inferior;
  std::vector<std::string> better;  ///< "align=higher"
};

void add_margin_options(CLI::App& command, MarginOptions& options);

/// What the options say, added to `request`.
Status add_margins(const MarginOptions& options, compare::Request& request);

/// The policy file at `path` (empty: none) with the options' margins in the place of its own.
Result<gate::Policy> policy_with(const std::string& path, const MarginOptions& options);

}  // namespace qfs::cli

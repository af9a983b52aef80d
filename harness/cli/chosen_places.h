// Which cells of a stored sweep a command line means: by the beginning of an id and by conditions
// such as "method=lead,local_context=256". Used by the subcommands that look at cells. Stateless;
// errors name the key or list the cells that match.
#pragma once

#include <string>
#include <vector>

#include "harness/api/result.h"
#include "reports/sweep_facts.h"

namespace qfs::cli {

/// The cells that match, in the sweep's order; at least one. `filter` may be empty. Errors:
/// `not_found` for a key that no cell has and when none matches.
Result<std::vector<const reports::PlaceFacts*>> matching_places(const reports::SweepFacts& facts,
                                                                const std::string& id_prefix,
                                                                const std::string& filter);

/// "N cells match": the error of a command that needs one, with the first of them.
Error several_places(const std::vector<const reports::PlaceFacts*>& places);

}  // namespace qfs::cli

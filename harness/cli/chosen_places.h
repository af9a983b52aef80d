// Which run of a store and which of its cells a command line means: by number, name or id, by the
// beginning of a cell's id, and by conditions such as "method=lead|bm25,local_context=256". Used by
// the subcommands that look at cells. Stateless; errors name the key or list the cells that match.
#pragma once

#include <string>
#include <vector>

#include "harness/api/result.h"
#include "reports/sweep_facts.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace qfs::cli {

/// Adds --run; `run` is what reports::find_sweep takes.
CLI::Option* add_run_option(CLI::App& command, std::string& run);
/// Adds --filter, repeatable: all conditions together.
void add_filter_option(CLI::App& command, std::vector<std::string>& filters);
/// The conditions of all --filter options, as matching_places takes them.
std::string joined_filter(const std::vector<std::string>& filters);

/// Positions in the sweep's order of the places that match; at least one. `filter` may be empty.
/// `absent` and errors: as of plan::matching_cells.
Result<std::vector<size_t>> matching_positions(
    const reports::SweepFacts& facts, const std::string& filter,
    std::vector<plan::FilterCondition>* absent = nullptr);

/// The cells that match and whose id begins so; one that is shown for several seeds comes once.
/// Errors as above.
Result<std::vector<const reports::PlaceFacts*>> matching_places(const reports::SweepFacts& facts,
                                                                const std::string& id_prefix,
                                                                const std::string& filter);

/// Dimensions by other programs' names ("no_repeat_ngram_size") become those of the cells;
/// `invalid_argument` for a name that means something else.
Status use_own_names(std::vector<std::string>& names, const reports::SweepFacts& facts);

/// "N cells match": the error of a command that needs one, with the first of them.
Error several_places(const std::vector<const reports::PlaceFacts*>& places);

}  // namespace qfs::cli

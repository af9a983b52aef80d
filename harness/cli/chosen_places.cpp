#include "harness/cli/chosen_places.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <set>

#include "harness/cli/commands.h"
#include "methods/families.h"

namespace qfs::cli {
namespace {

compare::Cells cells_of(const reports::SweepFacts& facts) {
  compare::Cells cells;
  for (const reports::PlaceFacts& place : facts.places) cells.push_back(&place);
  return cells;
}

/// An error about cells, which are those of one run.
Error of_run(Error error, const reports::SweepFacts& facts) {
  if (facts.runs > 1) {
    error.message += fmt::format(
        "; this is one of the store's {} runs: --run takes another, 'qfs-bench list runs' shows "
        "them",
        facts.runs);
  }
  return error;
}

}  // namespace

CLI::Option* add_run_option(CLI::App& command, std::string& run) {
  return command
      .add_option("--run,--sweep", run,
                  "Which run of the store: a number of `list runs`, latest, a sweep's name or the "
                  "beginning of its id (default: the latest)")
      ->type_name("RUN");
}

void add_filter_option(CLI::App& command, std::vector<std::string>& filters) {
  repeatable(command.add_option(
                 "--filter", filters,
                 "Only cells that match, e.g. 'method=lead|bm25,local_context=512'; repeatable"))
      ->type_name("KEY=VALUE|VALUE,...");
}

std::string joined_filter(const std::vector<std::string>& filters) {
  return fmt::format("{}", fmt::join(filters, ","));
}

Result<std::vector<size_t>> matching_positions(const reports::SweepFacts& facts,
                                               const std::string& filter,
                                               std::vector<plan::FilterCondition>* absent) {
  auto found = compare::matching_cells(cells_of(facts), filter, methods::foreign_names(), absent);
  if (!found) return of_run(found.error(), facts);
  return found;
}

Result<std::vector<const reports::PlaceFacts*>> matching_places(const reports::SweepFacts& facts,
                                                                const std::string& id_prefix,
                                                                const std::string& filter) {
  const compare::Cells cells = cells_of(facts);
  const Result<std::vector<size_t>> selected =
      compare::select_cells(cells, id_prefix, filter, methods::foreign_names());
  if (!selected) return of_run(selected.error(), facts);
  if (selected->empty()) {
    return not_found("no cell of sweep '" + facts.sweep.name + "' has an id that begins with '" +
                     id_prefix + "'; 'qfs-bench list cells' shows them");
  }
  std::vector<const reports::PlaceFacts*> found;
  for (size_t i : *selected) found.push_back(&facts.places[i]);
  return found;
}

Status use_own_names(std::vector<std::string>& names, const reports::SweepFacts& facts) {
  std::set<std::string> known;
  for (const reports::PlaceFacts& place : facts.places) {
    for (const auto& [name, value] : place.dimensions) known.insert(name);
  }
  const std::vector<std::string> list(known.begin(), known.end());
  for (std::string& name : names) {
    Result<std::string> own = methods::foreign_names().own_name(list, name);
    if (!own) return own.error();
    name = *std::move(own);
  }
  return {};
}

Error several_places(const std::vector<const reports::PlaceFacts*>& places) {
  return compare::several_cells(compare::Cells(places.begin(), places.end()));
}

}  // namespace qfs::cli

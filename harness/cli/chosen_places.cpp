#include "harness/cli/chosen_places.h"

namespace qfs::cli {

Result<std::vector<const reports::PlaceFacts*>> matching_places(const reports::SweepFacts& facts,
                                                                const std::string& id_prefix,
                                                                const std::string& filter) {
  compare::Cells cells;
  for (const reports::PlaceFacts& place : facts.places) cells.push_back(&place);
  const Result<std::vector<size_t>> selected = compare::select_cells(cells, id_prefix, filter);
  if (!selected) return selected.error();
  if (selected->empty()) {
    return not_found("no cell of sweep '" + facts.sweep.name +
                     "' matches; 'qfs-bench list cells' shows them");
  }
  std::vector<const reports::PlaceFacts*> found;
  for (size_t i : *selected) found.push_back(&facts.places[i]);
  return found;
}

Error several_places(const std::vector<const reports::PlaceFacts*>& places) {
  return compare::several_cells(compare::Cells(places.begin(), places.end()));
}

}  // namespace qfs::cli

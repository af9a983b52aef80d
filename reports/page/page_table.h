// The table of a page as it is printed, and which places of the sweep its cells show. Called by
// make_page. Private to reports/page. Pure; thread-safe.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "reports/sweep_facts.h"
#include "reports/table.h"

namespace qfs::reports {

/// For each place the scores that the table shows of it: index of a value -> score id.
using ShownScores = std::vector<std::map<size_t, ScoreId>>;

ShownScores shown_scores(const Table& table, const std::vector<const PlaceFacts*>& places);

/// Axes, grids with their headings, and cells as they are printed, each with its places.
nlohmann::json table_json(const Table& table, const std::vector<const PlaceFacts*>& places);

}  // namespace qfs::reports

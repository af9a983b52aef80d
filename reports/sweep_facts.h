// SweepFacts: what a store says about one sweep, read once: its places (cells with their
// dimensions), the results it uses, their scores, and its data sets.
//
// Used by the other files of this folder and by `show` and `list cells`. Plain data; thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/experiment.h"
#include "harness/api/result.h"
#include "harness/compare/cells.h"
#include "harness/store/reader.h"
#include "harness/store/rows.h"

namespace qfs::reports {

/// One cell of a sweep with the results it uses there.
struct PlaceFacts : compare::StoredCell {
  store::SweepCell place;

  /// The outputs were in a file already.
  bool imported() const { return cell.method == "imported"; }
};

struct SweepFacts {
  store::SweepRow sweep;
  std::string description;
  ReportSettings settings;  ///< the sweep file's; empty values where it has no "report"
  std::vector<PlaceFacts> places;
  std::map<DatasetId, store::DatasetRow> datasets;
  size_t runs = 1;  ///< that the store has
};

/// The sweep with this name (the latest of them), the one of this number (SweepInfo::number), or
/// with an id that starts with these hex digits, four at least; the latest of all for "latest" and
/// when `selector` is empty. `not_found` suggests the nearest name.
Result<store::SweepRow> find_sweep(store::Reader& reader, std::string_view selector);

Result<SweepFacts> load_sweep_facts(store::Reader& reader, std::string_view selector);

}  // namespace qfs::reports

// build_table: the table of a sweep out of a store, ready for a writer.
//
// Called by `sweep` and `report`. What is shown comes from the sweep's "report" unless the request
// overrides it. Reads only; one call at a time per Reader. Errors: `not_found` for a sweep or value
// that the store does not have, `invalid_argument` for axes, `store` for the file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/api/result.h"
#include "harness/store/reader.h"
#include "reports/place_evaluator.h"
#include "reports/sweep_facts.h"
#include "reports/table.h"

namespace qfs::reports {

struct ReportRequest {
  std::string sweep;                             ///< as find_sweep takes it
  std::optional<std::vector<size_t>> positions;  ///< of the places shown; absent: all
  std::string selection;                         ///< what chose the positions, for a note
  std::optional<std::vector<std::string>> rows;
  std::optional<std::vector<std::string>> columns;
  std::optional<std::vector<std::string>> values;
  std::optional<bool> coverage;
  bool only_quality = false;          ///< leave out speed and memory: what is equal after a crash
  std::vector<MetricChoice> metrics;  ///< preferred, in order, to whatever else is stored
  std::string against;                ///< method that others are tested against; empty: none
  bool differences = false;           ///< it minus the others is shown in the place of their scores
  std::string program;                ///< "qfs-bench v0.1.0", for the signature line
  std::string store_name;             ///< file name for the signature line; empty: left out
};

Result<Table> build_table(store::Reader& reader, const ReportRequest& request);

/// The same where the sweep's facts are read already; `request.sweep` is not looked at.
Result<Table> build_table(store::Reader& reader, SweepFacts facts, const ReportRequest& request);

}  // namespace qfs::reports

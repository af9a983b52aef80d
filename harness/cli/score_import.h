// `score --import`: values of any metric that another program measured, with intervals and tests,
// shown or put into a store.
//
// Used by score_command.cpp; imported_scores reads, score_import shows and tests, and
// score_import_store writes. Not thread-safe. Errors are data errors with file:line, or name the
// option or the cell.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/api/metric.h"
#include "harness/api/result.h"
#include "harness/cli/commands.h"
#include "harness/score/imported_metric.h"

namespace qfs::cli {

struct ScoreImportOptions {
  std::vector<std::string> files;
  std::string tool;    ///< "NAME@VERSION"
  std::string system;  ///< of records without one
  std::string sweep;   ///< of a store; empty: the latest
  bool partial = false;
  int64_t resamples = 0;  ///< 0: default
};

/// The values of one metric for one system, in the order of the file.
struct ImportedSeries {
  std::string system;
  std::vector<std::string> ids;
  std::vector<std::string> clusters;  ///< what is resampled: clusters, else groups, else ids
  std::vector<Statistics> values;
};

struct ImportedScores {
  std::shared_ptr<const score::ImportedMetric> metric;
  std::vector<ImportedSeries> systems;  ///< in the order of the file
};

/// All metrics of the files. Every metric has the same columns throughout; an id is there once.
Result<std::vector<ImportedScores>> read_imported_scores(const ScoreImportOptions& options);

/// Puts every series into the store, as scores of the cell that its system names; returns how many.
/// An id that the cell's data set does not have, and without `partial` a missing one, are errors.
Result<int64_t> store_imported_scores(const std::vector<ImportedScores>& scores,
                                      const ScoreImportOptions& options,
                                      const std::string& store_path);

/// The whole command.
Result<ExitCode> run_score_import(const ScoreImportOptions& options, const GlobalOptions& global);

}  // namespace qfs::cli

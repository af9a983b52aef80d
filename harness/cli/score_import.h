// `score --import`: values of any metric that another program measured, with intervals and tests,
// shown or put into a store.
//
// Used by score_command.cpp; harness/score/imported_scores.h reads and tests, score_import shows
// and score_import_store finds the cells. Not thread-safe. Errors are those of imported_scores.h,
// or name the option or the cell.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/api/result.h"
#include "harness/cli/commands.h"
#include "harness/score/imported_scores.h"

namespace qfs::cli {

struct ScoreImportOptions {
  score::ImportRequest files;
  std::string sweep;  ///< of a store; empty: the latest
  bool partial = false;
  int64_t resamples = 0;  ///< 0: default
};

/// Puts every series into the store, as scores of the cell that its system names; returns how many.
Result<int64_t> store_imported_scores(const std::vector<score::ImportedScores>& scores,
                                      const ScoreImportOptions& options,
                                      const std::string& store_path);

/// The whole command.
Result<ExitCode> run_score_import(const ScoreImportOptions& options, const GlobalOptions& global);

}  // namespace qfs::cli

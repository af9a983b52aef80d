// What texts in files say about digits: which metrics and options give published ones, and how many
// points the differences of two signatures are worth.
//
// Called by `score --match`, `score --explain-diff` and spot checks. Not thread-safe; errors name
// the option or the place in a file.
#pragma once

#include <string>
#include <vector>

#include "harness/score/explain_diff.h"
#include "harness/score/files.h"
#include "harness/score/match.h"

namespace qfs::score {

struct KeptItems {
  std::vector<std::string> ids;
  std::vector<ScoreItem> items;  ///< in the order of the files
};

/// All items that `needs` asks for, unscored.
Result<KeptItems> keep_items(const FilesRequest& request, const DatasetCatalog& datasets,
                             const MetricNeeds& needs);

/// `targets` as parse_match_targets reads them; one report a family of metrics.
Result<std::vector<MatchReport>> match_files(const FilesRequest& request,
                                             const std::string& targets,
                                             const DatasetCatalog& datasets,
                                             const MetricCatalog& metrics);

/// `signatures`: two of them, ours or sacreBLEU's. Without any input only they are compared.
Result<ExplainedDifference> explain_files(const FilesRequest& request,
                                          const std::vector<std::string>& signatures,
                                          const DatasetCatalog& datasets,
                                          const MetricCatalog& metrics);

}  // namespace qfs::score

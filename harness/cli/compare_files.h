// `compare` on two files of predictions: both are read and measured as `score` does, and their
// items are paired by id.
//
// Used by compare_command.cpp. Not thread-safe. Ids that do not agree, other references for an item
// and other clusters are `data` errors that name the item.
#pragma once

#include <string>
#include <vector>

#include "harness/cli/catalogs.h"
#include "harness/cli/comparison.h"
#include "harness/cli/score_files.h"

namespace qfs::cli {

/// Whether an argument of `compare` means a file of predictions and not a store or conditions on
/// one: standard input, a file that is not SQLite's, or an absent one with such an ending.
bool is_prediction_file(const std::string& argument);

/// `common`: metrics, references and how files are read; each side adds its own file, which is one
/// of JSON records (.json, .jsonl, .ndjson, with --from or --fields any) or a line file.
Result<std::vector<Comparison>> compare_files(const std::string& a, const std::string& b,
                                              const ScoreFilesOptions& common,
                                              const ComparisonRequest& request);

}  // namespace qfs::cli

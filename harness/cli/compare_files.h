// `compare` on two files of predictions: both are read and measured as `score` does, then compared
// by compare_items.
//
// Used by compare_command.cpp. Not thread-safe. Errors are those of `score` and of compare_items.
#pragma once

#include <string>

#include "harness/cli/catalogs.h"
#include "harness/cli/score_files.h"
#include "harness/compare/comparison.h"

namespace qfs::cli {

/// Whether an argument of `compare` means a file of predictions and not a store or conditions on
/// one: standard input, a file that is not SQLite's, or an absent one with such an ending.
bool is_prediction_file(const std::string& argument);

/// `common`: metrics, references and how files are read; each side adds its own file, which is one
/// of JSON records (.json, .jsonl, .ndjson, with --from or --fields any) or a line file.
Result<compare::Outcome> compare_files(const std::string& a, const std::string& b,
                                       const ScoreFilesOptions& common,
                                       const compare::Request& request);

}  // namespace qfs::cli

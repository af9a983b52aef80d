// `score` on prediction files: its options, the command, and how what it found is shown.
//
// Used by score_command.cpp; harness/score/files.h reads and measures, score_output.cpp shows
// (table, JSON, per-example lines). Not thread-safe. Errors are those of files.h, or name the
// option.
#pragma once

#include <string>

#include "harness/api/result.h"
#include "harness/cli/commands.h"
#include "harness/score/files.h"

namespace qfs::cli {

struct ScoreFilesOptions : score::FilesRequest {
  std::string signature = "short";
  std::string per_example;  ///< path of JSON lines; empty: none
};

std::string scores_text(const score::FileScores& scores, bool long_signatures);
std::string scores_json(const score::FileScores& scores);
/// One JSON line an item, written as a whole file.
Status write_per_example(const score::FileScores& scores, const std::string& path);

/// The whole command.
Result<ExitCode> run_score_files(const ScoreFilesOptions& options, const GlobalOptions& global);

}  // namespace qfs::cli

// `score --match` and `score --explain-diff` as commands: read the texts, analyse, print.
//
// Called by score_command.cpp. Not thread-safe; errors name the option or the place in a file.
#pragma once

#include <string>
#include <vector>

#include "harness/cli/score_files.h"

namespace qfs::cli {

Result<ExitCode> run_match(const ScoreFilesOptions& options, const std::string& targets,
                           const GlobalOptions& global);

/// `signatures`: two of them. Without any input only the signatures are compared.
Result<ExitCode> run_explain_diff(const ScoreFilesOptions& options,
                                  const std::vector<std::string>& signatures,
                                  const GlobalOptions& global);

}  // namespace qfs::cli

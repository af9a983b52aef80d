// What `list` prints, one function a kind; as text or, with --json, "qfs-bench/list-<kind>/1".
// Called by list_command.cpp (and `data list`). Errors are those of catalogues and stores.
#pragma once

#include <string>

#include "harness/api/result.h"
#include "harness/cli/commands.h"

namespace qfs::cli {

/// All methods, or the one with this name.
Result<ExitCode> list_methods(const GlobalOptions& global, const std::string& name);
Result<ExitCode> list_datasets(const GlobalOptions& global);
Result<ExitCode> list_metrics(const GlobalOptions& global, const std::string& name);
Result<ExitCode> list_postprocess(const GlobalOptions& global);
Result<ExitCode> list_runs(const GlobalOptions& global);
Result<ExitCode> list_cells(const GlobalOptions& global, const std::string& run,
                            const std::string& filter);

}  // namespace qfs::cli

// The two sides of a gate as its command line names them: stores, or a committed baseline.
//
// Used by `gate` and `baseline`. Not thread-safe. Errors name the argument.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/cli/compared_sides.h"
#include "harness/gate/baseline.h"

namespace qfs::cli {

struct GateSide {
  std::string name;
  std::optional<ComparedSide> store;
  std::unique_ptr<gate::Baseline> file;
  std::vector<std::string> declared;       ///< names of the sweep's metrics
  std::vector<std::string> report_values;  ///< of the sweep's table
  compare::StoredSide cells;
};

struct GateSideOptions {
  std::string argument;  ///< "STORE", "STORE#CONDITIONS", "FILE.jsonl"
  std::string run;
  std::string filter;
  bool may_match_nothing = false;  ///< conditions that no cell meets leave no cells
};

Result<GateSide> open_gate_side(const GateSideOptions& options, const MetricCatalog& catalog,
                                const GlobalOptions& global);

/// Adds --baselines, the folder of named baselines.
void add_baselines_option(CLI::App& command, std::string& folder);

/// Whether it names a baseline of the folder, and no file: "main", "v1.2".
bool is_baseline_name(const std::string& argument);

/// The file of a baseline by its name ("main" is FOLDER/main.jsonl); a path, or a file that is
/// there, stays what it is.
std::string baseline_path(const std::string& argument, const std::string& folder);

enum class ExistingFile { replace, keep };

/// Writes the file of `side`. Nothing is written, and the exit code is `incomplete`, while cells
/// have no whole scores, which a warning names; and there is no code where a file is kept.
Result<std::optional<ExitCode>> save_baseline(const GateSide& side, const std::string& path,
                                              bool measured, ExistingFile existing);

}  // namespace qfs::cli

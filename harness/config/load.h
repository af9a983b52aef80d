// Reads a sweep file into an Experiment: variables substituted, every key known, every type right,
// every default written out. Called by the subcommands that take a sweep.
//
// Names of methods, data sets, metrics and parameters are looked up later (harness/plan). Every
// error says where: "file:line:column" for broken JSON or YAML, "file#/json/pointer" for what it
// says. Thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "harness/api/experiment.h"
#include "harness/api/method.h"
#include "harness/api/result.h"
#include "harness/core/foreign_names.h"

namespace qfs::config {

/// The parameters by which other programs' names are replaced.
struct OwnNames {
  const MethodCatalog& methods;
  ForeignNames foreign;
};

struct LoadOptions {
  /// --set NAME=VALUE: replaces the value of a variable that the file declares. Where the file's
  /// value is a number or a boolean, the text must read as one.
  std::map<std::string, std::string> set_overrides;
  std::optional<OwnNames> own_names = std::nullopt;  ///< none: parameters stay as written
};

/// The sweep file at `path`. Prompt files, data paths and external programs in it are relative to
/// its folder. Errors: `not_found` for a missing file or prompt file, `data` for broken JSON or
/// YAML, `invalid_argument` for everything else.
Result<Experiment> load_experiment(const std::string& path, const LoadOptions& options = {});

/// The same for text that is in memory; `path` names it in messages and anchors relative paths.
Result<Experiment> decode_experiment(std::string_view text, const std::string& path,
                                     const LoadOptions& options = {});

}  // namespace qfs::config

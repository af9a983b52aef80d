// HostLauncher: starts host processes with the right program, environment, limits and log file, and
// knows how each of them computes (probes, cached per program, device and threads).
//
// Not thread-safe. A program that cannot be started is `unavailable`
// with the name of what would provide it.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "harness/api/result.h"
#include "harness/host/client.h"
#include "harness/plan/plan.h"
#include "harness/run/run.h"

namespace qfs::run {

/// What a host says about itself, for ids and environment rows.
struct HostFacts {
  Json numerics;
  Json facts;
  /// An external program that could not be asked: its cells fail, and `numerics` says so.
  std::optional<host::HostFailure> failure = {};
};

/// The folder for logs of programs that run for no store, made when it is not there. Logs that
/// nothing was added to for a month are removed.
Result<std::string> shared_log_folder();

/// An external method's program with its environment (the Python helper on PYTHONPATH); no log yet.
ChildOptions external_child(const ExternalCommand& command);

class HostLauncher {
 public:
  /// `log_folder`: where the hosts' output goes, one file a host; made when the first one starts.
  HostLauncher(const RunOptions& options, const qfs::HostLimits& limits, std::string log_folder);

  /// A fresh host for the cell; `log_name` without extension. `not_started` is set where no process
  /// could be made for want of descriptors, processes or room, which is not the cell's doing.
  Result<host::HostClient> start(const plan::Cell& cell, const std::string& log_name,
                                 std::optional<Error>& not_started);

  /// Facts of the host that would run the cell, and of the one that cuts documents on the way;
  /// started once per kind (external: per command), and not at all when the user cache remembers
  /// the same program.
  Result<HostFacts> facts(const plan::Cell& cell);

  RuntimeOptions runtime(const plan::Cell& cell) const;
  std::string log_path(const std::string& log_name) const;
  const qfs::HostLimits& limits() const { return limits_; }

 private:
  Result<HostFacts> facts_of_program(const plan::Cell& cell);
  /// As `start` has it.
  Result<host::HostClient> start_child(const ChildOptions& child,
                                       std::optional<Error>& not_started) const;
  Result<ChildOptions> child_options(const plan::Cell& cell, const std::string& log_name) const;

  RunOptions options_;
  qfs::HostLimits limits_;
  std::string log_folder_;
  std::map<std::string, HostFacts> facts_;
};

}  // namespace qfs::run

// HostPool: the host that the next cell runs in — the previous cell's, when the sweep allows
// sharing and the weights are equal, else a fresh one.
//
// Used inside harness/run only. Holds at most one process. Not thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "harness/host/client.h"
#include "harness/run/launcher.h"

namespace qfs::run {

class HostPool {
 public:
  HostPool(HostLauncher& launcher, HostReuse reuse) : launcher_(launcher), reuse_(reuse) {}

  /// A host with the cell's session open; a verdict when the host died or refused. One that a
  /// signal ends while it loads is replaced once, as one that it ends in a unit is.
  std::optional<host::HostFailure> open(const plan::Cell& cell, const RuntimeOptions& runtime,
                                        host::SessionKind kind = host::SessionKind::method);
  /// The same cell again after a failure, in a fresh process with the options of the last `open`.
  std::optional<host::HostFailure> reopen(const plan::Cell& cell);
  /// Why no host could be started where that is the machine's doing (no descriptor, no process, no
  /// room for a log): an error of the run, and no result of a cell.
  const std::optional<Error>& not_started() const { return not_started_; }
  /// The host that `open` gave. Valid until `open` or `discard`.
  host::HostClient& host() { return *host_; }
  /// Log file of that host.
  const std::string& log_path() const { return log_path_; }
  /// Ends the current host; the next cell gets a fresh one.
  void discard();
  /// Ends the session; the host stays for a cell with equal weights.
  void release();

 private:
  std::optional<host::HostFailure> start_fresh(const plan::Cell& cell);

  HostLauncher& launcher_;
  HostReuse reuse_;
  std::optional<host::HostClient> host_;
  std::string weights_key_;
  RuntimeOptions runtime_;
  host::SessionKind kind_ = host::SessionKind::method;
  std::string log_path_;
  std::optional<Error> not_started_;
};

/// The `open` message of a cell.
host::OpenRequest open_request(const plan::Cell& cell, const RuntimeOptions& runtime,
                               host::SessionKind kind = host::SessionKind::method);

}  // namespace qfs::run

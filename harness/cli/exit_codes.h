// The exit codes of qfs-bench, the same for every subcommand, and which kind of error gives which.
//
// Scripts and CI depend on these numbers; they are part of the interface. Pure; thread-safe.
#pragma once

#include <csignal>

#include "harness/api/result.h"

namespace qfs::cli {

enum class ExitCode : int {
  ok = 0,
  regression = 1,     ///< a gate found a metric, memory or speed worse
  usage = 2,          ///< command line or configuration
  incomplete = 3,     ///< cells failed or are unfinished
  store = 4,          ///< the store cannot be used, or is damaged
  environment = 5,    ///< this machine or the data is not what was asked for
  internal = 70,      ///< a broken invariant of the program (EX_SOFTWARE of sysexits.h)
  hung_up = 129,      ///< SIGHUP
  interrupted = 130,  ///< SIGINT
  terminated = 143,   ///< SIGTERM
};

constexpr ExitCode exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_argument:
    case ErrorKind::not_found:
      return ExitCode::usage;
    case ErrorKind::store:
      return ExitCode::store;
    case ErrorKind::data:
    case ErrorKind::unavailable:
    case ErrorKind::out_of_memory:
    case ErrorKind::timeout:
      return ExitCode::environment;
    case ErrorKind::internal:
      return ExitCode::internal;
  }
  return ExitCode::internal;
}

constexpr ExitCode exit_code_of_signal(int signal) { return static_cast<ExitCode>(128 + signal); }

}  // namespace qfs::cli

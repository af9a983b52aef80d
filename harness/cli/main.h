// The command line of qfs-bench: parses, runs one subcommand, prints its error, gives the exit
// code.
//
// Called once by harness/apps/qfs_bench.cpp, which hands in what only a composition root can see.
// Nothing is opened, read or started before the arguments are parsed.
#pragma once

#include <functional>

namespace qfs::cli {

struct Services {
  std::function<int()> serve_light_host;  ///< `qfs-bench host`: the session protocol's host side
};

/// Results go to standard output, everything else to standard error.
int run_command_line(int argc, const char* const* argv, const Services& services);

}  // namespace qfs::cli

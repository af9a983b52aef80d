#include <CLI/CLI.hpp>

#include "harness/cli/commands.h"
#include "harness/run/signals.h"

namespace qfs::cli {

void add_host_command(const CommandLine& line) {
  CLI::App& command =
      add_subcommand(line.app, "host", "Serves the session protocol for methods without tensors",
                     "started by qfs-bench itself, with QFS_REQUEST_FD and QFS_REPLY_FD");
  command.group("");  // started by the driver, not by people
  command.callback([&services = line.services, &chosen = line.chosen] {
    chosen = [&services]() -> Result<ExitCode> {
      run::die_of_signals();
      return static_cast<ExitCode>(services.serve_light_host());
    };
  });
}

}  // namespace qfs::cli

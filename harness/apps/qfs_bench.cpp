// qfs-bench: the driver. Composition root of the torch-free half: command line, and the host that
// runs methods without tensors in processes of their own (`qfs-bench host`).
#include <csignal>

#include "harness/apps/light_host.h"
#include "harness/cli/main.h"
#include "harness/run/signals.h"

int main(int argc, char** argv) {
  qfs::run::end_on_signals();
  // A host that dies is an error with a verdict, a file that may not grow one with a name: neither
  // is the end of the driver.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  return qfs::cli::run_command_line(argc, argv, {.serve_light_host = qfs::apps::serve_light_host});
}

// qfs-bench: the driver. Composition root of the torch-free half: command line, and the host that
// runs methods without tensors in processes of their own (`qfs-bench host`).
#include <csignal>

#include "harness/apps/light_host.h"
#include "harness/cli/main.h"

int main(int argc, char** argv) {
  // A host that dies is an error with a verdict, not the end of the driver.
  std::signal(SIGPIPE, SIG_IGN);
  return qfs::cli::run_command_line(argc, argv, {.serve_light_host = qfs::apps::serve_light_host});
}

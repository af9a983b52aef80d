#include "metrics/text/python_package.h"

#include <unistd.h>

#include <chrono>
#include <optional>

#include "harness/core/child_process.h"

namespace qfs::metrics {

std::string python_package_folder(const std::string& package) {
  constexpr const char* kScript =
      "import importlib.util, os, sys\n"
      "sys.path[:] = [folder for folder in sys.path if folder]\n"  // not the working directory
      "spec = importlib.util.find_spec(sys.argv[1])\n"
      "folders = list(spec.submodule_search_locations or []) if spec else []\n"
      "os.write(int(os.environ['QFS_REPLY_FD']), os.fsencode(folders[0] if folders else ''))\n";
  Result<ChildProcess> python = ChildProcess::start(
      {.command = {"python3", "-c", kScript, package}, .environment = allowed_environment()});
  if (!python) return {};
  python->close_requests();
  std::string folder;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(python->reply_fd(), buffer, sizeof buffer)) > 0;) {
    folder.append(buffer, static_cast<size_t>(n));
  }
  const std::optional<ChildExit> exit = python->wait(std::chrono::seconds(10));
  return exit && exit->code == 0 ? folder : std::string();
}

}  // namespace qfs::metrics

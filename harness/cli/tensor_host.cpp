#include "harness/cli/tensor_host.h"

#include <unistd.h>

#include <cstdlib>

#include "harness/core/available_cores.h"
#include "harness/core/child_process.h"
#include "harness/core/files.h"
#include "harness/run/launcher.h"

namespace qfs::cli {
namespace {

std::string program() {
  const char* const given = std::getenv("QFS_HOST");
  if (given != nullptr && *given != '\0') return given;
  return executable_directory() + "/qfs-host";
}

}  // namespace

bool has_tensor_host() { return ::access(program().c_str(), X_OK) == 0; }

std::string tensor_host_log(const std::string& log_name) {
  return cache_directory() + "/logs/" + log_name + ".log";
}

Status require_tensor_host() {
  if (has_tensor_host()) return {};
  return unavailable("there is no program '" + program() +
                     "', and models are read there (./bootstrap.sh sweep builds it; QFS_HOST names "
                     "one that lies elsewhere)");
}

Result<host::HostClient> start_tensor_host(const std::string& log_name, int threads) {
  if (Status there = require_tensor_host(); !there) return there.error();
  if (const auto folder = run::shared_log_folder(); !folder) return folder.error();
  ChildOptions child;
  child.command = {program()};
  child.environment = allowed_environment();
  child.environment["OMP_NUM_THREADS"] = std::to_string(threads == 0 ? available_cores() : threads);
  child.environment.try_emplace("GOMP_SPINCOUNT", "10000");
  child.log_path = tensor_host_log(log_name);
  return host::HostClient::start(child, {});
}

}  // namespace qfs::cli

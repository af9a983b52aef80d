#include "harness/cli/tensor_host.h"

#include <unistd.h>

#include "harness/core/available_cores.h"
#include "harness/core/child_process.h"
#include "harness/core/files.h"

namespace qfs::cli {
namespace {

std::string program() { return executable_directory() + "/qfs-host"; }

}  // namespace

bool has_tensor_host() { return ::access(program().c_str(), X_OK) == 0; }

std::string tensor_host_log(const std::string& log_name) {
  return cache_directory() + "/logs/" + log_name + ".log";
}

Result<host::HostClient> start_tensor_host(const std::string& log_name) {
  if (!has_tensor_host()) {
    return unavailable(
        "qfs-host is not beside qfs-bench, and models are read there "
        "(./bootstrap.sh sweep builds it)");
  }
  if (Status made = make_directories(cache_directory() + "/logs"); !made) return made.error();
  ChildOptions child;
  child.command = {program()};
  child.environment = allowed_environment();
  child.environment["OMP_NUM_THREADS"] = std::to_string(available_cores());
  child.environment.try_emplace("GOMP_SPINCOUNT", "10000");
  child.log_path = tensor_host_log(log_name);
  return host::HostClient::start(child, {});
}

}  // namespace qfs::cli

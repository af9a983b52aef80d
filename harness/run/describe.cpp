#include "harness/run/describe.h"

#include "harness/core/files.h"
#include "harness/host/client.h"
#include "harness/host/described_spec.h"
#include "harness/run/launcher.h"

namespace qfs::run {

namespace {
constexpr std::chrono::seconds kDescribeTimeout{60};
}

Result<std::shared_ptr<const MethodSpec>> HostDescriber::describe(const ExternalCommand& command) {
  const std::string log_folder = cache_directory() + "/logs";
  if (Status made = make_directories(log_folder); !made) return made.error();
  ChildOptions child = external_child(command);
  child.log_path = log_folder + "/describe.log";
  const std::string name = command.command.empty() ? "" : command.command.back();
  Result<host::HostClient> client = host::HostClient::start(child, {});
  if (!client) return client.error();
  Result<host::Description> description = client->describe(kDescribeTimeout);
  if (!description) {
    Error error = description.error();
    error.message = "external method '" + name + "' did not describe itself: " + error.message +
                    " (its output is in " + child.log_path + ")";
    return error;
  }
  return host::make_described_spec(*std::move(description));
}

}  // namespace qfs::run

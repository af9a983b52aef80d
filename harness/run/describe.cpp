#include "harness/run/describe.h"

#include <fmt/format.h>

#include "harness/host/client.h"
#include "harness/host/described_spec.h"
#include "harness/run/launcher.h"

namespace qfs::run {

Result<std::shared_ptr<const MethodSpec>> HostDescriber::describe(const ExternalCommand& command) {
  const Result<std::string> log_folder = shared_log_folder();
  if (!log_folder) return log_folder.error();
  ChildOptions child = external_child(command);
  child.log_path = *log_folder + "/describe.log";
  host::Description description;
  const auto failure = host::ask_fresh_host(
      [&] { return host::HostClient::start(child, {.memory_bytes = limits_.memory_bytes}); },
      [&](host::HostClient& client) {
        return client.describe(std::chrono::seconds(limits_.open_seconds), description);
      });
  if (failure) {
    Error error = failure->error;
    // A program reports what it did not foresee as internal: its own defect, not ours.
    if (error.kind == ErrorKind::internal) error.kind = ErrorKind::data;
    error.message = fmt::format("external method '{}'", fmt::join(command.command, " ")) +
                    " did not describe itself: " + error.message + " (its output is in " +
                    child.log_path + ")";
    return error;
  }
  return host::make_described_spec(std::move(description));
}

}  // namespace qfs::run

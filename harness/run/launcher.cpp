#include "harness/run/launcher.h"

#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/api/document_cutter.h"
#include "harness/core/available_cores.h"
#include "harness/core/files.h"
#include "harness/core/json_dom.h"
#include "harness/run/document_cutter.h"
#include "harness/run/probe_cache.h"

namespace qfs::run {
namespace {

std::string host_key(const plan::Cell& cell) {
  std::string key(to_string(cell.host));
  if (cell.external) {
    for (const std::string& word : cell.external->command) key += '\x1f' + word;
    key += '\x1f' + cell.external->folder;
  }
  return key;
}

/// Hands the host the secrets that its cell names, out of our own environment.
Status add_secrets(const plan::Cell& cell, ChildOptions& child) {
  for (const std::string& name : cell.needs.secrets) {
    const char* const value = std::getenv(name.c_str());
    if (value == nullptr || *value == '\0') {
      return unavailable("the environment variable " + name + ", which holds a secret of '" +
                             cell.label + "', is not set",
                         cell.pointer);
    }
    child.environment[name] = value;
  }
  return {};
}

}  // namespace

Result<std::string> shared_log_folder() {
  namespace fs = std::filesystem;
  constexpr auto kKept = std::chrono::hours(24 * 30);
  std::string folder = cache_directory() + "/logs";
  if (Status made = make_directories(folder); !made) return made.error();
  std::error_code ignored;
  for (const fs::directory_entry& log : fs::directory_iterator(folder, ignored)) {
    std::error_code unknown;
    const auto written = log.last_write_time(unknown);
    const bool old = !unknown && fs::file_time_type::clock::now() - written > kKept;
    if (old && log.path().extension() == ".log") fs::remove(log.path(), ignored);
  }
  return folder;
}

HostLauncher::HostLauncher(const RunOptions& options, const qfs::HostLimits& limits,
                           std::string log_folder)
    : options_(options), limits_(limits), log_folder_(std::move(log_folder)) {
  if (options_.threads <= 0) options_.threads = available_cores();
}

ChildOptions external_child(const ExternalCommand& command) {
  ChildOptions child;
  child.command = command.command;
  child.working_directory = command.folder;
  child.environment = allowed_environment();
  std::string& python_path = child.environment["PYTHONPATH"];
  if (!python_path.empty()) python_path += ':';
  python_path += program_data_directory() + "/methods/external";
  return child;
}

RuntimeOptions HostLauncher::runtime(const plan::Cell& cell) const {
  if (cell.host == plan::HostKind::tensor && options_.assumed) return options_.assumed->runtime;
  RuntimeOptions runtime;
  if (cell.host != plan::HostKind::tensor) return runtime;
  runtime.device = options_.device;
  runtime.dtype = options_.dtype;
  runtime.threads = options_.threads;
  return runtime;
}

std::string HostLauncher::log_path(const std::string& log_name) const {
  return log_folder_ + "/" + log_name + ".log";
}

Result<ChildOptions> HostLauncher::child_options(const plan::Cell& cell,
                                                 const std::string& log_name) const {
  ChildOptions child;
  switch (cell.host) {
    case plan::HostKind::light:
      child.command = options_.programs.light;
      child.environment = allowed_environment();
      break;
    case plan::HostKind::tensor:
      child.command = options_.programs.tensor;
      child.environment = allowed_environment();
      if (child.command.empty()) {
        return unavailable("method '" + std::string(cell.spec->name()) +
                               "' needs qfs-host, which was not built or installed with this "
                               "qfs-bench (./bootstrap.sh sweep builds it)",
                           cell.pointer);
      }
      break;
    case plan::HostKind::none:
      return internal_error("cell '" + cell.label + "' needs no host");
    case plan::HostKind::external:
      child = external_child(*cell.external);
      break;
  }
  child.environment["OMP_NUM_THREADS"] = std::to_string(runtime(cell).threads);
  if (limits_.device_memory_bytes > 0) {
    child.environment["QFS_DEVICE_MEMORY_BYTES"] = std::to_string(limits_.device_memory_bytes);
  }
  // A short spin: passive waiting costs tens of microseconds a parallel region, the default
  // collapses beside a busy neighbour. The runtime reads it before main.
  child.environment.try_emplace("GOMP_SPINCOUNT", "10000");
  child.log_path = log_path(log_name);
  return child;
}

Result<host::HostClient> HostLauncher::start(const plan::Cell& cell, const std::string& log_name,
                                             std::optional<Error>& not_started) {
  if (Status made = make_directories(log_folder_); !made) {
    not_started = made.error();
    return made.error();
  }
  Result<ChildOptions> child = child_options(cell, log_name);
  if (!child) return child.error();
  if (Status added = add_secrets(cell, *child); !added) return added.error();
  return start_child(*child, not_started);
}

Result<host::HostClient> HostLauncher::start_child(const ChildOptions& child,
                                                   std::optional<Error>& not_started) const {
  auto started = host::HostClient::start(child, {.memory_bytes = limits_.memory_bytes});
  if (!started && started.error().kind == ErrorKind::unavailable) not_started = started.error();
  return started;
}

Result<HostFacts> HostLauncher::facts(const plan::Cell& cell) {
  Result<HostFacts> facts = facts_of_program(cell);
  // What fits, and how long it takes, is another matter under another limit.
  const bool capped = limits_.device_memory_bytes > 0 && runtime(cell).device != "cpu";
  if (!facts || (!capped && !DocumentCutter::cuts(cell))) return facts;
  nlohmann::json numerics = nlohmann::json::parse(facts->numerics.text);
  if (capped) numerics["device_memory_bytes"] = limits_.device_memory_bytes;
  if (DocumentCutter::cuts(cell)) {
    const Result<HostFacts> cutter = facts_of_program(cutter_cell(cell));
    if (!cutter) return cutter.error();
    numerics[kDocumentCutter] = nlohmann::json::parse(cutter->numerics.text);
  }
  Result<Json> combined = canonical_json(numerics);
  if (!combined) return combined.error();
  facts->numerics = *std::move(combined);
  return facts;
}

Result<HostFacts> HostLauncher::facts_of_program(const plan::Cell& cell) {
  if (cell.host == plan::HostKind::tensor && options_.assumed) {
    return HostFacts{options_.assumed->numerics, Json{}};
  }
  if (cell.host == plan::HostKind::none) return HostFacts{};
  const std::string key = host_key(cell);
  if (auto it = facts_.find(key); it != facts_.end()) return it->second;
  Result<ChildOptions> child = child_options(cell, "probe-" + std::string(to_string(cell.host)));
  if (!child) return child.error();
  const RuntimeOptions options = runtime(cell);
  const std::string cache_key = cell.external ? "" : probe_cache_key(child->command, options);
  if (std::optional<HostFacts> known = read_probe_cache(cache_key)) return facts_[key] = *known;

  if (Status made = make_directories(log_folder_); !made) return made.error();
  host::ProbeReply reply;
  std::optional<Error> not_started;
  const auto failure = host::ask_fresh_host(
      [&] { return start_child(*child, not_started); },
      [&](host::HostClient& client) {
        return client.probe(options, std::chrono::seconds(limits_.open_seconds), reply);
      });
  if (failure && (not_started || !cell.external)) return failure->error;
  if (failure) return facts_[key] = HostFacts{Json{R"({"probe":"failed"})"}, Json{}, failure};
  HostFacts facts{reply.numerics, reply.facts};
  write_probe_cache(cache_key, facts);
  return facts_[key] = facts;
}

}  // namespace qfs::run

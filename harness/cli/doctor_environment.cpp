// Program, machine, tensor host and models.
#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "harness/cli/catalogs.h"
#include "harness/cli/doctor_checks.h"
#include "harness/cli/tensor_host.h"
#include "harness/core/available_cores.h"
#include "harness/core/build_info.h"
#include "harness/core/files.h"
#include "harness/core/json_dom.h"
#include "harness/core/sha256.h"
#include "harness/run/environment.h"

namespace qfs::cli {
namespace {

using nlohmann::json;

constexpr int kOldestDriverForCuda13 = 580;
constexpr std::chrono::seconds kProbeTimeout{60};
constexpr const char* kProbeLog = "doctor-probe";

json parsed(const Json& text) {
  Result<json> value = parse_json(text.text, "facts");
  return value ? *std::move(value) : json::object();
}

std::string driver_text() {
  Result<std::string> text = read_file("/proc/driver/nvidia/version", uint64_t{1} << 16);
  return text ? *text : "";
}

std::string facts_text(const json& facts) {
  std::string text;
  for (const auto& [name, value] : facts.items()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name,
                        value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

}  // namespace

std::vector<Finding> check_program() {
  const BuildInfo& build = build_info();
  std::vector<Finding> findings = {
      {Grade::ok, "program",
       fmt::format("qfs-bench {} ({}), {}, {}", build.version, build.commit.substr(0, 12),
                   build.compiler, build.build_type)}};
  if (build.build_type == "Debug") {
    findings.push_back({Grade::note, "program", "a debug build: times are not worth publishing"});
  }
  if (build.commit.ends_with("+dirty")) {
    findings.push_back({Grade::note, "program", "built from a changed tree"});
  }
  return findings;
}

std::vector<Finding> check_machine() {
  const json facts = parsed(run::host_facts());
  const auto text = [&](const char* key) {
    auto it = facts.find(key);
    if (it == facts.end()) return std::string("unknown");
    return it->is_string() ? it->get<std::string>() : it->dump();
  };
  std::vector<Finding> findings;
  findings.push_back(
      {Grade::ok, "machine",
       fmt::format("{}, {} cores to use, {}", text("cpu"), text("cores"), text("distribution"))});
  const int64_t bytes = facts.value("memory_bytes", int64_t{0});
  findings.push_back(
      {Grade::ok, "machine",
       fmt::format("{} MiB memory, cgroup limit {}", bytes >> 20, text("cgroup_memory_max"))});
  const std::string governor = text("cpu_governor");
  if (governor != "unknown" && governor != "performance") {
    findings.push_back(
        {Grade::note, "machine", "CPU frequency governor is '" + governor + "': times will vary"});
  }
  return findings;
}

std::vector<Finding> check_tensor_host() {
  std::vector<Finding> findings;
  if (!has_tensor_host()) {
    findings.push_back({Grade::note, "qfs-host",
                        "not beside qfs-bench: methods with a model cannot run (./bootstrap.sh "
                        "sweep builds it)"});
    return findings;
  }
  Result<host::HostClient> client = start_tensor_host(kProbeLog);
  if (!client) return {{Grade::problem, "qfs-host", client.error().to_string()}};
  host::ProbeReply reply;
  if (auto failure = client->probe({.threads = available_cores()}, kProbeTimeout, reply)) {
    return {
        {Grade::problem, "qfs-host",
         failure->error.to_string() + " (its output is in " + tensor_host_log(kProbeLog) + ")"}};
  }
  findings.push_back({Grade::ok, "qfs-host", facts_text(parsed(reply.numerics))});
  if (const auto version = nvidia_driver_version(driver_text())) {
    findings.push_back(check_nvidia_driver(*version));
  } else {
    findings.push_back({Grade::ok, "qfs-host", "no NVIDIA driver: methods run on the CPU"});
  }
  return findings;
}

std::vector<Finding> check_models() {
  Catalogs catalogs;
  std::vector<Finding> findings;
  for (const std::string& name : catalogs.methods().backbone_names()) {
    Result<Resource> model = catalogs.methods().backbone(name);
    if (!model) {
      findings.push_back({Grade::note, "models", name + ": " + model.error().message});
      continue;
    }
    Result<std::string> digest = sha256_file_cached(model->path);
    if (!digest) {
      findings.push_back({Grade::problem, "models", digest.error().to_string()});
    } else if (*digest != model->digest) {
      findings.push_back({Grade::problem, "models",
                          fmt::format("{}: {} has SHA-256 {}…, declared is {}…", name, model->path,
                                      digest->substr(0, 12), model->digest.substr(0, 12))});
    } else {
      findings.push_back(
          {Grade::ok, "models", fmt::format("{}: {}, digest as declared", name, model->path)});
    }
  }
  return findings;
}

std::optional<std::string> nvidia_driver_version(std::string_view text) {
  // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun Jul 27 …"
  const size_t line_end = text.find('\n');
  const std::string_view line = text.substr(0, line_end);
  if (line.find("NVRM") == std::string_view::npos) return std::nullopt;
  size_t at = 0;
  while (at < line.size()) {
    const size_t end = std::min(line.find(' ', at), line.size());
    const std::string_view word = line.substr(at, end - at);
    const bool is_version = word.find('.') != std::string_view::npos &&
                            word.find_first_not_of("0123456789.") == std::string_view::npos;
    if (is_version) return std::string(word);
    at = end + 1;
  }
  return std::nullopt;
}

Finding check_nvidia_driver(const std::string& version) {
  int major = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  if (major >= kOldestDriverForCuda13) {
    return {Grade::ok, "nvidia driver", version + " fits LibTorch's CUDA 13"};
  }
  return {Grade::problem, "nvidia driver",
          fmt::format("{} is too old for LibTorch's CUDA 13, which needs {} or newer", version,
                      kOldestDriverForCuda13)};
}

}  // namespace qfs::cli

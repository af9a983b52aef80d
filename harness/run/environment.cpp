#include "harness/run/environment.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/core/available_cores.h"
#include "harness/core/json_dom.h"

namespace qfs::run {
namespace {

using nlohmann::json;

constexpr std::array kRecordedVariables = {"OMP_NUM_THREADS",
                                           "OMP_WAIT_POLICY",
                                           "GOMP_SPINCOUNT",
                                           "MKL_NUM_THREADS",
                                           "CUDA_VISIBLE_DEVICES",
                                           "CUBLAS_WORKSPACE_CONFIG",
                                           "PYTORCH_ALLOC_CONF",
                                           "LC_ALL",
                                           "LANG"};

std::string first_value(const char* path, std::string_view key, char separator) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with(key)) continue;
    const size_t at = line.find(separator);
    if (at == std::string::npos) continue;
    const size_t begin = line.find_first_not_of(" \t\"", at + 1);
    if (begin == std::string::npos) continue;
    const size_t end = line.find_last_not_of(" \t\"");
    return line.substr(begin, end - begin + 1);
  }
  return {};
}

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

int64_t memory_bytes() { return int64_t{sysconf(_SC_PHYS_PAGES)} * int64_t{sysconf(_SC_PAGESIZE)}; }

void put_if(json& object, const char* key, const std::string& value) {
  if (!value.empty()) object[key] = value;
}

json fingerprint() {
  json object = {{"cores", available_cores()}, {"memory_bytes", memory_bytes()}};
  put_if(object, "cpu", first_value("/proc/cpuinfo", "model name", ':'));
  return object;
}

/// The canonical form; these facts are ASCII-keyed strings and integers by construction.
Json canonical(const json& object) {
  Result<Json> text = canonical_json(object);
  return text ? *text : Json{};
}

}  // namespace

Json hardware_fingerprint() { return canonical(fingerprint()); }

Json host_facts() {
  json facts = fingerprint();
  utsname names{};
  if (uname(&names) == 0) {
    facts["kernel"] = std::string(names.sysname) + " " + names.release;
    facts["architecture"] = names.machine;
  }
  put_if(facts, "distribution", first_value("/etc/os-release", "PRETTY_NAME", '='));
  put_if(facts, "cpu_microcode", first_value("/proc/cpuinfo", "microcode", ':'));
  put_if(facts, "cpu_governor",
         first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
  put_if(facts, "cgroup_memory_max", first_line("/sys/fs/cgroup/memory.max"));
  put_if(facts, "cgroup_cpu_max", first_line("/sys/fs/cgroup/cpu.max"));
  put_if(facts, "nvidia_driver", first_line("/proc/driver/nvidia/version"));
  json variables = json::object();
  for (const char* name : kRecordedVariables) {
    if (const char* value = std::getenv(name)) variables[name] = value;
  }
  facts["variables"] = std::move(variables);
  return canonical(facts);
}

}  // namespace qfs::run

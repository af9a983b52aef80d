#include "harness/run/probe_cache.h"

#include <sys/stat.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "harness/core/child_process.h"
#include "harness/core/files.h"
#include "harness/core/json_dom.h"
#include "harness/core/sha256.h"
#include "harness/run/launcher.h"

namespace qfs::run {
namespace {

std::string cache_path(const std::string& key) {
  return cache_directory() + "/probe/" + key + ".json";
}

}  // namespace

std::string probe_cache_key(const std::vector<std::string>& command,
                            const RuntimeOptions& options) {
  struct stat file {};
  if (command.empty() || stat(command.front().c_str(), &file) != 0) return {};
  // Environment variables that change arithmetic (OMP_*, MKL_*, CUDA_*, …) are part of the
  // question.
  nlohmann::json question = {
      {"file", {file.st_dev, file.st_ino, file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec}},
      {"device", options.device},
      {"dtype", options.dtype},
      {"threads", options.threads},
      {"environment", allowed_environment()}};
  return sha256_hex(question.dump());
}

std::optional<HostFacts> read_probe_cache(const std::string& key) {
  if (key.empty()) return std::nullopt;
  Result<std::string> text = read_file(cache_path(key), 1 << 20);
  if (!text) return std::nullopt;
  Result<nlohmann::json> cached = parse_json(*text, "probe cache");
  if (!cached || !cached->is_object() || !cached->contains("numerics") ||
      !cached->contains("facts")) {
    return std::nullopt;
  }
  Result<Json> numerics = canonical_json((*cached)["numerics"]);
  Result<Json> facts = canonical_json((*cached)["facts"]);
  if (!numerics || !facts) return std::nullopt;
  return HostFacts{*numerics, *facts};
}

void write_probe_cache(const std::string& key, const HostFacts& facts) {
  if (key.empty()) return;
  const std::string path = cache_path(key);
  if (!make_directories(cache_directory() + "/probe")) return;
  // Failure is harmless: the next command probes again.
  static_cast<void>(write_file(
      path, R"({"facts":)" + facts.facts.text + R"(,"numerics":)" + facts.numerics.text + "}\n"));
}

}  // namespace qfs::run

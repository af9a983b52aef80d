#include "harness/config/stored_metrics.h"

#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "harness/config/sections.h"
#include "harness/core/json_dom.h"

namespace qfs::config {

Result<StoredExternalMetrics> stored_external_metrics(const Json& config, const std::string& source,
                                                      const std::string& folder) {
  const Result<nlohmann::json> parsed = parse_json(config.text, source);
  if (!parsed) return parsed.error();
  Scope scope{source, std::nullopt};
  const Node root(*parsed, "", scope);
  StoredExternalMetrics stored;
  const auto metrics = root.find("external_metrics");
  if (!metrics) return stored;
  stored.entries = decode_external_metrics(*metrics);
  if (const auto limits = root.find("limits")) {
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    const auto read = [&](const char* key, int64_t& value) {
      if (const auto node = limits->find(key)) value = node->integer(0, kMost);
    };
    read("open_seconds", stored.limits.open_seconds);
    read("memory_bytes", stored.limits.memory_bytes);
  }
  if (scope.failure) return *scope.failure;
  for (ExternalMetricEntry& entry : stored.entries) {
    const auto path = std::filesystem::path(folder) / entry.external.folder;
    std::string text = path.lexically_normal().string();
    if (text.size() > 1 && text.ends_with('/')) text.pop_back();
    entry.external.folder = text.empty() ? "." : text;
  }
  return stored;
}

}  // namespace qfs::config

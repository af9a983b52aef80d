// ImportedMetric: a metric of which only the values are known, because another program measured
// them.
//
// Made by `score --import`. It has name, columns and signature, so that imported values are stored,
// resampled and compared as every other's; their corpus value is the mean. It measures nothing:
// measure() is an error. Stateless and thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/metric.h"

namespace qfs::score {

/// Beginning of the name of every imported metric, "import:alignscore".
inline constexpr std::string_view kImportPrefix = "import:";

class ImportedMetric final : public Metric {
 public:
  /// `tool`: "NAME@VERSION"; `source`: SHA-256 of the file (or of the digests of several).
  ImportedMetric(const std::string& metric, std::vector<std::string> columns,
                 const std::string& tool, const std::string& source);

  std::string_view name() const override { return name_; }
  std::string_view doc() const override { return "Values that another program measured"; }
  std::vector<std::string> columns() const override { return columns_; }
  std::string signature() const override { return signature_; }
  MetricNeeds needs() const override { return {.references = false}; }
  Result<std::vector<Statistics>> measure(std::span<const ScoreItem> items) const override;

 private:
  std::string name_;
  std::vector<std::string> columns_;
  std::string signature_;
};

}  // namespace qfs::score

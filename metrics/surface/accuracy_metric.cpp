// accuracy: whether a prediction is one of the references, white space around both aside; for data
// sets whose answers are labels (CoLA). An item without references is an error.
#include <algorithm>
#include <memory>

#include "harness/api/metric.h"
#include "harness/core/text/unicode.h"
#include "metrics/surface/surface_entries.h"
#include "metrics/text/scored_texts.h"

namespace qfs::metrics {
namespace {

class AccuracyMetric final : public Metric {
 public:
  std::string_view name() const override { return "accuracy"; }
  std::string_view doc() const override;
  /// accuracy.f: 1 or 0
  std::vector<std::string> columns() const override { return {"accuracy.f"}; }
  std::string signature() const override;
  MetricNeeds needs() const override { return {}; }
  Result<std::vector<Statistics>> measure(std::span<const ScoreItem> items) const override;
};

std::string_view AccuracyMetric::doc() const {
  return "Whether the prediction is one of the references: the share of right labels";
}

std::string AccuracyMetric::signature() const {
  return "accuracy|case:keep|space:strip|multi:any|agg:mean|v:1";
}

Result<std::vector<Statistics>> AccuracyMetric::measure(std::span<const ScoreItem> items) const {
  std::vector<Statistics> rows;
  for (const ScoreItem& item : items) {
    if (Status status = check_texts(item, "accuracy"); !status) return status.error();
    const std::string_view said = python_stripped(item.candidate);
    const bool right = std::ranges::any_of(item.references, [&](const std::string& reference) {
      return python_stripped(reference) == said;
    });
    rows.push_back({right ? 1.0 : 0.0});
  }
  return rows;
}

}  // namespace

MetricEntry accuracy_entry() {
  MetricEntry entry;
  entry.name = "accuracy";
  entry.make = [](const MetricOptionValues&) -> Result<std::shared_ptr<const Metric>> {
    return std::shared_ptr<const Metric>(std::make_shared<AccuracyMetric>());
  };
  return entry;
}

}  // namespace qfs::metrics

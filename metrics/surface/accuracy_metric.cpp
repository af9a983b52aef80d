// accuracy: whether a prediction is one of the references, white space around both aside; for data
// sets whose answers are labels (CoLA). An item without references is an error.
#include <algorithm>
#include <memory>

#include "harness/api/metric.h"
#include "harness/core/text/unicode.h"
#include "harness/core/utf8.h"
#include "metrics/surface/surface_entries.h"

namespace qfs::metrics {
namespace {

/// As Python's str.strip.
std::string_view stripped(std::string_view text) {
  size_t begin = text.size();
  size_t end = 0;
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = code_point_at(text, i);
    if (!is_python_space(point.value)) {
      begin = std::min(begin, i);
      end = i + point.bytes;
    }
    i += point.bytes;
  }
  return begin < end ? text.substr(begin, end - begin) : std::string_view();
}

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
    const std::string named = "item " + std::to_string(item.id);
    if (item.references.empty()) return data_error(named + " has no reference");
    const auto ill_formed = [](const std::string& text) {
      return first_ill_formed_utf8(text).has_value();
    };
    if (ill_formed(item.candidate)) return data_error(named + ": candidate is not valid UTF-8");
    if (std::ranges::any_of(item.references, ill_formed)) {
      return data_error(named + ": reference is not valid UTF-8");
    }
    const std::string_view said = stripped(item.candidate);
    const bool right = std::ranges::any_of(
        item.references, [&](const std::string& reference) { return stripped(reference) == said; });
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

// ItemKeeper: a metric that measures nothing and keeps all items, so that a command can score the
// same texts in many ways.
//
// Called by `score --match` and `score --explain-diff`, with a TextScorer that gives it everything
// at once. Not thread-safe; cannot fail.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/metric.h"

namespace qfs::score {

class ItemKeeper final : public Metric {
 public:
  /// `needs`: what the items are to have.
  explicit ItemKeeper(MetricNeeds needs) : needs_(needs) { needs_.corpus = true; }

  std::string_view name() const override { return "items"; }
  std::string_view doc() const override { return "keeps items"; }
  std::vector<std::string> columns() const override { return {}; }
  std::string signature() const override { return "items"; }
  MetricNeeds needs() const override { return needs_; }
  Result<std::vector<Statistics>> measure(std::span<const ScoreItem> items) const override {
    items_.assign(items.begin(), items.end());
    return std::vector<Statistics>(items.size());
  }

  const std::vector<ScoreItem>& items() const { return items_; }

 private:
  MetricNeeds needs_;
  mutable std::vector<ScoreItem> items_;  ///< measure() is called once, by one thread
};

}  // namespace qfs::score

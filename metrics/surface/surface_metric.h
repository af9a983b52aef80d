// SurfaceMetric: what the metrics of this folder have in common: words by LogitsProcessors, one row
// an item, and no look at the references.
//
// Called by scoring through the catalogue. An item without the document or query that a metric
// needs, or with one that has no word, is an error that names the field and the item, never a 0.
// Stateless and thread-safe: each measure() call has its own encoder.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/metric.h"
#include "metrics/surface/token_encoder.h"

namespace qfs::metrics {

/// What becomes of a prediction without a word, where shares of its words mean nothing.
enum class NoWords { zero, error };

class SurfaceMetric : public Metric {
 public:
  SurfaceMetric(std::string name, LogitsProcessors rules)
      : name_(std::move(name)), rules_(std::move(rules)) {}

  std::string_view name() const final { return name_; }
  Result<std::vector<Statistics>> measure(std::span<const ScoreItem> items) const final;

 protected:
  /// The texts of an item that the metric needs, as words; the others stay empty.
  struct Words {
    WordNumbers candidate;
    WordNumbers document;
    WordNumbers query;
  };
  virtual Result<Statistics> row(const ScoreItem& item, const Words& words,
                                 const TokenEncoder& encoder) const = 0;
  const LogitsProcessors& rules() const { return rules_; }

 private:
  Result<Words> words_of(const ScoreItem& item, TokenEncoder& encoder) const;

  std::string name_;
  LogitsProcessors rules_;
};

/// empty=zero|error, for predictions without a word.
MetricOption no_words_option();
NoWords no_words_rule(const MetricOptionValues& values);
std::string_view to_string(NoWords rule);
Error no_words_error(std::string_view metric);

}  // namespace qfs::metrics

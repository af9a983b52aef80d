// FragmentMetric: coverage, density and compression of a summary against its document.
//
// Called by scoring through the catalogue under these three names. Over the extractive fragments F
// of summary S and document D, lengths in words (Grusky et al. 2018, equations 1 and 2, and
// section 4.3): coverage = sum |f| / |S|, density = sum |f|^2 / |S|, compression = |D| / |S|.
// Newsroom counts the words of spaCy's en_core_web_sm, punctuation included, lower-cased; here the
// segmenter is an option (segmenter=pretok over texts that spaCy tokenised gives Newsroom's digits)
// and punctuation counts as there. As there, a prediction without a word has 0. Thread-safe.
#pragma once

#include "metrics/surface/surface_metric.h"

namespace qfs::metrics {

enum class FragmentValue { coverage, density, compression };

class FragmentMetric final : public SurfaceMetric {
 public:
  FragmentMetric(std::string name, FragmentValue value, LogitsProcessors rules, NoWords empty)
      : SurfaceMetric(std::move(name), std::move(rules)), value_(value), empty_(empty) {}

  std::string_view doc() const override;
  std::vector<std::string> columns() const override;
  std::string signature() const override;
  MetricNeeds needs() const override { return {.references = false, .document = true}; }
  /// A prediction without a word.
  std::string_view note(const ScoreItem& item) const override;

 protected:
  Result<Statistics> row(const ScoreItem& item, const Words& words,
                         const TokenEncoder& encoder) const override;

 private:
  FragmentValue value_;
  NoWords empty_;
};

}  // namespace qfs::metrics

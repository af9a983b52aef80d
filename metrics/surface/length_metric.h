// LengthMetric: words, characters and sentences of a prediction.
//
// Called by scoring through the catalogue as "length". Words: those of the segmenter, without
// punctuation unless asked for. Characters: code points, white space included. Sentences: ICU's
// sentences of the root locale, a newline ends one, that have a word. An empty prediction has 0 of
// each. Thread-safe.
#pragma once

#include "metrics/surface/surface_metric.h"

namespace qfs::metrics {

/// Sentences with at least one word of `text`. Fails as ICU does.
Result<int64_t> count_sentences(std::string_view text);

class LengthMetric final : public SurfaceMetric {
 public:
  using SurfaceMetric::SurfaceMetric;
  std::string_view doc() const override;
  /// length.words length.characters length.sentences
  std::vector<std::string> columns() const override;
  std::string signature() const override;
  MetricNeeds needs() const override { return {.references = false}; }

 protected:
  Result<Statistics> row(const ScoreItem& item, const Words& words,
                         const TokenEncoder& encoder) const override;
};

}  // namespace qfs::metrics

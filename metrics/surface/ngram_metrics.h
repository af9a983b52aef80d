// NovelNgrams and Repetition: shares of the prediction's n-grams, n = 1 to 4, that its document
// does not have, and that the prediction repeats. Definitions: metrics/surface/ngram_shares.h.
//
// Called by scoring through the catalogue as "novel-ngrams" and "repetition". A prediction of fewer
// than n words has no n-gram and the share 0, which note() says. Thread-safe.
#pragma once

#include "metrics/surface/ngram_shares.h"
#include "metrics/surface/surface_metric.h"

namespace qfs::metrics {

class NgramShareMetric : public SurfaceMetric {
 public:
  NgramShareMetric(std::string name, LogitsProcessors rules, GramCount count, NoWords empty)
      : SurfaceMetric(std::move(name), std::move(rules)), count_(count), empty_(empty) {}
  /// Predictions too short for an n-gram.
  std::string_view note(const ScoreItem& item) const final;

 protected:
  virtual GramShares shares(const Words& words, GramCount count) const = 0;
  std::string signature_of(std::string_view metric) const;
  Result<Statistics> row(const ScoreItem& item, const Words& words,
                         const TokenEncoder& encoder) const final;

 private:
  GramCount count_;
  NoWords empty_;
};

class NovelNgrams final : public NgramShareMetric {
 public:
  using NgramShareMetric::NgramShareMetric;
  std::string_view doc() const override;
  /// novel1 to novel4
  std::vector<std::string> columns() const override;
  std::string signature() const override { return signature_of("novel-ngrams"); }
  MetricNeeds needs() const override { return {.references = false, .document = true}; }

 protected:
  GramShares shares(const Words& words, GramCount count) const override;
};

class Repetition final : public NgramShareMetric {
 public:
  using NgramShareMetric::NgramShareMetric;
  std::string_view doc() const override;
  /// repeated1 to repeated4
  std::vector<std::string> columns() const override;
  std::string signature() const override { return signature_of("repetition"); }
  MetricNeeds needs() const override { return {.references = false}; }

 protected:
  GramShares shares(const Words& words, GramCount count) const override;
};

}  // namespace qfs::metrics

// ChrfMetric: chrF and chrF++ with sacreBLEU's digits and signature.
//
// Called by scoring through the catalogue as "chrf" and "chrf++". The column "chrf" of an item is
// sentence_score, the corpus value corpus_score, which is no mean of items: it is computed of the
// summed counts, and so are the values of resamples. An item without references or with ill-formed
// text is an error. Stateless and thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/corpus_metric.h"
#include "metrics/sacrebleu/chrf.h"

namespace qfs::metrics {

class ChrfMetric final : public CorpusMetric {
 public:
  ChrfMetric(std::string name, const ChrfOptions& options)
      : name_(std::move(name)), options_(options) {}

  std::string_view name() const override { return name_; }
  std::string_view doc() const override;
  /// chrf, then the counts: chrf#hyp1 chrf#ref1 chrf#match1 chrf#hyp2 …, words behind characters
  std::vector<std::string> columns() const override;
  std::string signature() const override;
  std::string tool_signature(size_t fewest, size_t most) const override;
  MetricNeeds needs() const override { return {}; }
  Result<std::vector<Statistics>> measure(std::span<const ScoreItem> items) const override;
  void values_from_sums(std::span<double> sums, double items) const override;

 private:
  std::string options_text() const;

  std::string name_;
  ChrfOptions options_;
};

}  // namespace qfs::metrics

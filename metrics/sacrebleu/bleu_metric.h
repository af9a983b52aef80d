// BleuMetric: BLEU with sacreBLEU's digits and signature.
//
// Called by scoring through the catalogue as "bleu". The column "bleu" of an item is
// sentence_score, the corpus value corpus_score, which is no mean of items: it is computed of the
// summed counts, and so are the values of resamples. An item without references or with ill-formed
// text is an error. Stateless and thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/corpus_metric.h"
#include "metrics/sacrebleu/bleu.h"
#include "metrics/sacrebleu/bleu_tokenizers.h"

namespace qfs::metrics {

/// The version of the package whose digits these are.
inline constexpr std::string_view kSacrebleuVersion = "2.6.0";

/// "nrefs:3", or "nrefs:var" where items differ.
std::string sacrebleu_references(size_t fewest, size_t most);

struct BleuMetricOptions {
  BleuTokenizer tokenizer = BleuTokenizer::t13a;
  bool lower_case = false;
  BleuScoring scoring;
};

class BleuMetric final : public CorpusMetric {
 public:
  BleuMetric(std::string name, const BleuMetricOptions& options)
      : name_(std::move(name)), options_(options) {}

  std::string_view name() const override { return name_; }
  std::string_view doc() const override;
  /// bleu, then the counts: bleu#hyp bleu#ref bleu#match1 … bleu#total4
  std::vector<std::string> columns() const override;
  std::string signature() const override;
  std::string tool_signature(size_t fewest, size_t most) const override;
  MetricNeeds needs() const override { return {}; }
  Result<std::vector<Statistics>> measure(std::span<const ScoreItem> items) const override;
  void values_from_sums(std::span<double> sums, double items) const override;
  /// Chinese that the tokenizer takes for long words.
  std::string_view note(const ScoreItem& item) const override;

 private:
  std::string smoothing_text() const;

  std::string name_;
  BleuMetricOptions options_;
};

}  // namespace qfs::metrics

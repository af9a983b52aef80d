// RougeMetric155: ROUGE-1.5.5 as a qfs::Metric: recall, precision and F of five decimals an item
// and variant; the corpus value is what the Perl script prints as "Average".
//
// Made by the catalogue's entry as "rouge-1.5.5" with options and as the profiles "files2rouge" and
// "dyle-rouge". Stateless and thread-safe: each measure() call has its own vocabulary. Errors name
// the item: no reference, a text over the limits of Scorer, an empty text where files2rouge stops
// too.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/metric.h"
#include "metrics/punkt/punkt_splitter.h"
#include "metrics/rouge155/lexicon.h"
#include "metrics/rouge155/options.h"
#include "metrics/rouge155/scorer.h"
#include "metrics/rouge155/summary_form.h"
#include "metrics/text/script_check.h"

namespace qfs::metrics::rouge155 {

struct MetricSettings {
  std::string name = "rouge-1.5.5";  ///< with the options that are not default
  Options scoring;
  std::shared_ptr<const Lexicon> lexicon;
  SummaryForm form = SummaryForm::lines;
  /// Texts become DYLE's lines first (dyle_lines.h); nullptr: they are scored as they are.
  std::shared_ptr<const PunktSplitter> dyle;
  /// Each item is the mean over its references of its scores without that reference.
  bool jackknife = false;
  int64_t samples = 1000;  ///< of the bootstrap whose mean is the corpus value; 0: the plain mean
};

class RougeMetric155 final : public Metric {
 public:
  explicit RougeMetric155(MetricSettings settings) : settings_(std::move(settings)) {}

  std::string_view name() const override { return settings_.name; }
  std::string_view doc() const override;
  /// rouge1.p rouge1.r rouge1.f rouge2.* … rougeL.* rougeW-1.2.* rougeS4.* rougeSU4.*
  std::vector<std::string> columns() const override;
  std::string signature() const override;
  MetricNeeds needs() const override { return {}; }
  std::string_view note(const ScoreItem& item) const override { return ascii_words_note(item); }
  Result<std::vector<Statistics>> measure(std::span<const ScoreItem> items) const override;
  std::vector<Score> aggregate(std::span<const Statistics> items) const override;

 private:
  Result<Statistics> measure_one(Scorer& scorer, const ScoreItem& item) const;

  MetricSettings settings_;
};

}  // namespace qfs::metrics::rouge155

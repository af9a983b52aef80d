#include "metrics/rouge/rouge_entry.h"

#include <memory>

#include "metrics/rouge/ideal_metric.h"
#include "metrics/rouge/rouge_metric.h"

namespace qfs::metrics {
namespace {

constexpr const char* kBootMedian = "boot-median";

Result<std::shared_ptr<const Metric>> make(const MetricOptionValues& values) {
  RougeMetricOptions options;
  options.scorer.stem = values.on("stem");
  Result<SentenceSplit> split = make_sentence_split(values);
  if (!split) return split.error();
  options.scorer.split = *std::move(split);
  const Result<MultiPolicy> multi = parse_multi_policy(values.text("multi"));
  if (!multi) return multi.error();
  options.multi = *multi;
  if (values.text("agg") == kBootMedian) options.aggregate = RougeAggregate::bootstrap_median;
  options.geometric_mean = values.on("geometric_mean");
  return std::shared_ptr<const Metric>(std::make_shared<RougeMetric>(options));
}

Result<std::shared_ptr<const Metric>> make_ideal(const MetricOptionValues& values) {
  Result<SentenceSplit> split = make_sentence_split(values);
  if (!split) return split.error();
  return std::shared_ptr<const Metric>(
      std::make_shared<IdealMetric>(*std::move(split), values.on("strip")));
}

MetricOption multi_option() {
  MetricOption option;
  option.name = "multi";
  option.type = MetricOption::Type::text;
  option.choices = {"max", "best:COLUMN", "mean", "first", "best-recall", "pooled", "jack-knife"};
  option.default_value = "max";
  option.doc =
      "several references: best F per variant; all variants from the reference that is best in a "
      "column; mean; first; best recall per variant; counts summed over references; mean of the "
      "best F of all sets without one";
  return option;
}

MetricOption aggregate_option() {
  MetricOption option;
  option.name = "agg";
  option.choices = {"mean", kBootMedian};
  option.default_value = "mean";
  option.doc = "corpus value: mean of the items, or the median of 1000 seeded bootstrap means";
  return option;
}

}  // namespace

MetricEntry rouge_entry() {
  MetricEntry entry;
  entry.name = "rouge";
  entry.aliases = {{"rouge_score", "", "the Python package"},
                   {"rouge_score-0.1.2", "", "the Python package in this version"},
                   {"squality", "agg=boot-median,split=punkt-newline,nltk=3.9",
                    "SQuALITY's script; it joins Punkt's sentences with line breaks"},
                   {"covidet", "stem=off,agg=boot-median", "CovidET's scripts"},
                   {"scrolls", "geometric_mean=on", "SCROLLS and ZeroSCROLLS"}};
  entry.options = sentence_split_options(kDefaultSplit, kDefaultNltk);
  entry.options.insert(
      entry.options.begin(),
      {flag_option("stem", true, "NLTK's Porter stemmer (use_stemmer)"), multi_option(),
       aggregate_option(),
       flag_option("geometric_mean", false,
                   "one more column: geometric mean of the corpus F of R-1, R-2, R-L")});
  entry.make = make;
  return entry;
}

MetricEntry ideal_entry() {
  MetricEntry entry;
  entry.name = "ideal";
  entry.options = sentence_split_options(kIdealSplit, kIdealNltk);
  entry.options.insert(
      entry.options.begin(),
      flag_option("strip", true, "delete the literal texts <pad>, <s> and </s> from predictions"));
  entry.make = make_ideal;
  return entry;
}

}  // namespace qfs::metrics

#include "metrics/surface/surface_entries.h"

#include "metrics/chinese/segmenter_options.h"
#include "metrics/surface/fragment_metric.h"
#include "metrics/surface/length_metric.h"
#include "metrics/surface/ngram_metrics.h"
#include "metrics/surface/query_coverage_metric.h"

namespace qfs::metrics {
namespace {

using Made = Result<std::shared_ptr<const Metric>>;
using Options = std::vector<MetricOption>;

/// An entry whose metric is made from its full name, its words and its other options.
template <class Make>
MetricEntry entry_of(std::string name, Options options, Make make) {
  MetricEntry entry;
  entry.name = name;
  entry.options = options;
  entry.make = [name, options, make](const MetricOptionValues& values) -> Made {
    Result<TokenRules> rules = token_rules(values);
    if (!rules) return rules.error();
    return std::shared_ptr<const Metric>(
        make(name_with_options(name, options, values), *std::move(rules), values));
  };
  return entry;
}

Options with_empty() {
  Options options = token_options();
  options.push_back(no_words_option());
  return options;
}

MetricEntry fragment_entry(std::string name, FragmentValue value) {
  return entry_of(std::move(name), with_empty(),
                  [value](std::string full, TokenRules rules, const MetricOptionValues& values) {
                    return std::make_shared<FragmentMetric>(
                        std::move(full), value, std::move(rules), no_words_rule(values));
                  });
}

Options ngram_options() {
  Options options = with_empty();
  MetricOption count;
  count.name = "count";
  count.choices = {"types", "tokens"};
  count.default_value = "types";
  count.doc = "distinct n-grams, as SummEval counts, or every occurrence";
  options.push_back(count);
  return options;
}

template <class NgramMetric>
MetricEntry ngram_entry(std::string name) {
  return entry_of(std::move(name), ngram_options(),
                  [](std::string full, TokenRules rules, const MetricOptionValues& values) {
                    const GramCount count =
                        values.text("count") == "types" ? GramCount::types : GramCount::tokens;
                    return std::make_shared<NgramMetric>(std::move(full), std::move(rules), count,
                                                         no_words_rule(values));
                  });
}

/// Punctuation is no word where words are counted or looked for.
Options without_punctuation() {
  Options options = token_options();
  for (MetricOption& option : options) {
    if (option.name == "punctuation") option.default_value = "drop";
  }
  return options;
}

}  // namespace

MetricEntry coverage_entry() { return fragment_entry("coverage", FragmentValue::coverage); }
MetricEntry density_entry() { return fragment_entry("density", FragmentValue::density); }
MetricEntry compression_entry() {
  return fragment_entry("compression", FragmentValue::compression);
}
MetricEntry novel_ngrams_entry() { return ngram_entry<NovelNgrams>("novel-ngrams"); }
MetricEntry repetition_entry() { return ngram_entry<Repetition>("repetition"); }

MetricEntry length_entry() {
  return entry_of("length", without_punctuation(),
                  [](std::string full, TokenRules rules, const MetricOptionValues&) {
                    return std::make_shared<LengthMetric>(std::move(full), std::move(rules));
                  });
}

MetricEntry query_coverage_entry() {
  Options options = without_punctuation();
  std::erase_if(options, [](const MetricOption& option) { return option.name == "case"; });
  options.push_back(flag_option("stem", true, "NLTK's Porter stemmer for words of a-z and 0-9"));
  MetricEntry entry;
  entry.name = "query-coverage";
  entry.options = options;
  entry.make = [options](const MetricOptionValues& values) -> Made {
    Result<std::shared_ptr<const Segmenter>> segmenter = make_segmenter(values);
    if (!segmenter) return segmenter.error();
    TokenRules rules{*std::move(segmenter), true, values.text("punctuation") == "drop"};
    return std::shared_ptr<const Metric>(std::make_shared<QueryCoverage>(
        name_with_options("query-coverage", options, values), std::move(rules), values.on("stem")));
  };
  return entry;
}

}  // namespace qfs::metrics

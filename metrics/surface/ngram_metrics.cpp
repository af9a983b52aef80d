#include "metrics/surface/ngram_metrics.h"

namespace qfs::metrics {
namespace {

std::vector<std::string> numbered(const std::string& name) {
  std::vector<std::string> names;
  for (size_t n = 1; n <= kLongestShareGram; ++n) names.push_back(name + std::to_string(n));
  return names;
}

}  // namespace

std::string_view NgramShareMetric::note(const ScoreItem& item) const {
  if (TokenEncoder(rules()).encode(item.candidate)->size() >= kLongestShareGram) return {};
  return "the prediction has fewer than four words; its share of n-grams that it is too short for "
         "counts 0";
}

std::string NgramShareMetric::signature_of(std::string_view metric) const {
  return std::string(metric) + "|n:1-4|count:" + (count_ == GramCount::types ? "types" : "tokens") +
         "|" + rules().signature() + "|empty:" + std::string(to_string(empty_)) + "|agg:mean|v:1";
}

Result<Statistics> NgramShareMetric::row(const ScoreItem&, const Words& words,
                                         const TokenEncoder&) const {
  if (words.candidate.empty() && empty_ == NoWords::error) return no_words_error(name());
  const GramShares values = shares(words, count_);
  return Statistics(values.begin(), values.end());
}

std::string_view NovelNgrams::doc() const {
  return "Shares of the prediction's n-grams (n = 1 to 4) that the document does not have";
}
std::vector<std::string> NovelNgrams::columns() const { return numbered("novel"); }
GramShares NovelNgrams::shares(const Words& words, GramCount count) const {
  return novel_gram_shares(words.candidate, words.document, count);
}

std::string_view Repetition::doc() const {
  return "Shares of the prediction's n-grams (n = 1 to 4) that it has more than once";
}
std::vector<std::string> Repetition::columns() const { return numbered("repeated"); }
GramShares Repetition::shares(const Words& words, GramCount count) const {
  return repeated_gram_shares(words.candidate, count);
}

}  // namespace qfs::metrics

#include "metrics/surface/fragment_metric.h"

#include "metrics/surface/fragments.h"

namespace qfs::metrics {
namespace {

std::string_view to_string(FragmentValue value) {
  switch (value) {
    case FragmentValue::coverage:
      return "coverage";
    case FragmentValue::density:
      return "density";
    case FragmentValue::compression:
      break;
  }
  return "compression";
}

}  // namespace

std::string_view FragmentMetric::doc() const {
  switch (value_) {
    case FragmentValue::coverage:
      return "Share of the prediction's words in extractive fragments of the document (Newsroom)";
    case FragmentValue::density:
      return "Mean length of the document fragment that a prediction's word is in (Newsroom)";
    case FragmentValue::compression:
      break;
  }
  return "Words of the document by words of the prediction (Newsroom)";
}

std::vector<std::string> FragmentMetric::columns() const {
  return {std::string(to_string(value_))};
}

std::string FragmentMetric::signature() const {
  return std::string(to_string(value_)) + "|def:newsroom-fragments|" + rules().signature() +
         "|empty:" + std::string(metrics::to_string(empty_)) + "|agg:mean|v:1";
}

std::string_view FragmentMetric::note(const ScoreItem& item) const {
  if (!TokenEncoder(rules()).encode(item.candidate)->empty()) return {};
  return "the prediction has no word and counts 0, as in Newsroom; empty=error refuses it";
}

Result<Statistics> FragmentMetric::row(const ScoreItem&, const Words& words,
                                       const TokenEncoder&) const {
  if (words.candidate.empty()) {
    if (empty_ == NoWords::error) return no_words_error(name());
    return Statistics{0};
  }
  const auto length = static_cast<double>(words.candidate.size());
  if (value_ == FragmentValue::compression) {
    return Statistics{static_cast<double>(words.document.size()) / length};
  }
  double sum = 0;
  for (const Fragment& fragment : extractive_fragments(words.candidate, words.document)) {
    const auto words_in = static_cast<double>(fragment.length);
    sum += value_ == FragmentValue::density ? words_in * words_in : words_in;
  }
  return Statistics{sum / length};
}

}  // namespace qfs::metrics

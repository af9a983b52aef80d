#include "metrics/surface/query_coverage_metric.h"

#include <algorithm>

#include "metrics/surface/query_terms.h"

namespace qfs::metrics {

std::string_view QueryCoverage::doc() const {
  return "Share of the query's content terms that the prediction has";
}

std::string QueryCoverage::signature() const {
  return "query-coverage|" + rules().signature() +
         "|stop:qfs-en-zh-1|stem:" + (stem_ ? "porter-nltk" : "none") + "|count:types|agg:mean|v:1";
}

Result<Statistics> QueryCoverage::row(const ScoreItem&, const Words& words,
                                      const TokenEncoder& encoder) const {
  std::vector<std::string_view> query;
  for (WordNumber number : words.query) query.push_back(encoder.word(number));
  const std::set<std::string> terms = content_terms(query, stem_);
  std::set<std::string> said;
  for (WordNumber number : words.candidate) said.insert(term_form(encoder.word(number), stem_));
  const auto found =
      std::ranges::count_if(terms, [&](const std::string& term) { return said.contains(term); });
  return Statistics{static_cast<double>(found) / static_cast<double>(terms.size())};
}

}  // namespace qfs::metrics

#include "harness/score/rouge_tries.h"

#include <memory>

#include "metrics/punkt/punkt_files.h"
#include "metrics/rouge/rouge_variants.h"

namespace qfs::score {

using metrics::PunktRules;
using metrics::SentenceSplit;

Result<MatchTries> rouge_tries(std::span<const ScoreItem> items, unsigned threads) {
  MatchTries tries;
  std::vector<SentenceSplit> splits(1);  // lines
  const auto model = metrics::load_punkt("");
  if (!model) {
    tries.not_tried.emplace_back("rouge:split=punkt", model.error().to_string());
  } else {
    for (PunktRules rules : {PunktRules::nltk_3_6, PunktRules::nltk_3_9, PunktRules::nltk_3_10}) {
      const auto punkt = std::make_shared<metrics::PunktSplitter>(*model, rules);
      for (bool newlines : {false, true}) splits.push_back({punkt, newlines, {}});
    }
  }
  auto variants = metrics::rouge_variants(items, splits, threads);
  if (!variants) return variants.error();
  for (metrics::RougeVariant& variant : *variants) {
    tries.tried.emplace_back(std::move(variant.name), std::move(variant.values));
  }
  return tries;
}

}  // namespace qfs::score

// oracle: greedy extraction towards the references, an upper bound for extractive methods under the
// same word limit (Nallapati et al. 2017, "SummaRuNNer", section 3, with F instead of recall).
//
// In each round the sentence is added that raises rouge1.f + rouge2.f of the whole summary most,
// both in the profile rouge_score-0.1.2 with stemming and, as there, each with its best reference;
// the earliest one on ties. In Chinese the same is counted over ICU's words (terms.h). It stops
// when no sentence that fits raises it. A sentence longer than the word limit is considered with
// its first words only.
#include <algorithm>

#include "methods/extractive/selectors.h"
#include "methods/extractive/word_limit.h"
#include "methods/models/retrieval/terms.h"
#include "metrics/rouge/rouge_scorer.h"

namespace qfs::extractive {
namespace {

using metrics::EncodedText;
using metrics::PreparedReference;
using metrics::TokenId;

class Oracle final : public retrieval::Selector {
 public:
  Oracle(int64_t max_words, std::optional<int64_t> max_sentences)
      : max_words_(max_words), max_sentences_(max_sentences) {}

  Status prepare(std::span<const retrieval::Passage> passages, retrieval::Script script) override {
    script_ = script;
    tokens_.clear();
    words_.clear();
    for (const retrieval::Passage& passage : passages) {
      const std::string_view text = first_words(passage.text, max_words_, script);
      Result<std::vector<TokenId>> tokens = terms_.encode(text, script);
      if (!tokens.ok()) return tokens.error();
      tokens_.push_back(*std::move(tokens));
      words_.push_back(count_words(text, script));
    }
    return {};
  }

  Result<std::vector<size_t>> select(const Example& example) override {
    if (example.references.empty()) {
      return invalid_argument("the oracle reads references, example '" + example.key +
                              "' has none");
    }
    references_.resize(std::max(references_.size(), example.references.size()));
    reference_count_ = example.references.size();
    for (size_t i = 0; i < reference_count_; ++i) {
      Result<std::vector<TokenId>> tokens = terms_.encode(example.references[i], script_);
      if (!tokens.ok()) return tokens.error();
      const size_t count = tokens->size();
      references_[i].assign(EncodedText{*std::move(tokens), {count}});
    }
    return search();
  }

 private:
  /// rouge1.f + rouge2.f of a summary, each against its best reference.
  double score(std::span<const TokenId> summary) {
    double rouge1 = 0;
    double rouge2 = 0;
    for (size_t i = 0; i < reference_count_; ++i) {
      rouge1 = std::max(rouge1, references_[i].rouge1(summary).f);
      rouge2 = std::max(rouge2, references_[i].rouge2(summary).f);
    }
    return rouge1 + rouge2;
  }

  /// The summary of `chosen` (ascending) and `added`, in document order.
  std::span<const TokenId> summary_with(const std::vector<size_t>& chosen, size_t added) {
    summary_.clear();
    const auto append = [&](size_t i) {
      summary_.insert(summary_.end(), tokens_[i].begin(), tokens_[i].end());
    };
    const auto later = std::lower_bound(chosen.begin(), chosen.end(), added);
    std::for_each(chosen.begin(), later, append);
    append(added);
    std::for_each(later, chosen.end(), append);
    return summary_;
  }

  std::vector<size_t> search() {
    // A sentence that shares no word with any reference can only lower both scores.
    std::vector<size_t> open;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (score(tokens_[i]) > 0) open.push_back(i);
    }
    std::vector<size_t> chosen;
    double best_score = 0;
    int64_t words_left = max_words_;
    while (!max_sentences_ || static_cast<int64_t>(chosen.size()) < *max_sentences_) {
      const size_t none = tokens_.size();
      size_t best = none;
      for (size_t i : open) {
        if (words_[i] > words_left || std::binary_search(chosen.begin(), chosen.end(), i)) continue;
        const double candidate = score(summary_with(chosen, i));
        if (candidate <= best_score) continue;
        best_score = candidate;
        best = i;
      }
      if (best == none) break;
      chosen.insert(std::lower_bound(chosen.begin(), chosen.end(), best), best);
      words_left -= words_[best];
    }
    return chosen;
  }

  int64_t max_words_;
  std::optional<int64_t> max_sentences_;
  retrieval::Terms terms_{true};
  retrieval::Script script_ = retrieval::Script::latin;
  std::vector<std::vector<TokenId>> tokens_;
  std::vector<int64_t> words_;
  std::vector<PreparedReference> references_;
  size_t reference_count_ = 0;
  std::vector<TokenId> summary_;
};

}  // namespace

std::unique_ptr<retrieval::Selector> make_oracle_selector(const SessionRequest& request) {
  return std::make_unique<Oracle>(request.params.get<int64_t>("max_words"),
                                  request.params.find<int64_t>("max_sentences"));
}

}  // namespace qfs::extractive

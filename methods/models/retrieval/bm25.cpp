#include "methods/models/retrieval/bm25.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "harness/api/param_specs.h"
#include "methods/models/retrieval/terms.h"

namespace qfs::retrieval {
namespace {

using metrics::TokenId;

class Bm25 final : public Selector {
 public:
  Bm25(double k1, double b) : k1_(k1), b_(b) {}

  Status prepare(std::span<const Passage> passages, Script script) override {
    script_ = script;
    postings_.clear();
    lengths_.clear();
    for (const Passage& passage : passages) {
      if (Status status = add(passage); !status.ok()) return status;
    }
    const double total = std::accumulate(lengths_.begin(), lengths_.end(), 0.0);
    mean_length_ = lengths_.empty() ? 0 : total / static_cast<double>(lengths_.size());
    return {};
  }

  Result<std::vector<size_t>> select(const Example& example) override {
    Result<std::vector<TokenId>> terms = terms_.encode(example.query, script_);
    if (!terms.ok()) return terms.error();
    std::sort(terms->begin(), terms->end());
    terms->erase(std::unique(terms->begin(), terms->end()), terms->end());
    std::vector<double> scores(lengths_.size(), 0);
    for (TokenId term : *terms) add_scores(term, scores);

    std::vector<size_t> order(scores.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return scores[a] > scores[b]; });
    return order;
  }

 private:
  struct Posting {
    size_t passage = 0;
    double frequency = 0;
  };

  Status add(const Passage& passage) {
    std::map<TokenId, double> frequencies;
    double length = 0;
    for (std::string_view text :
         {std::string_view(passage.speaker), std::string_view(passage.text)}) {
      const Result<std::vector<TokenId>> terms = terms_.encode(text, script_);
      if (!terms.ok()) return terms.error();
      for (TokenId term : *terms) {
        ++frequencies[term];
        ++length;
      }
    }
    for (const auto& [term, frequency] : frequencies) {
      postings_[term].push_back({lengths_.size(), frequency});
    }
    lengths_.push_back(length);
    return {};
  }

  void add_scores(TokenId term, std::vector<double>& scores) const {
    const auto found = postings_.find(term);
    if (found == postings_.end()) return;
    const auto df = static_cast<double>(found->second.size());
    const auto n = static_cast<double>(lengths_.size());
    const double idf = std::log(1 + (n - df + 0.5) / (df + 0.5));
    for (const Posting& posting : found->second) {
      const double norm = 1 - b_ + b_ * lengths_[posting.passage] / mean_length_;
      scores[posting.passage] += idf * posting.frequency / (posting.frequency + k1_ * norm);
    }
  }

  double k1_;
  double b_;
  Terms terms_{true};
  Script script_ = Script::latin;
  std::map<TokenId, std::vector<Posting>> postings_;
  std::vector<double> lengths_;
  double mean_length_ = 0;
};

}  // namespace

std::vector<ParamSpec> bm25_params() {
  constexpr const char* kSource = "Robertson & Zaragoza 2009; default as in Lucene";
  return {from_source(
              with_default(real_param("k1", "", 0, 1000, "how fast repeated terms saturate"), 1.2),
              kSource),
          from_source(with_default(
                          real_param("b", "", 0, 1, "how much long passages are discounted"), 0.75),
                      kSource)};
}

std::unique_ptr<Selector> make_bm25_selector(const SessionRequest& request) {
  return std::make_unique<Bm25>(request.params.get<double>("k1"), request.params.get<double>("b"));
}

}  // namespace qfs::retrieval

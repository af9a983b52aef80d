// textrank: sentences ranked by weighted PageRank over their similarity (Mihalcea & Tarau 2004,
// "TextRank: Bringing Order into Texts", sections 2 and 4). The query is not read.
//
//   similarity(i, j) = |distinct words in both| / (ln |Si| + ln |Sj|)
//   WS(i) = (1 - d) + d * sum over j of similarity(j, i) / (sum over k of similarity(j, k)) * WS(j)
//
// |S| counts a sentence's words; two sentences of one word have no similarity (the denominator is
// 0). Scores start at 1; iteration ends when no score moves by more than `tolerance`.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "methods/extractive/selectors.h"
#include "methods/models/retrieval/terms.h"

namespace qfs::extractive {
namespace {

using metrics::TokenId;

/// About 800 MB of edges; a document beyond that is meant to be read with a local_context.
constexpr size_t kMaxEdges = size_t{50} << 20;

/// The similarity graph in compressed rows.
struct Graph {
  std::vector<size_t> row_begin = {0};
  std::vector<uint32_t> neighbours;
  std::vector<double> weights;
  std::vector<double> weight_sums;
};

class TextRank final : public retrieval::Selector {
 public:
  TextRank(double damping, double tolerance, int64_t max_iterations)
      : damping_(damping), tolerance_(tolerance), max_iterations_(max_iterations) {}

  Status prepare(std::span<const retrieval::Passage> passages, retrieval::Script script) override {
    Graph graph;
    if (Status status = build(passages, script, graph); !status.ok()) return status;
    const std::vector<double> scores = rank(graph);
    order_.resize(scores.size());
    std::iota(order_.begin(), order_.end(), size_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](size_t a, size_t b) { return scores[a] > scores[b]; });
    return {};
  }

  Result<std::vector<size_t>> select(const Example&) override { return order_; }

 private:
  Status build(std::span<const retrieval::Passage> passages, retrieval::Script script,
               Graph& graph) {
    const size_t count = passages.size();
    std::vector<std::vector<TokenId>> words(count);  // distinct words of each sentence
    std::vector<double> log_lengths(count);
    for (size_t i = 0; i < count; ++i) {
      Result<std::vector<TokenId>> terms = terms_.encode(passages[i].text, script);
      if (!terms.ok()) return terms.error();
      words[i] = *std::move(terms);
      log_lengths[i] = words[i].empty() ? 0 : std::log(static_cast<double>(words[i].size()));
      std::sort(words[i].begin(), words[i].end());
      words[i].erase(std::unique(words[i].begin(), words[i].end()), words[i].end());
    }
    std::vector<std::vector<uint32_t>> sentences_with(terms_.size());
    for (size_t i = 0; i < count; ++i) {
      for (TokenId word : words[i]) sentences_with[word].push_back(static_cast<uint32_t>(i));
    }
    std::vector<uint32_t> shared(count, 0);
    for (size_t i = 0; i < count; ++i) {
      std::fill(shared.begin(), shared.end(), 0);
      for (TokenId word : words[i]) {
        for (uint32_t j : sentences_with[word]) ++shared[j];
      }
      double sum = 0;
      for (size_t j = 0; j < count; ++j) {
        const double denominator = log_lengths[i] + log_lengths[j];
        if (j == i || shared[j] == 0 || denominator <= 0) continue;
        graph.neighbours.push_back(static_cast<uint32_t>(j));
        graph.weights.push_back(static_cast<double>(shared[j]) / denominator);
        sum += graph.weights.back();
      }
      graph.row_begin.push_back(graph.neighbours.size());
      graph.weight_sums.push_back(sum);
      if (graph.neighbours.size() > kMaxEdges) {
        return invalid_argument("textrank compares every pair of sentences; the " +
                                std::to_string(count) +
                                " sentences of this document are too many: set local_context");
      }
    }
    return {};
  }

  /// Similarity is symmetric, so row i also lists who points at i.
  std::vector<double> rank(const Graph& graph) const {
    const size_t count = graph.weight_sums.size();
    std::vector<double> scores(count, 1);
    std::vector<double> next(count);
    for (int64_t iteration = 0; iteration < max_iterations_; ++iteration) {
      double change = 0;
      for (size_t i = 0; i < count; ++i) {
        double sum = 0;
        for (size_t e = graph.row_begin[i]; e < graph.row_begin[i + 1]; ++e) {
          const uint32_t j = graph.neighbours[e];
          sum += graph.weights[e] / graph.weight_sums[j] * scores[j];
        }
        next[i] = 1 - damping_ + damping_ * sum;
        change = std::max(change, std::abs(next[i] - scores[i]));
      }
      scores.swap(next);
      if (change <= tolerance_) break;
    }
    return scores;
  }

  double damping_;
  double tolerance_;
  int64_t max_iterations_;
  retrieval::Terms terms_{false};
  std::vector<size_t> order_;
};

}  // namespace

std::unique_ptr<retrieval::Selector> make_textrank_selector(const SessionRequest& request) {
  const Params& params = request.params;
  return std::make_unique<TextRank>(params.get<double>("damping"), params.get<double>("tolerance"),
                                    params.get<int64_t>("max_iterations"));
}

}  // namespace qfs::extractive

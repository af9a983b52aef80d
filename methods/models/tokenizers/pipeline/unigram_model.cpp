#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "methods/models/tokenizers/pipeline/byte_trie.h"
#include "methods/models/tokenizers/pipeline/code_points.h"
#include "methods/models/tokenizers/pipeline/model.h"

namespace qfs::tokenizers {

namespace {

constexpr double kUnknownPenalty = 10;

/// The most probable pieces of a word (Kudo 2018; the forward pass of SentencePiece's
/// EncodeOptimized). Neighbouring unknown code points are one token.
class Unigram final : public Model {
 public:
  Unigram(VocabularyPtr vocabulary, std::vector<double> scores, const UnigramOptions& options)
      : vocabulary_(std::move(vocabulary)), scores_(std::move(scores)), options_(options) {
    double lowest = std::numeric_limits<double>::infinity();
    for (int32_t id = 0; id < vocabulary_->size(); ++id) {
      trie_.insert(vocabulary_->piece(id), id);
      lowest = std::min(lowest, scores_[static_cast<size_t>(id)]);
    }
    unknown_score_ = lowest - kUnknownPenalty;
    for (size_t byte = 0; byte < 256; ++byte) {
      char text[8];
      std::snprintf(text, sizeof(text), "<0x%02X>", static_cast<unsigned>(byte));
      byte_ids_[byte] = vocabulary_->find(text);
    }
  }

  const Vocabulary& vocabulary() const override { return *vocabulary_; }

  void tokenize(std::string_view word, std::vector<Token>& out) const override {
    std::vector<Node> best(word.size() + 1);
    for (size_t begin = 0; begin < word.size();) {
      size_t after = begin;
      next_code_point(word, after);
      bool single = false;
      trie_.prefixes(word.substr(begin), [&](size_t length, int32_t id) {
        best[begin + length].offer(best[begin].score + scores_[static_cast<size_t>(id)], begin, id);
        single = single || begin + length == after;
      });
      if (!single) best[after].offer(best[begin].score + unknown_score_, begin, options_.unk_id);
      begin = after;
    }
    const size_t first = out.size();
    size_t end = word.size();
    while (end > 0) {
      const Node& node = best[end];
      size_t begin = node.begin;
      if (node.id == options_.unk_id) {
        while (begin > 0 && best[begin].id == options_.unk_id) begin = best[begin].begin;
        add_unknown(word, begin, end, out);
      } else {
        out.push_back({node.id, static_cast<int64_t>(begin), static_cast<int64_t>(end)});
      }
      end = begin;
    }
    std::reverse(out.begin() + static_cast<std::ptrdiff_t>(first), out.end());
  }

 private:
  struct Node {
    double score = 0;
    size_t begin = 0;
    int32_t id = -1;

    void offer(double candidate, size_t from, int32_t piece) {
      if (id >= 0 && candidate <= score) return;
      score = candidate;
      begin = from;
      id = piece;
    }
  };

  /// A stretch of unknown code points, appended backwards: a piece after all, bytes, or unknown.
  void add_unknown(std::string_view word, size_t begin, size_t end, std::vector<Token>& out) const {
    const std::string_view text = word.substr(begin, end - begin);
    const auto from = static_cast<int64_t>(begin);
    const auto to = static_cast<int64_t>(end);
    if (const int32_t id = vocabulary_->find(text); id >= 0) {
      out.push_back({id, from, to});
      return;
    }
    const auto known = [&](char c) { return byte_ids_[static_cast<uint8_t>(c)] >= 0; };
    if (!options_.byte_fallback || !std::all_of(text.begin(), text.end(), known)) {
      out.push_back({options_.unk_id, from, to});
      return;
    }
    for (size_t i = text.size(); i-- > 0;) {
      const int64_t at = from + static_cast<int64_t>(i);
      out.push_back({byte_ids_[static_cast<uint8_t>(text[i])], at, at + 1});
    }
  }

  VocabularyPtr vocabulary_;
  std::vector<double> scores_;
  UnigramOptions options_;
  ByteTrie trie_;
  double unknown_score_ = 0;
  std::array<int32_t, 256> byte_ids_{};
};

}  // namespace

Result<ModelPtr> make_unigram(VocabularyPtr vocabulary, std::vector<double> scores,
                              const UnigramOptions& options) {
  if (static_cast<int64_t>(scores.size()) != vocabulary->size() || scores.empty()) {
    return data_error("a Unigram vocabulary of " + std::to_string(vocabulary->size()) +
                      " pieces has " + std::to_string(scores.size()) + " scores");
  }
  for (const double score : scores) {
    if (!std::isfinite(score)) return data_error("a score of the Unigram vocabulary is not finite");
  }
  if (!vocabulary->has(options.unk_id)) {
    return data_error("the unknown token " + std::to_string(options.unk_id) +
                      " is not in the vocabulary");
  }
  return ModelPtr(
      std::make_shared<const Unigram>(std::move(vocabulary), std::move(scores), options));
}

}  // namespace qfs::tokenizers

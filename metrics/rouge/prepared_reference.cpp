#include "metrics/rouge/prepared_reference.h"

#include <algorithm>
#include <bit>

namespace qfs::metrics {
namespace {

int64_t ssize_of(size_t size) { return static_cast<int64_t>(size); }

}  // namespace

void PreparedReference::assign(const EncodedText& reference) {
  for (TokenId token : reference_.tokens) local_of_[token] = 0;
  reference_ = reference;
  types_ = 0;
  local_.clear();
  for (TokenId token : reference_.tokens) {
    if (token >= local_of_.size()) local_of_.resize(size_t{token} + 1, 0);
    if (local_of_[token] == 0) local_of_[token] = ++types_;
    local_.push_back(local_of_[token] - 1);
  }
  overlap_.set_reference(local_, types_);
}

std::span<const LocalId> PreparedReference::to_local(std::span<const TokenId> candidate) {
  candidate_.clear();
  for (TokenId token : candidate) {
    const LocalId local = token < local_of_.size() ? local_of_[token] : 0;
    candidate_.push_back(local == 0 ? types_ : local - 1);
  }
  return candidate_;
}

Prf PreparedReference::unigram_score(std::span<const LocalId> candidate) {
  return make_prf(overlap_.unigrams(candidate), ssize_of(candidate.size()),
                  ssize_of(local_.size()));
}

Prf PreparedReference::bigram_score(std::span<const LocalId> candidate) {
  const auto bigrams = [](size_t tokens) { return ssize_of(tokens < 2 ? 0 : tokens - 1); };
  return make_prf(overlap_.bigrams(candidate), bigrams(candidate.size()), bigrams(local_.size()));
}

Prf PreparedReference::sentence_lcs(std::span<const LocalId> candidate) {
  lcs_.set_reference(local_, types_);
  return make_prf(lcs_.length(candidate), ssize_of(candidate.size()), ssize_of(local_.size()));
}

Prf PreparedReference::summary_lcs(const EncodedText& candidate, std::span<const LocalId> local) {
  remaining_.assign(size_t{types_} + 1, 0);
  for (LocalId token : local) ++remaining_[token];
  int64_t hits = 0;
  for (size_t r = 0; r < reference_.lines(); ++r) {
    const size_t begin = r == 0 ? 0 : reference_.line_ends[r - 1];
    const size_t length = reference_.line_ends[r] - begin;
    if (length == 0) continue;
    lcs_.set_reference(std::span<const LocalId>(local_).subspan(begin, length), types_);
    marks_.assign(lcs_.words(), 0);
    for (size_t c = 0; c < candidate.lines(); ++c) {
      const size_t from = c == 0 ? 0 : candidate.line_ends[c - 1];
      lcs_.mark(local.subspan(from, candidate.line_ends[c] - from), marks_);
    }
    // A hit uses up one occurrence in the candidate. rouge_score counts down the reference as well,
    // which never binds: a reference token is marked at most once.
    for (size_t word = 0; word < marks_.size(); ++word) {
      for (uint64_t bits = marks_[word]; bits != 0; bits &= bits - 1) {
        const size_t row = word * 64 + static_cast<size_t>(std::countr_zero(bits));
        uint32_t& left = remaining_[local_[begin + row]];
        if (left == 0) continue;
        --left;
        ++hits;
      }
    }
  }
  return make_prf(hits, ssize_of(local.size()), ssize_of(local_.size()));
}

Prf PreparedReference::rouge1(std::span<const TokenId> candidate) {
  return unigram_score(to_local(candidate));
}

Prf PreparedReference::rouge2(std::span<const TokenId> candidate) {
  return bigram_score(to_local(candidate));
}

RougeScores PreparedReference::score(const EncodedText& candidate) {
  const std::span<const LocalId> local = to_local(candidate.tokens);
  RougeScores scores;
  scores.rouge1 = unigram_score(local);
  scores.rouge2 = bigram_score(local);
  scores.rougeL = sentence_lcs(local);
  scores.rougeLsum = summary_lcs(candidate, local);
  return scores;
}

}  // namespace qfs::metrics

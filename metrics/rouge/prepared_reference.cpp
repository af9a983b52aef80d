#include "metrics/rouge/prepared_reference.h"

#include <algorithm>
#include <bit>

namespace qfs::metrics {
namespace {

/// Above every local id.
constexpr LocalId kAbsent = ~LocalId{0};

int64_t ssize_of(size_t size) { return static_cast<int64_t>(size); }

}  // namespace

void PreparedReference::assign(const EncodedText& reference) {
  for (TokenId token : reference_.tokens) local_of_[token] = kAbsent;
  reference_ = reference;
  types_ = 0;
  TokenId largest = 0;
  for (TokenId token : reference_.tokens) largest = std::max(largest, token);
  if (largest >= local_of_.size()) local_of_.resize(size_t{largest} + 1, kAbsent);
  local_.resize(reference_.tokens.size());
  for (size_t i = 0; i < local_.size(); ++i) {
    LocalId& local = local_of_[reference_.tokens[i]];
    local = std::min(local, types_);
    types_ += local == types_;
    local_[i] = local;
  }
  overlap_.set_reference(local_, types_);
}

std::span<const LocalId> PreparedReference::to_local(std::span<const TokenId> candidate) {
  candidate_.resize(candidate.size());
  const size_t known = local_of_.size();
  for (size_t i = 0; i < candidate.size(); ++i) {
    candidate_[i] = candidate[i] < known ? std::min(local_of_[candidate[i]], types_) : types_;
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
  // Tokens that the reference does not have are on no common subsequence.
  shared_.resize(candidate.size());
  size_t shared = 0;
  for (LocalId token : candidate) {
    shared_[shared] = token;
    shared += token != types_;
  }
  return make_prf(lcs_.length(std::span<const LocalId>(shared_).first(shared)),
                  ssize_of(candidate.size()), ssize_of(local_.size()));
}

void PreparedReference::mark_long(std::span<const LocalId> sentence, const EncodedText& candidate,
                                  std::span<const LocalId> local) {
  lcs_.set_reference(sentence, types_);
  marks_.assign(lcs_.words(), 0);
  for (size_t c = 0; c < candidate.lines(); ++c) {
    const size_t from = c == 0 ? 0 : candidate.line_ends[c - 1];
    lcs_.mark(local.subspan(from, candidate.line_ends[c] - from), marks_);
  }
}

Prf PreparedReference::summary_lcs(const EncodedText& candidate, std::span<const LocalId> local) {
  remaining_.assign(size_t{types_} + 1, 0);
  for (LocalId token : local) ++remaining_[token];
  short_marks_.set_candidate(local, candidate.line_ends, types_);
  int64_t hits = 0;
  for (size_t r = 0; r < reference_.lines(); ++r) {
    const size_t begin = r == 0 ? 0 : reference_.line_ends[r - 1];
    const size_t length = reference_.line_ends[r] - begin;
    if (length == 0) continue;
    const auto sentence = std::span<const LocalId>(local_).subspan(begin, length);
    if (length <= UnionMarks::kLongestSentence) {
      marks_.assign(1, short_marks_.mark(sentence));
    } else {
      mark_long(sentence, candidate, local);
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

#include "metrics/rouge155/gram_matcher.h"

#include <algorithm>

namespace qfs::metrics::rouge155 {
namespace {

uint64_t pack(uint32_t first, uint32_t second) { return uint64_t{first} << 32U | second; }

/// Where the partners of position `i` end.
size_t window_end(size_t tokens, size_t i, int64_t gap) {
  if (gap < 0 || static_cast<uint64_t>(gap) >= tokens) return tokens;
  return std::min(tokens, i + static_cast<size_t>(gap) + 2);
}

/// Calls `visit(key)` for every skip-gram of `text`; a token of `types` has none.
template <class Visit>
void for_each_skip_gram(LocalSpan text, LocalId types, int64_t gap, bool unigrams, Visit&& visit) {
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] == types) continue;
    if (unigrams) visit(pack(text[i], types));
    const size_t end = window_end(text.size(), i, gap);
    for (size_t j = i + 1; j < end; ++j) {
      if (text[j] != types) visit(pack(text[i], text[j]));
    }
  }
}

}  // namespace

int64_t ngram_count(size_t tokens, int64_t n) {
  return std::max<int64_t>(static_cast<int64_t>(tokens) - n + 1, 0);
}

int64_t skip_gram_count(size_t tokens, int64_t gap, bool unigrams) {
  int64_t count = 0;
  for (size_t i = 0; i + 1 < tokens; ++i) {
    count += static_cast<int64_t>(window_end(tokens, i, gap) - (i + 1)) + (unigrams ? 1 : 0);
  }
  return count;
}

int64_t GramMatcher::take(uint32_t id) {
  if (left_[id] == 0) return 0;
  --left_[id];
  return 1;
}

std::span<const int64_t> GramMatcher::ngrams(LocalSpan reference, LocalSpan candidate,
                                             LocalId types, int64_t max_n) {
  hits_.assign(static_cast<size_t>(max_n), 0);
  reference_ids_.assign(reference.begin(), reference.end());
  candidate_ids_.assign(candidate.begin(), candidate.end());
  for (uint32_t& id : candidate_ids_) id = id == types ? GramTable::kAbsent : id;
  for (size_t n = 1; n <= hits_.size() && n <= std::min(reference.size(), candidate.size()); ++n) {
    left_.assign(n == 1 ? types : reference.size(), 0);
    if (n > 1) table_.clear(reference.size());
    for (size_t i = 0; i + n <= reference.size(); ++i) {
      if (n > 1) reference_ids_[i] = table_.insert(pack(reference_ids_[i], reference[i + n - 1]));
      ++left_[reference_ids_[i]];
    }
    int64_t& hits = hits_[n - 1];
    for (size_t i = 0; i + n <= candidate.size(); ++i) {
      uint32_t& id = candidate_ids_[i];
      if (id == GramTable::kAbsent) continue;
      if (n > 1) id = table_.find(pack(id, candidate[i + n - 1]));
      if (id != GramTable::kAbsent) hits += take(id);
    }
  }
  return hits_;
}

int64_t GramMatcher::skip_grams(LocalSpan reference, LocalSpan candidate, LocalId types,
                                int64_t gap, bool unigrams) {
  table_.clear(reference.size());
  left_.clear();
  for_each_skip_gram(reference, types, gap, unigrams, [&](uint64_t key) {
    const uint32_t id = table_.insert(key);
    if (id == left_.size()) left_.push_back(0);
    ++left_[id];
  });
  int64_t hits = 0;
  for_each_skip_gram(candidate, types, gap, unigrams, [&](uint64_t key) {
    const uint32_t id = table_.find(key);
    if (id != GramTable::kAbsent) hits += take(id);
  });
  return hits;
}

}  // namespace qfs::metrics::rouge155

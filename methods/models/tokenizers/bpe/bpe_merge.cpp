#include "methods/models/tokenizers/bpe/bpe_merge.h"

#include <algorithm>
#include <array>
#include <limits>
#include <queue>

namespace qfs::tokenizers {

namespace {

// Up to this many symbols looking at every pair is faster than a heap.
constexpr size_t kFewSymbols = 48;
constexpr int32_t kNever = std::numeric_limits<int32_t>::max();

void merge_few(const MergeTable& merges, std::vector<BpeSymbol>& symbols) {
  std::array<int32_t, kFewSymbols> ranks;
  std::array<int32_t, kFewSymbols> merged;
  const auto look_up = [&](size_t left) {
    const Merge merge = merges.find(symbols[left].id, symbols[left + 1].id);
    ranks[left] = merge.rank < 0 ? kNever : merge.rank;
    merged[left] = merge.id;
  };
  size_t count = symbols.size();
  for (size_t i = 0; i + 1 < count; ++i) look_up(i);
  while (count > 1) {
    const auto best = std::min_element(ranks.begin(), ranks.begin() + (count - 1));
    if (*best == kNever) break;
    const auto at = static_cast<size_t>(best - ranks.begin());
    symbols[at].id = merged[at];
    symbols[at].end = symbols[at + 1].end;
    std::copy(symbols.begin() + static_cast<std::ptrdiff_t>(at) + 2,
              symbols.begin() + static_cast<std::ptrdiff_t>(count),
              symbols.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    --count;
    std::copy(ranks.begin() + at + 1, ranks.begin() + count, ranks.begin() + at);
    std::copy(merged.begin() + at + 1, merged.begin() + count, merged.begin() + at);
    if (at > 0) look_up(at - 1);
    if (at + 1 < count) look_up(at);
  }
  symbols.resize(count);
}

struct Candidate {
  int32_t rank;
  int32_t left;  ///< index of the left symbol
  int32_t left_id;
  int32_t right_id;
  int32_t merged_id;

  /// Heap order: smallest rank first, leftmost on ties.
  bool operator<(const Candidate& other) const {
    return rank != other.rank ? rank > other.rank : left > other.left;
  }
};

/// Symbols as a linked list in an array, candidates in a heap.
class LongWord {
 public:
  LongWord(const MergeTable& merges, std::vector<BpeSymbol>& symbols)
      : merges_(merges), symbols_(symbols), next_(symbols.size()), previous_(symbols.size()) {
    for (size_t i = 0; i < symbols.size(); ++i) {
      next_[i] = static_cast<int32_t>(i) + 1;
      previous_[i] = static_cast<int32_t>(i) - 1;
    }
    next_.back() = -1;
  }

  void merge() {
    for (size_t i = 0; i < symbols_.size(); ++i) push(static_cast<int32_t>(i));
    while (!heap_.empty()) {
      const Candidate best = heap_.top();
      heap_.pop();
      const auto left = static_cast<size_t>(best.left);
      if (symbols_[left].id != best.left_id || next_[left] < 0) continue;  // merged away
      const auto right = static_cast<size_t>(next_[left]);
      if (symbols_[right].id != best.right_id) continue;
      symbols_[left].id = best.merged_id;
      symbols_[left].end = symbols_[right].end;
      next_[left] = next_[right];
      symbols_[right].id = -1;
      if (next_[left] >= 0) previous_[static_cast<size_t>(next_[left])] = best.left;
      push(previous_[left]);
      push(best.left);
    }
    std::erase_if(symbols_, [](const BpeSymbol& symbol) { return symbol.id < 0; });
  }

 private:
  void push(int32_t left) {
    if (left < 0) return;
    const auto index = static_cast<size_t>(left);
    if (next_[index] < 0) return;
    const int32_t right_id = symbols_[static_cast<size_t>(next_[index])].id;
    const Merge merge = merges_.find(symbols_[index].id, right_id);
    if (merge.rank >= 0) heap_.push({merge.rank, left, symbols_[index].id, right_id, merge.id});
  }

  const MergeTable& merges_;
  std::vector<BpeSymbol>& symbols_;
  std::vector<int32_t> next_;
  std::vector<int32_t> previous_;
  std::priority_queue<Candidate> heap_;
};

}  // namespace

void merge_symbols(const MergeTable& merges, std::vector<BpeSymbol>& symbols) {
  if (symbols.size() < 2) return;
  if (symbols.size() <= kFewSymbols) return merge_few(merges, symbols);
  LongWord(merges, symbols).merge();
}

}  // namespace qfs::tokenizers

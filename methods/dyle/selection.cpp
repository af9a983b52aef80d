#include "methods/dyle/selection.h"

#include <algorithm>
#include <numeric>

#include "methods/models/ranking/snippets.h"

namespace qfs::dyle {

namespace {

Selection filled(std::vector<int64_t> snippets, const SelectionRule& rule) {
  Selection selection{std::move(snippets), 0};
  if (!rule.copies) return selection;
  while (static_cast<int64_t>(selection.snippets.size()) < rule.k) {
    selection.snippets.push_back(selection.snippets.back());
    ++selection.copies;
  }
  return selection;
}

std::vector<int64_t> first(std::span<const int64_t> list, int64_t most) {
  const auto count = std::min(list.size(), static_cast<size_t>(most));
  return {list.begin(), list.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

Selection best_of(std::span<const float> scores, const SelectionRule& rule) {
  return filled(first(ranking::ranked(scores), rule.k), rule);
}

Selection for_training(std::span<const float> scores, std::span<const int64_t> oracle, bool hybrid,
                       const SelectionRule& rule) {
  if (oracle.empty()) return best_of(scores, rule);
  const int64_t most = std::min(rule.k, static_cast<int64_t>(scores.size()));
  std::vector<int64_t> snippets = first(oracle, most);
  if (hybrid) {
    for (const int64_t i : ranking::ranked(scores)) {
      if (static_cast<int64_t>(snippets.size()) >= most) break;
      if (std::ranges::count(oracle, i) == 0) snippets.push_back(i);
    }
  }
  return filled(std::move(snippets), rule);
}

Selection drawn(int64_t count, Rng rng, const SelectionRule& rule) {
  std::vector<int64_t> all(static_cast<size_t>(count));
  std::iota(all.begin(), all.end(), int64_t{0});
  rng.shuffle(all);
  std::vector<int64_t> some = first(all, rule.k);
  std::ranges::sort(some);
  return filled(std::move(some), rule);
}

Selection first_of(std::span<const int64_t> list, const SelectionRule& rule) {
  return filled(first(list, rule.k), rule);
}

}  // namespace qfs::dyle

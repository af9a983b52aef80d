// Counted n-grams: the distinct n-grams of a sequence of ids, with how often each occurs.
//
// Called by the metrics that compare counts of word or character n-grams of several orders. Sorting
// and merging, so that time is n log n whatever the text. Pure; thread-safe; cannot fail.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace qfs::metrics {

template <size_t kLongest>
struct CountedGram {
  std::array<uint32_t, kLongest> gram{};  ///< n ids, then zeros
  int64_t times = 0;
};

/// Calls `visit` with every n-gram of `ids` in order; n is 1 to kLongest.
template <size_t kLongest, class Visit>
void for_each_gram(std::span<const uint32_t> ids, size_t n, Visit&& visit) {
  std::array<uint32_t, kLongest> gram{};
  for (size_t i = 0; i + n <= ids.size(); ++i) {
    std::copy_n(ids.begin() + static_cast<std::ptrdiff_t>(i), n, gram.begin());
    visit(gram);
  }
}

/// Distinct n-grams in ascending order.
template <size_t kLongest>
std::vector<CountedGram<kLongest>> counted_grams(std::span<const uint32_t> ids, size_t n) {
  std::vector<std::array<uint32_t, kLongest>> grams;
  for_each_gram<kLongest>(ids, n, [&](const auto& gram) { grams.push_back(gram); });
  std::ranges::sort(grams);
  std::vector<CountedGram<kLongest>> counted;
  for (const auto& gram : grams) {
    if (counted.empty() || counted.back().gram != gram) counted.push_back({gram, 0});
    ++counted.back().times;
  }
  return counted;
}

}  // namespace qfs::metrics

// Selection: which K snippets the generator reads, when it learns and when it writes.
//
// Called by dyle's sessions; torch-free. Pure; thread-safe. Source: Mao et al. 2022, section 3.3,
// and the released code, whose choices of order and filling the paper does not state.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/core/rng.h"

namespace qfs::dyle {

struct Selection {
  std::vector<int64_t> snippets;
  /// So many at the end repeat the one before them; their extractor's score is minus infinity, and
  /// the generator reads them as others (profile `released`).
  int64_t copies = 0;
};

struct SelectionRule {
  int64_t k = 5;
  bool copies = false;  ///< fewer than K are filled up
};

/// The K best, best first.
Selection best_of(std::span<const float> scores, const SelectionRule& rule);

/// What the generator learns from: the first K of `oracle` (document order, duplicates stay), then
/// where those are fewer and `hybrid` holds the extractor's best that are none of them. Without an
/// oracle the K best.
Selection for_training(std::span<const float> scores, std::span<const int64_t> oracle, bool hybrid,
                       const SelectionRule& rule);

/// K of `count` snippets, drawn without replacement; in document order.
Selection drawn(int64_t count, Rng rng, const SelectionRule& rule);

/// The first K of a list that is not empty.
Selection first_of(std::span<const int64_t> list, const SelectionRule& rule);

}  // namespace qfs::dyle

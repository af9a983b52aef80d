#include "metrics/text/gram_matcher.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace qfs::metrics {
namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
constexpr size_t kFewestSlots = 64;
constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio

uint64_t key_of(uint32_t beginning, uint32_t last) { return uint64_t{beginning} << 32U | last; }

}  // namespace

void GramMatcher::clear_table(size_t grams) {
  const size_t slots = std::bit_ceil(std::max(kFewestSlots, 2 * grams));
  slots_.assign(slots, {0, kNone});
  shift_ = 64 - static_cast<size_t>(std::countr_zero(slots));
  made_ = 0;
}

inline size_t GramMatcher::slot_of(uint64_t key) const {
  const size_t mask = slots_.size() - 1;
  size_t at = static_cast<size_t>((key ^ key >> 29U) * kOdd >> shift_);
  while (slots_[at].number != kNone && slots_[at].key != key) at = (at + 1) & mask;
  return at;
}

inline uint32_t GramMatcher::number_of(uint64_t key) {
  Slot& slot = slots_[slot_of(key)];
  if (slot.number == kNone) slot = {key, made_++};
  return slot.number;
}

inline uint32_t GramMatcher::known_number(uint64_t key) const {
  return slots_[slot_of(key)].number;
}

void GramMatcher::name_references(std::span<const Ids> references, size_t n) {
  size_t grams = 0;
  for (const Ids& reference : references) grams += reference.size();
  clear_table(grams);
  allowed_.assign(grams, 0);
  times_.assign(grams, 0);
  for (size_t r = 0; r < references.size(); ++r) {
    std::vector<uint32_t>& numbers = references_[r];
    const size_t count = references[r].size() < n ? 0 : references[r].size() - n + 1;
    for (size_t i = 0; i < count; ++i) {
      numbers[i] = number_of(key_of(numbers[i], references[r][i + n - 1]));
      allowed_[numbers[i]] = std::max(allowed_[numbers[i]], ++times_[numbers[i]]);
    }
    if (references.size() > 1) {
      for (size_t i = 0; i < count; ++i) times_[numbers[i]] = 0;
    }
  }
}

int64_t GramMatcher::match_candidate(std::span<const uint32_t> candidate, size_t n) {
  int64_t matches = 0;
  const size_t count = candidate.size() < n ? 0 : candidate.size() - n + 1;
  for (size_t i = 0; i < count; ++i) {
    if (candidate_[i] == kNone) continue;
    const uint32_t number = known_number(key_of(candidate_[i], candidate[i + n - 1]));
    candidate_[i] = number;
    if (number == kNone || allowed_[number] == 0) continue;
    --allowed_[number];
    ++matches;
  }
  return matches;
}

void GramMatcher::match(std::span<const uint32_t> candidate, std::span<const Ids> references,
                        std::span<int64_t> matches) {
  references_.resize(std::max(references_.size(), references.size()));
  for (size_t r = 0; r < references.size(); ++r) references_[r].assign(references[r].size(), 0);
  candidate_.assign(candidate.size(), 0);
  for (size_t n = 1; n <= matches.size(); ++n) {
    name_references(references, n);
    matches[n - 1] = match_candidate(candidate, n);
  }
}

}  // namespace qfs::metrics

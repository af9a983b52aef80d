// GramMatcher: how many n-grams a sequence of ids has in common with others, for n = 1, 2, … in one
// pass each.
//
// Called by bleu and chrf, one matcher an item or a corpus; keeps its tables between calls. An
// n-gram's number is made of the number of its first n-1 ids and its last id (naming as in Karp,
// Miller & Rosenberg 1972), in one open-addressed table, so that an n-gram costs one look-up
// whatever n. A candidate's n-gram whose beginning no reference has is not looked up at all. Its
// slow twin, in the property test, is gram_counts.h. Not thread-safe; cannot fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace qfs::metrics {

class GramMatcher {
 public:
  using Ids = std::vector<uint32_t>;

  /// matches[n-1]: the n-grams of `candidate`, each counted at most as often as the reference that
  /// has it most often does.
  void match(std::span<const uint32_t> candidate, std::span<const Ids> references,
             std::span<int64_t> matches);

 private:
  struct Slot {
    uint64_t key = 0;
    uint32_t number = 0;
  };

  void clear_table(size_t grams);
  size_t slot_of(uint64_t key) const;
  uint32_t number_of(uint64_t key);  ///< made if it is new
  uint32_t known_number(uint64_t key) const;
  /// Names the n-grams of the references and says how often the candidate may have each.
  void name_references(std::span<const Ids> references, size_t n);
  int64_t match_candidate(std::span<const uint32_t> candidate, size_t n);

  std::vector<Slot> slots_;  ///< a power of two, at most half full
  size_t shift_ = 0;         ///< of the hash: its upper bits choose the slot
  uint32_t made_ = 0;
  std::vector<uint32_t> allowed_;                  ///< by number
  std::vector<uint32_t> times_;                    ///< by number, in one reference
  std::vector<std::vector<uint32_t>> references_;  ///< numbers of the (n-1)-grams, by position
  std::vector<uint32_t> candidate_;
};

}  // namespace qfs::metrics

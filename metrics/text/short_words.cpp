#include "metrics/text/short_words.h"

#include <cstring>
#include <utility>

namespace qfs::metrics {

uint64_t ShortWords::key(std::string_view word) {
  uint64_t key = 0;
  std::memcpy(&key, word.data(), word.size());
  return key;
}

uint32_t ShortWords::insert(size_t index, uint64_t key, uint32_t number) {
  slots_[index] = {key, number};
  if (2 * ++used_ <= slots_.size()) return number;
  --shift_;
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
  for (const Slot& slot : old) {
    if (slot.key == 0) continue;
    size_t to = home(slot.key);
    while (slots_[to].key != 0) to = (to + 1) & (slots_.size() - 1);
    slots_[to] = slot;
  }
  return number;
}

}  // namespace qfs::metrics

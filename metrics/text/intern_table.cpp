#include "metrics/text/intern_table.h"

#include <cstring>

namespace qfs::metrics {
namespace {

constexpr size_t kFirstSlots = 1024;

/// Eight bytes a step, each mixed in by a multiplication whose high bits are folded back.
uint64_t hash_bytes(std::string_view text) {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio
  uint64_t hash = text.size() * kOdd;
  const char* data = text.data();
  size_t left = text.size();
  while (left > 0) {
    uint64_t word = 0;
    const size_t step = left < sizeof(word) ? left : sizeof(word);
    std::memcpy(&word, data, step);
    hash = (hash ^ word) * kOdd;
    hash ^= hash >> 32U;
    data += step;
    left -= step;
  }
  return hash;
}

}  // namespace

InternTable::InternTable() : slots_(kFirstSlots, 0) {}

uint32_t InternTable::id(std::string_view text) {
  if (2 * (entries_.size() + 1) > slots_.size()) grow();
  const uint64_t hash = hash_bytes(text);
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const uint32_t found = slots_[slot] - 1;
    if (entries_[found].hash == hash && this->text(found) == text) return found;
  }
  entries_.push_back({hash, arena_.size(), text.size()});
  arena_ += text;
  slots_[slot] = static_cast<uint32_t>(entries_.size());
  return slots_[slot] - 1;
}

void InternTable::grow() {
  slots_.assign(slots_.size() * 2, 0);
  const size_t mask = slots_.size() - 1;
  for (uint32_t id = 0; id < entries_.size(); ++id) {
    size_t slot = entries_[id].hash & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = id + 1;
  }
}

}  // namespace qfs::metrics

#include "metrics/chinese/word_trie.h"

namespace qfs::metrics {
namespace {

constexpr size_t kFirstSlots = 1024;
constexpr double kNoWord = std::numeric_limits<double>::quiet_NaN();

}  // namespace

WordTrie::WordTrie()
    : first_(kDirect, kNone), slots_(kFirstSlots), mask_(kFirstSlots - 1), weights_{kNoWord} {}

void WordTrie::add(std::u32string_view word, double weight) {
  Node node = kRoot;
  for (char32_t code : word) {
    const Node next = child(node, code);
    node = next == kNone ? add_child(node, code) : next;
  }
  weights_[node] = weight;
}

WordTrie::Node WordTrie::add_child(Node node, char32_t code) {
  const auto made = static_cast<Node>(weights_.size());
  weights_.push_back(kNoWord);
  if (node == kRoot && code < kDirect) {
    first_[code] = made;
    return made;
  }
  if (2 * (used_ + 1) > slots_.size()) grow();
  size_t at = hash(node, code) & mask_;
  while (slots_[at].child != kNone) at = (at + 1) & mask_;
  slots_[at] = {node, code, made};
  ++used_;
  return made;
}

void WordTrie::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  mask_ = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.child == kNone) continue;
    size_t at = hash(slot.node, slot.code) & mask_;
    while (slots_[at].child != kNone) at = (at + 1) & mask_;
    slots_[at] = slot;
  }
}

}  // namespace qfs::metrics

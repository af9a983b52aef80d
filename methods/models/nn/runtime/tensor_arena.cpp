#include "methods/models/nn/runtime/tensor_arena.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

namespace qfs::nn {

namespace {

constexpr size_t kPage = 4096;
/// Smaller ones are left to the C library.
constexpr size_t kLarge = size_t{256} << 10;

size_t whole_pages(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

TensorArena& arena() {
  // Never destroyed: tensors of static storage may outlive it.
  static TensorArena& only =
      *new TensorArena(2 * static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * kPage);
  return only;
}

class ArenaAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    void* place = bytes >= kLarge ? arena().take(bytes) : nullptr;
    if (place == nullptr) place = c10::GetDefaultCPUAllocator()->raw_allocate(bytes);
    return {place, place, &give, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &give; }
  void copy_data(void* to, const void* from, size_t count) const override {
    default_copy_data(to, from, count);
  }

 private:
  static void give(void* place) {
    if (arena().owns(place)) {
      arena().give(place);
    } else {
      c10::GetDefaultCPUAllocator()->raw_deallocate(place);
    }
  }
};

}  // namespace

TensorArena::TensorArena(size_t reserved_bytes) {
  const size_t wanted = whole_pages(reserved_bytes);
  void* const mapped = mmap(nullptr, wanted, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return;
  base_ = static_cast<std::byte*>(mapped);
  reserved_ = wanted;
  free_[0] = wanted;
}

TensorArena::~TensorArena() {
  if (base_ != nullptr) munmap(base_, reserved_);
}

void* TensorArena::take(size_t bytes) {
  const size_t wanted = whole_pages(std::max<size_t>(bytes, 1));
  const std::lock_guard turn(turns_);
  const auto place =
      std::ranges::find_if(free_, [&](const auto& gap) { return gap.second >= wanted; });
  if (place == free_.end()) return nullptr;
  const auto [offset, size] = *place;
  free_.erase(place);
  if (size > wanted) free_[offset + wanted] = size - wanted;
  taken_[offset] = wanted;
  high_water_ = std::max(high_water_, offset + wanted);
  return base_ + offset;
}

void TensorArena::give(void* place) {
  const std::lock_guard turn(turns_);
  const auto found = taken_.find(static_cast<size_t>(static_cast<std::byte*>(place) - base_));
  auto [offset, size] = *found;
  taken_.erase(found);
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && offset + size == next->first) {
    size += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      before->second += size;
      return;
    }
  }
  free_[offset] = size;
}

bool TensorArena::owns(const void* place) const {
  const auto* const at = static_cast<const std::byte*>(place);
  return base_ != nullptr && at >= base_ && at < base_ + reserved_;
}

void TensorArena::release_idle() {
  const std::lock_guard turn(turns_);
  for (const auto& [offset, size] : free_) {
    if (offset >= high_water_) continue;
    madvise(base_ + offset, std::min(size, high_water_ - offset), MADV_DONTNEED);
  }
  high_water_ = taken_.empty() ? 0 : taken_.rbegin()->first + taken_.rbegin()->second;
}

size_t TensorArena::taken_bytes() const {
  const std::lock_guard turn(turns_);
  size_t sum = 0;
  for (const auto& [offset, size] : taken_) sum += size;
  return sum;
}

size_t TensorArena::high_water_bytes() const {
  const std::lock_guard turn(turns_);
  return high_water_;
}

void use_tensor_arena() {
  static ArenaAllocator allocator;
  if (c10::GetCPUAllocator() != &allocator) c10::SetCPUAllocator(&allocator);
  arena().release_idle();
}

}  // namespace qfs::nn

// The CPU twin of sample_nucleus: the algorithm of nucleus_select.h with a block of one thread
// after the other.
#include "methods/models/kernels/device_sampling_cpu.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <bit>
#include <memory>
#include <type_traits>

#include "methods/models/kernels/nucleus_select.h"

namespace qfs::kernels {

namespace {

constexpr int kInvalidValue = 1;  // as cudaErrorInvalidValue
constexpr int kThreads = 4;

/// The threads of a block, one after the other between two barriers.
class SerialBlock {
 public:
  explicit SerialBlock(int threads) : threads_(threads) {}

  int threads() const { return threads_; }
  template <class Body>
  void each(const Body& body) const {
    for (int thread = 0; thread < threads_; ++thread) body(thread, threads_);
  }
  template <class Body>
  void one(const Body& body) const {
    if constexpr (std::is_invocable_v<Body>) {
      body();
    } else {
      body(threads_);
    }
  }
  static void add(uint64_t& sum, uint64_t value) { sum += value; }
  template <class T>
  static double read(T logit) {
    return static_cast<float>(logit);
  }
  static uint64_t key_of(double value) { return std::bit_cast<uint64_t>(value); }
  static double value_of(uint64_t key) { return std::bit_cast<double>(key); }

 private:
  int threads_;
};

template <class T>
void sample_rows(const SampleNucleus& task, int threads) {
  SerialBlock block(threads);
  const auto state = std::make_unique<NucleusState>();
  for (int64_t r = 0; r < task.rows; ++r) {
    task.ids[r] = draw_from_nucleus(block, *state, nucleus_row(task, r),
                                    static_cast<const T*>(task.logits) + r * task.vocabulary);
  }
}

}  // namespace

int sample_nucleus_by_threads(const SampleNucleus& task, int threads) {
  if (!can_sample(task)) return kInvalidValue;
  switch (task.type) {
    case ElementType::f32:
      sample_rows<float>(task, threads);
      break;
    case ElementType::bf16:
      sample_rows<c10::BFloat16>(task, threads);
      break;
    case ElementType::f16:
      sample_rows<c10::Half>(task, threads);
      break;
  }
  return 0;
}

int sample_nucleus_on_cpu(const SampleNucleus& task, void*) {
  return sample_nucleus_by_threads(task, kThreads);
}

}  // namespace qfs::kernels

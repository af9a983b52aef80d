// Drawing a token from the nucleus of a row of logits without sorting the vocabulary: the algorithm
// that the CPU twin and the CUDA kernel share, so that its tests on a CPU are tests of both.
//
// Tokens are ordered by falling weight e^((logit - largest) / temperature), ties by id, and a token
// takes up its weight's length of that order. "The last token of the nucleus" and "the drawn token"
// are the tokens at a position of it, found by a radix search over the bits of the weights (a
// double's bits grow with it): a histogram of lengths by leading bits, the bucket that holds the
// position, then the next bits inside it. Weights are added as integers of 2^-90, so a sum is exact
// and has no order: equal logits and uniforms give equal ids whatever the number of threads or
// rows. generation/sampler.h sums rounded doubles instead; the two differ only where a uniform
// number or top_p lies within about 1e-12 of a boundary between tokens.
//
// Called by device_sampling_cpu.cpp and cuda/sample_nucleus.cu, which give the threads of a block.
// Read by nvcc: no LibTorch, no house types.
#pragma once

#include <cmath>
#include <cstdint>

#include "methods/models/kernels/device_kernels.h"

#ifdef __CUDACC__
#define QFS_ANY_DEVICE __host__ __device__
#else
#define QFS_ANY_DEVICE
#endif

namespace qfs::kernels {

/// A sum of weights in units of 2^-90.
__extension__ typedef unsigned __int128 Mass;

inline constexpr int kNucleusBuckets = 2048;
inline constexpr int kNucleusGroups = 32;  ///< of buckets, summed by a thread each
inline constexpr int kMassHalf = 45;       ///< bits of the two integers that a weight becomes
inline constexpr uint64_t kNoKey = ~uint64_t{0};  ///< of a token that may not be drawn

/// What the threads of a block share (33 KiB).
struct NucleusState {
  uint64_t high[kNucleusBuckets];  ///< sums of weights' first kMassHalf bits, by bucket or thread
  uint64_t low[kNucleusBuckets];   ///< of the next
  Mass groups[kNucleusGroups];
  Mass left;     ///< of the position that is searched, what lies before it in its bucket or token
  Mass before;   ///< of all more probable tokens
  Mass total;    ///< of the tokens that may be drawn
  uint64_t key;  ///< leading bits of the weight at the position, in the end all
  uint64_t cut;  ///< keys below it are not among the top_k
  double largest;
  int owner;   ///< thread that holds the drawn token
  bool found;  ///< the position lies before the end
};

/// One row.
struct NucleusRow {
  uint64_t* keys;  ///< [vocabulary]: bits of the weights
  int64_t vocabulary;
  double temperature;
  int64_t top_k;
  double top_p;
  bool exceeds;  ///< SampleNucleus::exceeds
  double uniform;
};

inline bool can_sample(const SampleNucleus& task) {
  return task.vocabulary > 0 && task.vocabulary <= kMaxVocabulary && task.temperature > 0 &&
         task.top_k >= 0 && task.top_p > 0 && task.top_p <= 1;
}

QFS_ANY_DEVICE inline NucleusRow nucleus_row(const SampleNucleus& task, int64_t row) {
  return {task.workspace + row * task.vocabulary,
          task.vocabulary,
          task.temperature,
          task.top_k,
          task.top_p,
          task.exceeds,
          task.uniforms[row]};
}

struct MassHalves {
  uint64_t high;
  uint64_t low;
};

/// weight in [0, 1]; exact down to 2^-90.
QFS_ANY_DEVICE inline MassHalves mass_halves(double weight) {
  constexpr double kScale = static_cast<double>(uint64_t{1} << kMassHalf);
  const double scaled = weight * kScale;
  const auto high = static_cast<uint64_t>(scaled);
  return {high, static_cast<uint64_t>((scaled - static_cast<double>(high)) * kScale)};
}

QFS_ANY_DEVICE inline Mass mass_of(uint64_t high, uint64_t low) {
  return (static_cast<Mass>(high) << kMassHalf) + low;
}

/// mass * fraction for a fraction in [0, 1), rounded down; `exact` tells whether nothing was lost.
QFS_ANY_DEVICE inline Mass share(Mass mass, double fraction, bool& exact) {
  const auto factor = static_cast<uint64_t>(fraction * 18446744073709551616.0);  // 2^64
  const Mass low = (mass & ~uint64_t{0}) * factor;
  exact = static_cast<uint64_t>(low) == 0;
  return (mass >> 64) * factor + (low >> 64);
}

/// The first `count` entries of high and low are summed by groups.
template <class Block>
QFS_ANY_DEVICE void sum_groups(Block& block, NucleusState& state, int count) {
  const int size = (count + kNucleusGroups - 1) / kNucleusGroups;
  block.each([&](int thread, int threads) {
    for (int g = thread; g < kNucleusGroups; g += threads) {
      Mass sum = 0;
      for (int i = g * size; i < (g + 1) * size && i < count; ++i) {
        sum += mass_of(state.high[i], state.low[i]);
      }
      state.groups[g] = sum;
    }
  });
}

/// The entry, from the last or the first one on, that holds position state.left; afterwards left is
/// the position inside it, and before has grown by what was passed. -1: the position lies beyond.
QFS_ANY_DEVICE inline int find_entry(NucleusState& state, int count, bool from_last) {
  const int size = (count + kNucleusGroups - 1) / kNucleusGroups;
  const auto passes = [&state](Mass mass) {
    if (state.left < mass) return false;
    state.left -= mass;
    state.before += mass;
    return true;
  };
  for (int g = 0; g < kNucleusGroups; ++g) {
    const int group = from_last ? kNucleusGroups - 1 - g : g;
    if (passes(state.groups[group])) continue;
    for (int i = 0; i < size; ++i) {
      const int entry = group * size + (from_last ? size - 1 - i : i);
      if (entry < count && !passes(mass_of(state.high[entry], state.low[entry]))) return entry;
    }
  }
  return -1;
}

/// Finds the weight (state.key) of the token at position state.left. `counting`: every token has
/// length 1 instead of its weight.
template <class Block>
QFS_ANY_DEVICE void search_position(Block& block, NucleusState& state, const NucleusRow& row,
                                    bool counting) {
  block.one([&] {
    state.before = 0;
    state.key = 0;
    state.found = true;
  });
  int shift = 63;  // a weight's sign is never set
  for (int digit = 0; digit < 6; ++digit) {
    const int width = digit < 3 ? 11 : 10;
    shift -= width;
    block.each([&](int thread, int threads) {
      for (int b = thread; b < kNucleusBuckets; b += threads) state.high[b] = state.low[b] = 0;
    });
    block.each([&](int thread, int threads) {
      const uint64_t mask = (uint64_t{1} << width) - 1;
      for (int64_t i = thread; i < row.vocabulary; i += threads) {
        const uint64_t key = row.keys[i];
        if ((key >> (shift + width)) != state.key) continue;
        const uint64_t bucket = (key >> shift) & mask;
        if (counting) {
          block.add(state.low[bucket], 1);
          continue;
        }
        const MassHalves halves = mass_halves(block.value_of(key));
        if (halves.high != 0) block.add(state.high[bucket], halves.high);
        if (halves.low != 0) block.add(state.low[bucket], halves.low);
      }
    });
    sum_groups(block, state, kNucleusBuckets);
    block.one([&] {
      const int bucket = state.found ? find_entry(state, kNucleusBuckets, true) : -1;
      state.found = bucket >= 0;
      // A key that no token has keeps the passes that follow from finding anything.
      state.key = state.found ? (state.key << width) | static_cast<uint64_t>(bucket) : kNoKey >> 1;
    });
  }
}

/// The larger one; one that is not a number wins.
QFS_ANY_DEVICE inline double larger(double a, double b) { return b > a || b != b ? b : a; }

/// state.largest becomes the largest logit, or not a number where one is not.
template <class T, class Block>
QFS_ANY_DEVICE void find_largest(Block& block, NucleusState& state, const NucleusRow& row,
                                 const T* logits) {
  block.each([&](int thread, int threads) {
    double largest = -HUGE_VAL;
    for (int64_t i = thread; i < row.vocabulary; i += threads) {
      largest = larger(largest, block.read(logits[i]));
    }
    state.high[thread] = block.key_of(largest);
  });
  block.one([&](int threads) {
    state.largest = -HUGE_VAL;
    for (int t = 0; t < threads; ++t) {
      state.largest = larger(state.largest, block.value_of(state.high[t]));
    }
  });
}

/// Weights of all tokens as keys; the most probable has the weight 1.
template <class T, class Block>
QFS_ANY_DEVICE void weigh_tokens(Block& block, const NucleusState& state, const NucleusRow& row,
                                 const T* logits) {
  block.each([&](int thread, int threads) {
    for (int64_t i = thread; i < row.vocabulary; i += threads) {
      const double logit = block.read(logits[i]);
      const bool finite = logit - logit == 0;
      row.keys[i] = finite ? block.key_of(exp((logit - state.largest) / row.temperature)) : kNoKey;
    }
  });
}

/// state.total becomes the mass of the keys from state.cut on.
template <class Block>
QFS_ANY_DEVICE void sum_tokens(Block& block, NucleusState& state, const NucleusRow& row) {
  block.each([&](int thread, int threads) {
    uint64_t high = 0;
    uint64_t low = 0;
    for (int64_t i = thread; i < row.vocabulary; i += threads) {
      const uint64_t key = row.keys[i];
      if (key == kNoKey || key < state.cut) continue;
      const MassHalves halves = mass_halves(block.value_of(key));
      high += halves.high;
      low += halves.low;
    }
    state.high[thread] = high;
    state.low[thread] = low;
  });
  sum_groups(block, state, block.threads());
  block.one([&] {
    state.total = 0;
    for (const Mass mass : state.groups) state.total += mass;
  });
}

/// The token number state.left, by id, among those with the weight state.key.
template <class Block>
QFS_ANY_DEVICE int32_t token_of_key(Block& block, NucleusState& state, const NucleusRow& row) {
  const auto first = [&row](int thread, int threads) {
    const int64_t size = (row.vocabulary + threads - 1) / threads;
    return size * thread < row.vocabulary ? size * thread : row.vocabulary;
  };
  block.each([&](int thread, int threads) {
    uint64_t count = 0;
    for (int64_t i = first(thread, threads); i < first(thread + 1, threads); ++i) {
      count += row.keys[i] == state.key ? 1 : 0;
    }
    state.high[thread] = 0;
    state.low[thread] = count;
  });
  sum_groups(block, state, block.threads());
  block.one([&](int threads) { state.owner = find_entry(state, threads, false); });
  block.each([&](int thread, int threads) {
    if (thread != state.owner) return;
    auto skipped = static_cast<uint64_t>(state.left);
    for (int64_t i = first(thread, threads); i < first(thread + 1, threads); ++i) {
      if (row.keys[i] != state.key || skipped-- != 0) continue;
      state.key = static_cast<uint64_t>(i);
      return;
    }
  });
  return static_cast<int32_t>(state.key);
}

/// The token of one row. `Block` has `threads()` (at most kNucleusBuckets), `each(f)`, which calls
/// f(thread, threads) for every thread and waits for all, `one(f)`, which calls f() or f(threads)
/// once and waits, `add` (atomic), `read` (a logit as double), `key_of` and `value_of` (a double's
/// bits). -1: SampleNucleus.
template <class T, class Block>
QFS_ANY_DEVICE int32_t draw_from_nucleus(Block& block, NucleusState& state, const NucleusRow& row,
                                         const T* logits) {
  find_largest(block, state, row, logits);
  if (!(state.largest - state.largest == 0)) return -1;  // not finite
  weigh_tokens(block, state, row, logits);
  block.one([&] {
    state.cut = 0;
    state.left = static_cast<Mass>(row.top_k > 0 ? row.top_k - 1 : 0);
  });
  if (row.top_k > 0 && row.top_k < row.vocabulary) {
    search_position(block, state, row, true);
    block.one([&] { state.cut = state.found ? state.key : 0; });
  }
  sum_tokens(block, state, row);
  if (row.top_p < 1) {
    block.one([&] {
      bool exact = false;
      const Mass kept = share(state.total, row.top_p, exact);
      // The last kept token has less than top_p before it (or no more than top_p) and ends beyond.
      if (row.exceeds) {
        state.left = kept;
      } else {
        state.left = exact && kept > 0 ? kept - 1 : kept;
      }
    });
    search_position(block, state, row, false);
    block.one([&] {
      const MassHalves halves = mass_halves(block.value_of(state.key));
      const Mass weight = mass_of(halves.high, halves.low);
      state.total = state.before + (state.left / weight + 1) * weight;
    });
  }
  block.one([&] {
    bool exact = false;
    state.left = share(state.total, row.uniform, exact);
  });
  search_position(block, state, row, false);
  block.one([&] {
    const MassHalves halves = mass_halves(block.value_of(state.key));
    state.left /= mass_of(halves.high, halves.low);
  });
  return token_of_key(block, state, row);
}

}  // namespace qfs::kernels

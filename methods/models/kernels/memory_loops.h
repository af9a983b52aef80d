// What the kernels of compressive memories have alike: loops that become vectors, the bound of what
// is kept or read, and shares.
//
// Included by memory_kernels and segment_memory. Pure; thread-safe.
#pragma once

#include <algorithm>
#include <cmath>

/// Loops go along rows or have lanes of their own, so that none is a sum that vectors would order
/// anew.
#if defined(__x86_64__)
#define QFS_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define QFS_VECTORS
#endif

namespace qfs::kernels {
namespace {

constexpr float kMost = 65500;  // of whatever is kept or read

inline float cut(float x) { return std::min(std::max(x, -kMost), kMost); }

inline float logistic(float x) { return 1 / (1 + std::exp(-x)); }

}  // namespace
}  // namespace qfs::kernels

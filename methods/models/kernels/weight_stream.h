// How far ahead the kernels of a decoding step ask for weights, which pass once through every core.
//
// Included by files that are compiled for one instruction set each; in their anonymous namespaces,
// so that code for different sets never mixes.
#pragma once

#include <cstdint>

namespace qfs::kernels {
namespace {

constexpr int64_t kLineBytes = 64;

/// Floats of a cache line.
constexpr int64_t kLine = 16;

/// Asks for the line two pages behind `weight`, beyond the processor's own foresight, in the second
/// level of caches: it takes more requests at a time than the first.
inline void ask_ahead(const void* weight) {
  constexpr int64_t kAhead = 8192;
  __builtin_prefetch(static_cast<const char*>(weight) + kAhead, 0, 2);
}

}  // namespace
}  // namespace qfs::kernels

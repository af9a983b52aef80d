// What a decoder's reading and writing take, by its sizes: multiply-adds, two operations each.
//
// Used by published counts (harness/claims/counts.h) and by methods that count what they read.
// Pure; thread-safe. Source: SelfCP (arXiv 2405.17052), Table 7, as calflops counts it; norms,
// rotations and look-ups are left out.
#pragma once

#include <cstdint>

namespace qfs {

struct DecoderSizes {
  int64_t layers = 32;
  int64_t width = 4096;
  int64_t heads = 32;
  int64_t inner = 11008;
  int64_t vocabulary = 32000;
  int64_t key_heads = 0;   ///< 0: as many as heads
  int64_t head_width = 0;  ///< 0: width / heads
};

/// How reading is counted.
enum class WorkCount {
  eager,  ///< full square attention, the output head on every position of a prompt
  lean,   ///< what causality and one next token need: half of the square, the head on the last
};

/// Through all layers, their attention included.
constexpr double body_multiply_adds(int64_t tokens, const DecoderSizes& s, WorkCount count) {
  const int64_t head_width = s.head_width > 0 ? s.head_width : s.width / s.heads;
  const int64_t key_heads = s.key_heads > 0 ? s.key_heads : s.heads;
  const int64_t attended = s.heads * head_width;
  const auto products = static_cast<double>(
      2 * s.width * attended + 2 * s.width * key_heads * head_width + 3 * s.width * s.inner);
  const auto t = static_cast<double>(tokens);
  const double square = static_cast<double>(attended) * t * t;
  return static_cast<double>(s.layers) *
         (products * t + (count == WorkCount::eager ? 2 * square : square));
}

constexpr double head_multiply_adds(int64_t tokens, const DecoderSizes& s) {
  return static_cast<double>(s.vocabulary) * static_cast<double>(s.width) *
         static_cast<double>(tokens);
}

/// One token behind `before` others, whose keys are kept.
constexpr double step_multiply_adds(int64_t before, const DecoderSizes& s) {
  const int64_t head_width = s.head_width > 0 ? s.head_width : s.width / s.heads;
  const auto reading = 2 * static_cast<double>(s.layers * s.heads * head_width);
  return body_multiply_adds(1, s, WorkCount::eager) - reading + head_multiply_adds(1, s) +
         reading * static_cast<double>(before);
}

/// A prompt and `new_tokens` behind it, the first of which the prompt gives.
constexpr double generation_multiply_adds(int64_t prompt, int64_t new_tokens, const DecoderSizes& s,
                                          WorkCount count) {
  double sum = body_multiply_adds(prompt, s, count) +
               head_multiply_adds(count == WorkCount::eager ? prompt : 1, s);
  for (int64_t i = 1; i < new_tokens; ++i) sum += step_multiply_adds(prompt + i, s);
  return sum;
}

}  // namespace qfs

// A LLaMA-type GGUF file of a few kilobytes with random weights and a byte vocabulary, for tests
// that need a model but not a good one.
//
// Pure (the same options give the same bytes).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace qfs::test {

struct TinyLlama {
  int64_t layers = 2;
  int64_t hidden = 32;
  int64_t intermediate = 64;
  int64_t heads = 4;
  int64_t kv_heads = 2;
  int64_t context = 1024;
  bool tied = true;
  uint64_t seed = 1;
  std::string chat_template;  ///< left out when empty

  /// The vocabulary: the 256 bytes (ids 0..255), "<|im_start|>" (256) and "<|im_end|>" (257, the
  /// end).
  static constexpr int64_t kVocabulary = 258;
  static constexpr int32_t kEnd = 257;

  std::string bytes() const;
};

/// Ids of bytes, as good as random and the same in every test.
std::vector<int32_t> some_tokens(int64_t count, int32_t seed);

}  // namespace qfs::test

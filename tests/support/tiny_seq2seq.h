// A folder with a tiny random BART or LED, its byte-level tokenizer ("<s>" 0, "<pad>" 1, "</s>" 2,
// then the 256 bytes) and generation settings, for tests of methods.
#pragma once

#include <string>

#include "tests/support/temporary_folder.h"

namespace qfs::test {

struct TinySeq2Seq {
  bool led = false;         ///< windows of 4
  int64_t positions = 128;  ///< of the encoder; the decoder has 48
  int64_t width = 12;
  int64_t heads = 3;
  std::string generation_config = R"({"forced_bos_token_id": 0, "forced_eos_token_id": 2})";

  static constexpr int64_t kVocabulary = 3 + 256;

  /// Returns the folder.
  std::string write(const TemporaryFolder& folder) const;
};

}  // namespace qfs::test

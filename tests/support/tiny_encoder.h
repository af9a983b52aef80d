// A folder with a tiny random BERT or RoBERTa and a tokenizer of single characters, for tests of
// methods that read with an encoder.
#pragma once

#include <string>

#include "harness/api/method.h"
#include "tests/support/temporary_folder.h"

namespace qfs::test {

struct TinyEncoder {
  bool roberta = false;
  int64_t positions = 64;  ///< that a text may have
  int64_t hidden = 16;
  int64_t layers = 2;
  double scale = 0.25;  ///< of the weights
  std::string dpr;      ///< "question_encoder", "ctx_encoder": a BERT as DPR's folders have it

  /// Fills the folder; returns it as sweeps name it.
  Resource write(const TemporaryFolder& folder) const;
};

}  // namespace qfs::test

// A BART of random weights in any shape, float32 on the CPU, for tests and benchmarks of what
// depends on shapes alone.
#pragma once

#include <cstdint>
#include <memory>

#include "methods/models/architectures/bart/bart_weights.h"

namespace qfs::test {

struct BartShape {
  int64_t layers = 2;  ///< of the encoder and of the decoder
  int64_t hidden = 12;
  int64_t heads = 3;
  int64_t intermediate = 20;
  int64_t vocabulary = 60;
  int64_t positions = 40;
  double spread = 0.4;  ///< standard deviation of matrices
};

/// That of bart-base.
BartShape bart_base_shape();

/// By LibTorch's generator, which it seeds.
std::shared_ptr<const architectures::BartWeights> random_bart(const BartShape& shape);

}  // namespace qfs::test

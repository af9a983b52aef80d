// Recomputation (gradient checkpointing, Chen et al. 2016): of a block's forward pass only the
// input is kept, and the rest is computed again when gradients pass.
//
// Called around layers by sequences.h and encoders. Pure where the block is; LibTorch's exceptions
// pass through.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <span>

namespace qfs::nn {

/// What a training step keeps of a model's forward pass.
enum class Recompute {
  nothing,  ///< all that gradients need
  layers,   ///< each layer's input: memory of one layer at a time, one more forward pass
};

/// Called twice, the second time while gradients are computed: owns what it reads besides its
/// inputs, and gives the same bits.
using Block = std::function<at::Tensor(std::span<const at::Tensor> inputs)>;

/// block(inputs). `besides`: what gradients reach through the block but for its inputs, on which
/// it does not depend (weights); tensors that do not require any are passed over. `inside`: leaves
/// by which the block reads them, one each; needed where one is computed of another, so that
/// gradients do not go on from there inside the block. Empty: it reads `besides` themselves.
at::Tensor run_block(Recompute recompute, std::span<const at::Tensor> inputs,
                     std::span<const at::Tensor> besides, Block block,
                     std::span<const at::Tensor> inside = {});

}  // namespace qfs::nn

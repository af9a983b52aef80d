#include "methods/models/architectures/bart/bart_forward.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/tensor.h>

#include <vector>

#include "methods/models/architectures/bart/bart_decoder.h"
#include "methods/models/architectures/bart/encoder_input.h"
#include "methods/models/nn/causal_attention.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::architectures {

namespace {

class WholeSequence final : public DecoderOperations {
 public:
  WholeSequence(const BartWeights& weights, const at::Tensor& states)
      : weights_(weights), states_(states) {}

  at::Tensor multiply(const nn::Linear& linear, const at::Tensor& x) override {
    return nn::apply(linear, x);
  }

  at::Tensor attend_past(const at::Tensor& qkv, size_t) override {
    return nn::causal_attention(qkv, weights_.config.decoder_heads);
  }

  at::Tensor attend_source(const at::Tensor& queries, size_t layer) override {
    const BartConfig& c = weights_.config;
    const at::Tensor read = cross_keys_values(weights_, weights_.layers[layer], states_);
    const at::Tensor asking =
        queries.view({1, queries.size(0), c.decoder_heads, c.decoder_head_dim()}).transpose(1, 2);
    return at::scaled_dot_product_attention(asking, read.select(0, 0).unsqueeze(0),
                                            read.select(0, 1).unsqueeze(0))
        .squeeze(0)
        .transpose(0, 1)
        .flatten(1);
  }

 private:
  const BartWeights& weights_;
  const at::Tensor& states_;
};

}  // namespace

Result<at::Tensor> bart_logits(const BartWeights& weights, const nn::SequenceInput& input) {
  const nn::SequenceShape shape = shape_of(weights);
  const auto& ids = nn::begun_with(input, shape);
  const Status known = check_decoder_ids(ids, shape.context, shape.vocabulary);
  if (!known.ok()) return known.error();
  const auto states = encode_source(weights, input);
  if (!states.ok()) return states.error();
  return nn::guarded("reading a target sequence", [&]() -> Result<at::Tensor> {
    const at::Device device = weights.token_embeddings.device();
    const std::vector<int64_t> tokens(ids.begin(), ids.end());
    const at::Tensor positions = at::arange(static_cast<int64_t>(ids.size()), device);
    WholeSequence operations(weights, *states);
    return decoder_logits(weights, at::tensor(tokens).to(device), positions, operations);
  });
}

}  // namespace qfs::architectures

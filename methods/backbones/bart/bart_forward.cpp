#include "methods/backbones/bart/bart_forward.h"

#include <ATen/ops/scaled_dot_product_attention.h>

#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "methods/backbones/bart/bart_decoder.h"
#include "methods/backbones/bart/bart_model.h"
#include "methods/backbones/torch_runtime.h"

namespace qfs::backbones {

namespace {

class WholeSequence final : public DecoderOperations {
 public:
  WholeSequence(const BartWeights& weights, const at::Tensor& states)
      : weights_(weights), states_(states) {}

  at::Tensor multiply(const Linear& linear, const at::Tensor& x) override {
    return apply(linear, x);
  }

  at::Tensor attend_past(const at::Tensor& qkv, size_t) override {
    const BartConfig& c = weights_.config;
    const at::Tensor parts = qkv.view({1, qkv.size(0), 3, c.decoder_heads, c.decoder_head_dim()})
                                 .permute({2, 0, 3, 1, 4});
    return joined(at::scaled_dot_product_attention(parts.select(0, 0), parts.select(0, 1),
                                                   parts.select(0, 2), std::nullopt, 0.0, true));
  }

  at::Tensor attend_source(const at::Tensor& queries, size_t layer) override {
    const BartConfig& c = weights_.config;
    const at::Tensor read = cross_keys_values(weights_, weights_.layers[layer], states_);
    const at::Tensor asking =
        queries.view({1, queries.size(0), c.decoder_heads, c.decoder_head_dim()}).transpose(1, 2);
    return joined(at::scaled_dot_product_attention(asking, read.select(0, 0).unsqueeze(0),
                                                   read.select(0, 1).unsqueeze(0)));
  }

 private:
  /// [1, heads, tokens, head_dim] to [tokens, hidden].
  static at::Tensor joined(const at::Tensor& attended) {
    return attended.squeeze(0).transpose(0, 1).flatten(1);
  }

  const BartWeights& weights_;
  const at::Tensor& states_;
};

Status check_decoder(const std::vector<int32_t>& ids, const SequenceShape& shape) {
  const auto count = static_cast<int64_t>(ids.size());
  if (count == 0 || count > shape.context) {
    return invalid_argument(std::to_string(count) + " decoder ids; the decoder reads 1 to " +
                            std::to_string(shape.context));
  }
  for (const int32_t id : ids) {
    if (id < 0 || id >= shape.vocabulary) {
      return invalid_argument("token id " + std::to_string(id) + " is outside 0.." +
                              std::to_string(shape.vocabulary - 1));
    }
  }
  return {};
}

}  // namespace

Result<at::Tensor> bart_logits(const BartWeights& weights, const SequenceInput& input) {
  const SequenceShape shape = shape_of(weights);
  const auto& ids = input.decoder_ids.empty() ? shape.decoder_start : input.decoder_ids;
  if (Status status = check_decoder(ids, shape); !status.ok()) return status.error();
  const auto states = encode_source(weights, input);
  if (!states.ok()) return states.error();
  return guarded("reading a target sequence", [&]() -> Result<at::Tensor> {
    std::vector<int64_t> positions(ids.size());
    std::iota(positions.begin(), positions.end(), 0);
    WholeSequence operations(weights, *states);
    return decoder_logits(weights, ids, positions, operations);
  });
}

}  // namespace qfs::backbones

#include "methods/models/architectures/gpt2/gpt2_forward.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/tensor.h>

#include <vector>

#include "methods/models/architectures/gpt2/gpt2_decoder.h"
#include "methods/models/nn/causal_attention.h"
#include "methods/models/nn/runtime/input_checks.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::architectures {

namespace {

class WholeSequence final : public Gpt2Operations {
 public:
  explicit WholeSequence(int64_t heads) : heads_(heads) {}

  at::Tensor multiply(const nn::Linear& linear, const at::Tensor& x) override {
    return nn::apply(linear, x);
  }
  at::Tensor attend(const at::Tensor& qkv, size_t) override {
    return nn::causal_attention(qkv, heads_);
  }

 private:
  int64_t heads_;
};

}  // namespace

Result<at::Tensor> gpt2_logits(const Gpt2Weights& weights, std::span<const int32_t> ids) {
  const Gpt2Config& c = weights.config;
  const int64_t empty = 0;
  if (Status status = nn::check_prompt(0, ids, c.vocabulary, {&empty, 1}, c.context); !status.ok()) {
    return status.error();
  }
  return nn::guarded("reading a sequence", [&]() -> Result<at::Tensor> {
    WholeSequence operations(c.heads);
    const std::vector<int64_t> tokens(ids.begin(), ids.end());
    const at::Tensor positions = at::arange(static_cast<int64_t>(tokens.size()));
    return nn::apply(weights.head, gpt2_states(weights, at::tensor(tokens), positions, operations));
  });
}

}  // namespace qfs::architectures

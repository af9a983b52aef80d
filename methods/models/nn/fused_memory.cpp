#include "methods/models/nn/fused_memory.h"

#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>

#include "methods/models/kernels/segment_memory.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::nn {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor floats_of(const at::Tensor& states) { return states.to(at::kFloat).contiguous(); }

const float* floats(const at::Tensor& states) {
  return states.defined() ? states.const_data_ptr<float>() : nullptr;
}
float* changed(const at::Tensor& states) {
  return states.defined() ? states.mutable_data_ptr<float>() : nullptr;
}

kernels::HeldMemory held(const LayerMemory& memory) {
  return {floats(memory.all), floats(memory.norm), floats(memory.asked)};
}

/// Its tensors live as long as the reading does.
struct Reading {
  Reading(const InfiniScalars& scalars, const LayerMemory& memory, const at::Tensor& queries,
          const at::Tensor& local)
      : queries_(floats_of(queries)), local_(floats_of(local)) {
    kernel.of = {queries.size(1), memory.all.size(0), queries.size(2)};
    kernel.tokens = queries.size(0);
    kernel.memory = held(memory);
    kernel.beta = floats(scalars.beta);
    kernel.weight = floats(scalars.weight);
    kernel.bias = floats(scalars.bias);
    kernel.queries = floats(queries_);
    kernel.local = floats(local_);
  }

  kernels::MemoryReading kernel;

 private:
  at::Tensor queries_;
  at::Tensor local_;
};

/// Likewise; `after` has room for what is written.
struct Writing {
  Writing(MemoryRule rule, const LayerMemory& before, const Leaving& leaving)
      : keys_(floats_of(leaving.keys.detach())),
        values_(floats_of(leaving.values.detach())),
        relevance_(leaving.relevance.defined() ? floats_of(leaving.relevance) : at::Tensor()) {
    const int64_t kv_heads = keys_.size(1);
    const int64_t dim = keys_.size(2);
    after.all = at::empty({kv_heads, dim, dim}, keys_.options());
    after.norm = at::empty({kv_heads, dim}, keys_.options());
    if (relevance_.defined()) {
      after.asked = at::empty({relevance_.size(0), dim, dim}, keys_.options());
    }
    kernel = {.before = held(before),
              .tokens = keys_.size(0),
              .keys = floats(keys_),
              .values = floats(values_),
              .relevance = floats(relevance_),
              .delta = rule == MemoryRule::delta};
  }

  kernels::LeavingTokens kernel;
  LayerMemory after;

 private:
  at::Tensor keys_;
  at::Tensor values_;
  at::Tensor relevance_;
};

class MemoryPass final : public torch::autograd::Function<MemoryPass> {
 public:
  using Maybe = std::optional<at::Tensor>;  // what has gradients has to be defined

  static at::Tensor forward(AutogradContext* context, const at::Tensor& queries,
                            const at::Tensor& local, const at::Tensor& beta, const Maybe& weight,
                            const Maybe& bias, const Writing& writing) {
    const InfiniScalars scalars = {beta, weight.value_or(at::Tensor()),
                                   bias.value_or(at::Tensor())};
    const LayerMemory& after = writing.after;
    context->save_for_backward(
        {queries, local, beta, scalars.weight, scalars.bias, after.all, after.norm, after.asked});
    const Reading reading(scalars, after, queries, local);
    const at::Tensor out = at::empty(local.sizes(), local.options().dtype(at::kFloat));
    kernels::pass_memory(writing.kernel,
                         {changed(after.all), changed(after.norm), changed(after.asked)},
                         reading.kernel, out.mutable_data_ptr<float>(), for_items);
    return out.to(local.scalar_type());
  }

  static variable_list backward(AutogradContext* context, variable_list upstream) {
    const variable_list kept = context->get_saved_variables();
    const at::Tensor& queries = kept[0];
    const at::Tensor& local = kept[1];
    const InfiniScalars scalars = {kept[2], kept[3], kept[4]};
    const Reading reading(scalars, {kept[5], kept[6], kept[7]}, queries, local);
    const at::Tensor above = floats_of(upstream.front());
    const auto like = [](const at::Tensor& one) {
      return one.defined() ? at::empty(one.sizes(), one.options().dtype(at::kFloat)) : at::Tensor();
    };
    const InfiniScalars of_scalars = {like(scalars.beta), like(scalars.weight), like(scalars.bias)};
    const at::Tensor of_queries = like(queries);
    const at::Tensor of_local = like(local);
    kernels::pass_memory_back(reading.kernel, floats(above),
                              {.beta = changed(of_scalars.beta),
                               .weight = changed(of_scalars.weight),
                               .bias = changed(of_scalars.bias),
                               .queries = changed(of_queries),
                               .local = changed(of_local)},
                              for_items);
    return {of_queries.to(queries.scalar_type()),
            of_local.to(local.scalar_type()),
            of_scalars.beta,
            of_scalars.weight,
            of_scalars.bias,
            {}};
  }
};

}  // namespace

bool has_memory_kernel(const at::Tensor& states) {
  return states.is_cpu() && states.scalar_type() != at::kDouble;
}

at::Tensor pass_by_kernel(MemoryRule rule, const InfiniScalars& scalars, const Leaving& leaving,
                          const at::Tensor& queries, const at::Tensor& local, LayerMemory& memory) {
  const auto maybe = [](const at::Tensor& one) {
    return one.defined() ? MemoryPass::Maybe(one) : std::nullopt;
  };
  const Writing writing(rule, memory, leaving);
  at::Tensor merged = MemoryPass::apply(queries, local, scalars.beta, maybe(scalars.weight),
                                        maybe(scalars.bias), writing);
  memory = writing.after;
  return merged;
}

}  // namespace qfs::nn

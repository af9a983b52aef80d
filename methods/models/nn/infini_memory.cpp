#include "methods/models/nn/infini_memory.h"

#include <ATen/OpMathType.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/relu.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <string>
#include <utility>

#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::nn {

namespace {

/// The release's bound of whatever is kept or read.
constexpr double kMost = 65500;

at::Tensor wide(const at::Tensor& states) {
  return states.to(at::toOpMathType(states.scalar_type()));
}

/// One for each head that asks, of those for heads of keys.
at::Tensor for_heads(const at::Tensor& shared, int64_t heads) {
  const int64_t sharing = heads / shared.size(0);
  return sharing == 1 ? shared : shared.repeat_interleave(sharing, 0);
}

/// rows [heads, tokens, dim] times matrices of kv_heads.
at::Tensor by_shared(const at::Tensor& rows, const at::Tensor& matrices) {
  const int64_t shared = matrices.size(0);
  return at::bmm(rows.reshape({shared, -1, rows.size(2)}), matrices)
      .view({rows.size(0), rows.size(1), matrices.size(2)});
}

/// sigma(q) z for rows sigma(q): [heads, tokens, 1].
at::Tensor weights_of(const at::Tensor& rows, const at::Tensor& norm) {
  return by_shared(rows, norm.unsqueeze(2));
}

at::Tensor written(MemoryRule rule, const at::Tensor& before, const at::Tensor& keys,
                   const at::Tensor& values, const at::Tensor& weights) {
  const at::Tensor turned = keys.transpose(1, 2);
  if (!before.defined()) return at::bmm(turned, values).clamp_(-kMost, kMost);
  const at::Tensor fresh =
      rule == MemoryRule::linear ? values : values - at::bmm(keys, before) / weights;
  return at::baddbmm(before, turned, fresh).clamp_(-kMost, kMost);
}

std::string of_layer(size_t layer, const std::string& what) {
  return "the memory of layer " + std::to_string(layer) + " has " + what;
}

Status check_scalars(const InfiniScalars& scalars, size_t layer, bool query_focused,
                     const DecoderShape& shape) {
  const auto expect = [&](const at::Tensor& tensor, const char* name, int64_t size) -> Status {
    if (tensor.defined() && tensor.dim() == 1 && tensor.size(0) == size) return {};
    return invalid_argument(of_layer(layer, std::string(tensor.defined() ? "another" : "no") + ' ' +
                                                name + "; expected " + std::to_string(size) +
                                                " values"));
  };
  if (Status fits = expect(scalars.beta, "beta", shape.heads); !fits.ok()) return fits;
  if (!query_focused) {
    if (!scalars.weight.defined() && !scalars.bias.defined()) return {};
    return invalid_argument(of_layer(layer, "w_g or b_g, which only a query-focused one uses"));
  }
  if (Status fits = expect(scalars.weight, "w_g", shape.head_dim); !fits.ok()) return fits;
  return scalars.bias.defined() ? expect(scalars.bias, "b_g", 1) : Status();
}

}  // namespace

std::vector<at::Tensor> InfiniMemory::trained() const {
  std::vector<at::Tensor> found;
  for (const InfiniScalars& scalars : layers) {
    for (const at::Tensor& one : {scalars.beta, scalars.weight, scalars.bias}) {
      if (one.defined() && one.requires_grad()) found.push_back(one);
    }
  }
  return found;
}

Result<std::shared_ptr<const InfiniMemory>> bind_memory(const InfiniOptions& options,
                                                        std::vector<InfiniScalars> layers,
                                                        const Decoder& decoder) {
  using Bound = Result<std::shared_ptr<const InfiniMemory>>;
  const DecoderShape& shape = decoder.shape();
  if (shape.sequence.encoder_decoder()) {
    return invalid_argument("an encoder-decoder attends without compressive memory");
  }
  if (options.segment < 1 || options.window() > shape.sequence.context) {
    return invalid_argument(
        "segments of " + std::to_string(options.segment) + " tokens" +
        (options.kept > 0 ? " behind " + std::to_string(options.kept) + " kept ones" : "") +
        "; the backbone's window has " + std::to_string(shape.sequence.context));
  }
  if (options.kept < 0 || options.kept >= options.segment) {
    return invalid_argument(std::to_string(options.kept) + " kept tokens of segments of " +
                            std::to_string(options.segment));
  }
  if (layers.size() != static_cast<size_t>(shape.layers)) {
    return invalid_argument("a memory of " + std::to_string(layers.size()) +
                            " layers; the backbone has " + std::to_string(shape.layers));
  }
  for (size_t i = 0; i < layers.size(); ++i) {
    const Status fits = check_scalars(layers[i], i, options.query_focused, shape);
    if (!fits.ok()) return fits.error();
  }
  return guarded("placing a memory", [&]() -> Bound {
    const at::ScalarType type = at::toOpMathType(decoder.type());
    for (InfiniScalars& scalars : layers) {
      for (at::Tensor* one : {&scalars.beta, &scalars.weight, &scalars.bias}) {
        if (one->defined()) *one = one->to(decoder.device(), type);
      }
    }
    const int64_t width =
        options.relevance == RelevanceScale::head ? shape.head_dim : decoder.hidden();
    return std::make_shared<const InfiniMemory>(
        InfiniMemory{options, std::sqrt(static_cast<double>(width)), std::move(layers)});
  });
}

SegmentWork work_of(const InfiniMemory& memory, const DecoderShape& shape) {
  const bool asks = memory.options.query_focused;
  const int64_t matrix = shape.layers * shape.head_dim * shape.head_dim;
  const int64_t elements = matrix * (shape.kv_heads + (asks ? shape.heads : 0));
  const int64_t norms = shape.layers * shape.kv_heads * shape.head_dim;
  return {.tokens = memory.options.segment,
          .kept = memory.options.kept,
          .written = elements * (memory.options.rule == MemoryRule::delta ? 2 : 1),
          .read = matrix * shape.heads * (asks ? 2 : 1),
          .bytes = (elements + norms) * static_cast<int64_t>(sizeof(float))};
}

at::Tensor sigma(const at::Tensor& x) { return x.clamp_max(0).exp() + at::relu(x); }

at::Tensor relevance(const at::Tensor& asking, const at::Tensor& keys, double divisor) {
  const at::Tensor shared = asking.view({keys.size(0), -1, asking.size(1)});
  return at::bmm(shared, wide(keys).transpose(1, 2))
      .div_(divisor)
      .sigmoid_()
      .view({asking.size(0), keys.size(1)});
}

LayerMemory remembered(MemoryRule rule, const LayerMemory& before, const at::Tensor& keys,
                       const at::Tensor& values, const at::Tensor& relevance) {
  const c10::AutoGradMode without_gradients(false);
  const at::Tensor rows = sigma(wide(keys));
  const at::Tensor added = wide(values);
  const at::Tensor weights = before.empty() ? at::Tensor() : weights_of(rows, before.norm);
  LayerMemory after;
  after.all = written(rule, before.all, rows, added, weights);
  const at::Tensor sum = rows.sum(1);
  after.norm = before.empty() ? sum : (before.norm + sum);
  after.norm.clamp_(-kMost, kMost);
  if (!relevance.defined()) return after;
  const int64_t heads = relevance.size(0);
  after.asked = written(rule, before.asked, for_heads(rows, heads),
                        for_heads(added, heads) * relevance.unsqueeze(2),
                        weights.defined() ? for_heads(weights, heads) : weights);
  return after;
}

Retrieved retrieved(const LayerMemory& memory, const at::Tensor& queries) {
  const at::Tensor rows = sigma(wide(queries));
  const at::Tensor weights = weights_of(rows, memory.norm);
  const auto read = [&](const at::Tensor& sums) { return (sums / weights).clamp(-kMost, kMost); };
  Retrieved found{read(by_shared(rows, memory.all)), {}};
  if (memory.asked.defined()) found.asked = read(at::bmm(rows, memory.asked));
  return found;
}

at::Tensor recalled(const InfiniScalars& scalars, const Retrieved& found) {
  if (!found.asked.defined()) return found.all;
  at::Tensor score = at::matmul(found.asked, scalars.weight);
  if (scalars.bias.defined()) score = score + scalars.bias;
  return found.all + score.sigmoid().unsqueeze(2) * (found.asked - found.all);
}

at::Tensor merged(const InfiniScalars& scalars, const at::Tensor& past, const at::Tensor& local) {
  const at::Tensor share = scalars.beta.sigmoid().view({-1, 1, 1});
  const at::Tensor near = wide(local);
  return (near + share * (past - near)).to(local.scalar_type());
}

}  // namespace qfs::nn

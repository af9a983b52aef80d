#include "methods/models/peft/hyper_network.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <utility>

#include "methods/models/nn/drawn_dropout.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::peft {

namespace {

constexpr double kDropout = 0.05;
constexpr double kNormEps = 1e-5;

/// Values as a precision has them, in their own type.
at::Tensor rounded(const at::Tensor& values, HyperPrecision precision) {
  switch (precision) {
    case HyperPrecision::fp32:
      return values;
    case HyperPrecision::bf16:
      return values.to(at::kBFloat16).to(values.scalar_type());
    case HyperPrecision::fp16_as_released:
      return values.to(at::kHalf).to(values.scalar_type());
  }
  return values;
}

/// Operands and result are rounded; sums are not.
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                  HyperPrecision precision) {
  return rounded(
      at::linear(rounded(x, precision), rounded(weight, precision), rounded(bias, precision)),
      precision);
}

at::Tensor dropped(const at::Tensor& values, std::optional<Rng>& drop) {
  return drop ? nn::dropped(values, kDropout, *drop) : values;
}

bool needs_query(Pooling pooling) {
  return pooling == Pooling::instruction || pooling == Pooling::both;
}
bool needs_document(Pooling pooling) {
  return pooling == Pooling::document || pooling == Pooling::both;
}

at::Tensor mean_of(const at::Tensor& stream, const nn::TokenSpan& span) {
  const at::Tensor rows = stream.narrow(0, span.first, span.count);
  return rows.to(c10::promoteTypes(rows.scalar_type(), at::kFloat)).mean(0);
}

}  // namespace

Result<nn::SequenceInput> pooled_prefix(const nn::SequenceInput& input, Pooling pooling) {
  nn::SequenceInput prefix = {.ids = input.ids};
  int64_t end = pooling == Pooling::all ? static_cast<int64_t>(input.ids.size()) : 0;
  const auto pool = [&](const nn::TokenSpan& span, const char* what) -> Status {
    if (span.count == 0) {
      return invalid_argument("the prompt does not show its " + std::string(what) +
                              ", of which adapters are generated");
    }
    end = std::max(end, span.end());
    return {};
  };
  if (needs_query(pooling)) {
    if (Status known = pool(input.query, "query"); !known.ok()) return known.error();
    prefix.query = input.query;
  }
  if (needs_document(pooling)) {
    if (Status known = pool(input.document, "document"); !known.ok()) return known.error();
    prefix.document = input.document;
  }
  prefix.ids.resize(static_cast<size_t>(end));
  return prefix;
}

at::Tensor pooled(const at::Tensor& stream, const nn::SequenceInput& input, Pooling pooling) {
  switch (pooling) {
    case Pooling::instruction:
      return mean_of(stream, input.query);
    case Pooling::document:
      return mean_of(stream, input.document);
    case Pooling::all:
      return mean_of(stream, {0, stream.size(0)});
    case Pooling::both:
      return at::cat({mean_of(stream, input.query), mean_of(stream, input.document)});
  }
  return {};
}

NamedTensors generate(const LayerAdapter& adapter, const at::Tensor& states, int64_t index,
                      std::optional<Rng> drop) {
  const HyperConfig& hyper = adapter.config.hyper;
  const std::string prefix = adapter.hyper_prefix();
  const auto tensor = [&](const std::string& name) { return adapter.tensors.at(prefix + name); };
  const at::Tensor scale = (states.square().mean() + kNormEps).rsqrt();
  const at::Tensor read = dropped(states * scale * tensor("norm.weight"), drop);
  const bool serial = hyper.encoder == HyperEncoder::serial;
  const std::string encoder =
      serial ? "encoders." + std::to_string(index) + ".linear0" : "encoder.linear0";
  const int64_t first = hyper.encoder == HyperEncoder::own ? index * hyper.bottleneck : 0;
  const auto own = [&](const char* what) {
    return tensor(encoder + what).narrow(0, first, hyper.bottleneck);
  };
  // Each layer has masks of its own behind the encoders, in front of which they share one.
  if (drop) {
    for (int64_t i = 0; i < index * hyper.bottleneck; ++i) drop->next();
  }
  const at::Tensor encoded =
      dropped(at::relu(linear(read, own(".weight"), own(".bias"), hyper.precision)), drop);
  NamedTensors made;
  for (const GeneratedPart& part : generated_parts(adapter.config, adapter.widths)) {
    const std::string decoder = "decoder." + part.decoder;
    made[part.decoder] =
        linear(encoded, tensor(decoder + ".weight"), tensor(decoder + ".bias"), hyper.precision)
            .view(part.shape);
  }
  return made;
}

Result<std::shared_ptr<const nn::Adapters>> row_adapters(
    const LayerAdapter& adapter, const nn::SequenceInput& prefix, const AdaptedModel& model,
    std::optional<Rng> drop, const std::function<void(const NamedTensors&)>& made) {
  const HyperConfig& hyper = adapter.config.hyper;
  nn::AdapterSet set = ordinary_adapters(adapter);
  auto bound = model.bind(set);
  if (!bound.ok()) return bound;
  nn::SequenceInput reading = prefix;
  at::Tensor states;
  for (int64_t i = 0; i < hyper.layers; ++i) {
    const int64_t layer = adapter.first_generated() + i;
    if (i == 0 || hyper.encoder == HyperEncoder::serial) {
      const c10::AutoGradMode through(c10::GradMode::is_enabled() && !hyper.detach);
      reading.adapters = *bound;
      const auto stream = model.stream(static_cast<size_t>(layer), reading);
      if (!stream.ok()) return stream.error();
      states = pooled(*stream, prefix, hyper.pooling).cpu();
    }
    const Status generated = nn::guarded("generating adapters", [&]() -> Status {
      const NamedTensors values = generate(adapter, states, i, drop);
      if (made) made(values);
      add_generated(adapter, layer, values, set);
      return {};
    });
    if (!generated.ok()) return generated.error();
    if (i + 1 < hyper.layers && hyper.encoder != HyperEncoder::serial) continue;
    bound = model.bind(set);
    if (!bound.ok()) return bound;
  }
  return bound;
}

}  // namespace qfs::peft

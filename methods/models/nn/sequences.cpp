#include "methods/models/nn/sequences.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "methods/models/nn/adapters.h"
#include "methods/models/nn/causal_attention.h"
#include "methods/models/nn/input_checks.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::nn {

namespace {

/// One input among the rows of all.
struct Part {
  int64_t first = 0;
  int64_t tokens = 0;
  at::Tensor source;  ///< the encoder's states, of an encoder-decoder
  std::shared_ptr<const Adapters> adapters = {};
};

/// Whether what adapters (or null) of two rows add to a layer are the same tensors, as those are
/// that generated adapters leave alone.
bool add_the_same(const Linear& linear, const Adapters* a, const Adapters* b) {
  if (a == b) return true;
  const auto added = [&](const Adapters* adapters) {
    return adapters == nullptr ? std::span<const Adapters::Rows>() : adapters->of(linear);
  };
  return std::ranges::equal(added(a), added(b), [](const auto& one, const auto& other) {
    return one.first == other.first && one.added.scale == other.added.scale &&
           one.added.down.is_same(other.added.down) && one.added.up.is_same(other.added.up);
  });
}

class WholeSequences final : public LayerOperations {
 public:
  WholeSequences(const Decoder& decoder, std::vector<Part> parts, Rotations rotations)
      : LayerOperations(adapted_of(parts)),
        decoder_(decoder),
        parts_(std::move(parts)),
        rotations_(std::move(rotations)) {}

  /// The stream, and what the layers attend to.
  std::vector<at::Tensor> layer_inputs(const at::Tensor& stream) const {
    std::vector<at::Tensor> inputs = {stream};
    for (const Part& part : parts_) {
      if (part.source.defined()) inputs.push_back(part.source);
    }
    return inputs;
  }
  at::Tensor run_layer(size_t index, std::span<const at::Tensor> inputs) {
    for (size_t i = 1; i < inputs.size(); ++i) parts_[i - 1].source = inputs[i];
    return decoder_.layer(index, inputs.front(), *this);
  }

  at::Tensor multiply(const Linear& linear, const at::Tensor& x) override {
    const bool alike = std::ranges::all_of(parts_, [&](const Part& part) {
      return add_the_same(linear, part.adapters.get(), parts_.front().adapters.get());
    });
    if (alike) return adapted(linear, x, parts_.front().adapters.get());
    return per_part([&](const Part& part) {
      return adapted(linear, x.narrow(0, part.first, part.tokens), part.adapters.get());
    });
  }

  at::Tensor attend_past(size_t layer, const at::Tensor& qkv) override {
    const Projections all = projections_of(qkv, decoder_.shape(), rotations_);
    const at::Tensor attended = per_part([&](const Part& part) {
      const auto rows = [&](const at::Tensor& states) {
        return states.narrow(0, part.first, part.tokens);
      };
      return causal_attention({rows(all.queries), rows(all.keys), rows(all.values)});
    });
    return beside_attention(layer, attended, all.queries);
  }

  at::Tensor attend_source(size_t layer, const at::Tensor& queries) override {
    const DecoderShape& c = decoder_.shape();
    return per_part([&](const Part& part) {
      const at::Tensor read = decoder_.source_keys_values(layer, part.source, part.adapters.get());
      const at::Tensor asking = queries.narrow(0, part.first, part.tokens)
                                    .view({1, part.tokens, c.heads, c.head_dim})
                                    .transpose(1, 2);
      return at::scaled_dot_product_attention(asking, read.select(0, 0).unsqueeze(0),
                                              read.select(0, 1).unsqueeze(0))
          .squeeze(0)
          .transpose(0, 1)
          .flatten(1);
    });
  }

 private:
  /// Parts beside one another with the same adapters together.
  static std::vector<AdaptedRows> adapted_of(const std::vector<Part>& parts) {
    std::vector<AdaptedRows> adapted;
    for (const Part& part : parts) {
      if (adapted.empty() || adapted.back().adapters != part.adapters.get()) {
        adapted.push_back({part.first, 0, part.adapters.get()});
      }
      adapted.back().count += part.tokens;
    }
    return adapted;
  }

  template <class Attend>
  at::Tensor per_part(const Attend& attend) const {
    if (parts_.size() == 1) return attend(parts_.front());
    std::vector<at::Tensor> outputs;
    for (const Part& part : parts_) outputs.push_back(attend(part));
    return at::cat(outputs);
  }

  const Decoder& decoder_;
  std::vector<Part> parts_;
  Rotations rotations_;  ///< of every row
};

/// Gives layers that are recomputed leaves of their own, for adapters may be computed of others.
CutLeaves cut_off(std::vector<Part>& parts) {
  CutLeaves leaves;
  std::map<std::shared_ptr<const Adapters>, std::shared_ptr<const Adapters>> cut;
  for (Part& part : parts) {
    if (part.adapters == nullptr) continue;
    std::shared_ptr<const Adapters>& inside = cut[part.adapters];
    if (inside == nullptr) inside = part.adapters->cut_off(leaves);
    part.adapters = inside;
  }
  return leaves;
}

/// The stream that enters layer `until`, of all inputs.
Result<at::Tensor> stream_until(const Decoder& decoder, std::span<const SequenceInput> inputs,
                                Recompute recompute, size_t until) {
  const SequenceShape& shape = decoder.shape().sequence;
  if (inputs.empty()) return invalid_argument("no sequences to read");
  std::vector<int64_t> ids;
  std::vector<int64_t> positions;
  std::vector<Part> parts;
  for (const SequenceInput& input : inputs) {
    const std::vector<int32_t>& begun = begun_with(input, shape);
    const auto count = static_cast<int64_t>(begun.size());
    if (count == 0 || count > shape.context) {
      return invalid_argument("a sequence of " + std::to_string(count) +
                              " tokens; the backbone's window has " +
                              std::to_string(shape.context));
    }
    if (Status known = check_token_ids(begun, shape.vocabulary); !known.ok()) return known.error();
    Part part{static_cast<int64_t>(ids.size()), count, {}, input.adapters};
    if (shape.encoder_decoder()) {
      Result<at::Tensor> source = decoder.encode(input, recompute);
      if (!source.ok()) return source.error();
      part.source = *std::move(source);
    }
    ids.insert(ids.end(), begun.begin(), begun.end());
    for (int64_t i = 0; i < count; ++i) positions.push_back(i);
    parts.push_back(std::move(part));
  }
  return guarded("reading sequences", [&]() -> Result<at::Tensor> {
    const at::Device device = decoder.device();
    const at::Tensor places = at::tensor(positions);
    Rotations rotations;
    if (const auto& rope = decoder.shape().rope) {
      const int64_t longest = places.max().item<int64_t>() + 1;
      const Rotations table = make_rotations(*rope, decoder.shape().head_dim, longest);
      const auto of_rows = [&](const at::Tensor& values) {
        return values.index_select(0, places).to(device, decoder.type());
      };
      rotations = {of_rows(table.cosines), of_rows(table.sines)};
    }
    CutLeaves trained;
    if (recompute != Recompute::nothing) trained = cut_off(parts);
    const auto run =
        std::make_shared<WholeSequences>(decoder, std::move(parts), std::move(rotations));
    at::Tensor stream = decoder.embed(at::tensor(ids).to(device), places.to(device));
    for (size_t i = 0; i < until; ++i) {
      const std::vector<at::Tensor> read = run->layer_inputs(stream);
      // Where layers are recomputed, they run again after this function has returned.
      stream = run_block(
          recompute, read, trained.outside,
          [run, i](std::span<const at::Tensor> inputs) { return run->run_layer(i, inputs); },
          trained.inside);
    }
    return stream;
  });
}

}  // namespace

Result<at::Tensor> sequence_states(const Decoder& decoder, std::span<const SequenceInput> inputs,
                                   Recompute recompute) {
  const auto stream =
      stream_until(decoder, inputs, recompute, static_cast<size_t>(decoder.shape().layers));
  if (!stream.ok()) return stream;
  return guarded("reading sequences",
                 [&]() -> Result<at::Tensor> { return decoder.last_states(*stream); });
}

Result<at::Tensor> stream_before(const Decoder& decoder, const SequenceInput& input, size_t layer,
                                 Recompute recompute) {
  return stream_until(decoder, {&input, 1}, recompute, layer);
}

Result<at::Tensor> sequence_logits(const Decoder& decoder, const SequenceInput& input) {
  Result<at::Tensor> states = sequence_states(decoder, {&input, 1});
  if (!states.ok()) return states.error();
  return guarded("multiplying by the head",
                 [&]() -> Result<at::Tensor> { return apply(decoder.head(), *states); });
}

}  // namespace qfs::nn

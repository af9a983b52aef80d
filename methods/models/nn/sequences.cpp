#include "methods/models/nn/sequences.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
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

class WholeSequences final : public LayerOperations {
 public:
  WholeSequences(const Decoder& decoder, std::vector<Part> parts, Rotations rotations)
      : decoder_(decoder), parts_(std::move(parts)), rotations_(std::move(rotations)) {}

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

  /// Of all adapters, what gradients reach.
  std::vector<at::Tensor> trained() const {
    std::vector<at::Tensor> tensors;
    std::vector<const Adapters*> seen;
    for (const Part& part : parts_) {
      if (part.adapters == nullptr || std::ranges::count(seen, part.adapters.get()) > 0) continue;
      seen.push_back(part.adapters.get());
      for (const at::Tensor& one : part.adapters->trained()) tensors.push_back(one);
    }
    return tensors;
  }

  at::Tensor multiply(const Linear& linear, const at::Tensor& x) override {
    const bool alike = std::ranges::all_of(
        parts_, [&](const Part& part) { return part.adapters == parts_.front().adapters; });
    if (alike) return adapted(linear, x, parts_.front().adapters.get());
    return per_part([&](const Part& part) {
      return adapted(linear, x.narrow(0, part.first, part.tokens), part.adapters.get());
    });
  }

  at::Tensor attend_past(size_t, const at::Tensor& qkv) override {
    return per_part([&](const Part& part) {
      const auto rows = [&](const at::Tensor& of_all) {
        return of_all.defined() ? of_all.narrow(0, part.first, part.tokens) : at::Tensor();
      };
      return causal_attention(rows(qkv), decoder_.shape(),
                              {rows(rotations_.cosines), rows(rotations_.sines)});
    });
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

}  // namespace

Result<at::Tensor> sequence_states(const Decoder& decoder, std::span<const SequenceInput> inputs,
                                   Recompute recompute) {
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
    const auto run =
        std::make_shared<WholeSequences>(decoder, std::move(parts), std::move(rotations));
    at::Tensor stream = decoder.embed(at::tensor(ids).to(device), places.to(device));
    const std::vector<at::Tensor> trained = run->trained();
    for (size_t i = 0; i < static_cast<size_t>(decoder.shape().layers); ++i) {
      const std::vector<at::Tensor> read = run->layer_inputs(stream);
      // Where layers are recomputed, they run again after this function has returned.
      stream = run_block(recompute, read, trained, [run, i](std::span<const at::Tensor> inputs) {
        return run->run_layer(i, inputs);
      });
    }
    return decoder.last_states(stream);
  });
}

Result<at::Tensor> sequence_logits(const Decoder& decoder, const SequenceInput& input) {
  Result<at::Tensor> states = sequence_states(decoder, {&input, 1});
  if (!states.ok()) return states.error();
  return guarded("multiplying by the head",
                 [&]() -> Result<at::Tensor> { return apply(decoder.head(), *states); });
}

}  // namespace qfs::nn

#include "methods/models/nn/sequences.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "methods/models/nn/adapters.h"
#include "methods/models/nn/causal_attention.h"
#include "methods/models/nn/input_checks.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/trained_weights.h"

namespace qfs::nn {

namespace {

/// One input among the rows of all.
struct Part {
  int64_t first = 0;
  int64_t tokens = 0;
  at::Tensor source;  ///< the encoder's states, of an encoder-decoder
  std::shared_ptr<const Adapters> adapters = {};
  // Of a segment of an input with a memory:
  std::shared_ptr<const InfiniMemory> memory = {};
  TokenSpan query = {};  ///< in the first segment
  /// Of a source that is read in another way; null: in full.
  std::shared_ptr<const SourceReading> reading = {};
  std::shared_ptr<const Dropout> dropout = {};
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
  WholeSequences(const Decoder& decoder, std::vector<Part> parts, Rotations rotations,
                 Recompute recompute)
      : LayerOperations(adapted_of(parts)),
        decoder_(decoder),
        parts_(std::move(parts)),
        rotations_(std::move(rotations)),
        again_(recompute != Recompute::nothing) {}

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

  /// What the layers begin with, of a segment.
  void go_on_from(std::vector<SegmentState> states) { before_ = after_ = std::move(states); }
  std::vector<SegmentState> left() const { return after_; }

  at::Tensor multiply(const Linear& linear, const at::Tensor& x) override {
    const bool alike = std::ranges::all_of(parts_, [&](const Part& part) {
      return add_the_same(linear, part.adapters.get(), parts_.front().adapters.get());
    });
    if (alike) return adapted(linear, x, parts_.front().adapters.get());
    return per_part([&](const Part& part) {
      return adapted(linear, x.narrow(0, part.first, part.tokens), part.adapters.get());
    });
  }

  at::Tensor attend_past(size_t layer, const Linear& linear, const at::Tensor& x) override {
    const at::Tensor qkv = multiply(linear, x);
    if (const Part& part = parts_.front(); part.memory != nullptr) {
      const Projections all = projections_of(qkv, decoder_.shape(), rotations_);
      // Gone when the layer has its own, so that what is read takes the memory of one set of
      // states.
      SegmentState state = again_ ? before_[layer] : std::move(before_[layer]);
      if (part.memory->options.query_focused && !state.asking.defined()) {
        state.asking =
            mean_query(linear, x.narrow(0, part.query.first, part.query.count), decoder_.shape());
      }
      const at::Tensor attended =
          attend_segment(*part.memory, layer,
                         {projections_of(qkv, decoder_.shape(), {}), all.queries, all.keys}, state);
      after_[layer] = std::move(state);
      return has_prompt(layer) ? beside_attention(layer, attended, all.queries) : attended;
    }
    const at::Tensor attended = per_part([&](const Part& part) {
      const auto rows = [&](const at::Tensor& of_all) {
        return of_all.defined() ? of_all.narrow(0, part.first, part.tokens) : at::Tensor();
      };
      return causal_attention(rows(qkv), decoder_.shape(),
                              {rows(rotations_.cosines), rows(rotations_.sines)}, again_,
                              part.dropout.get(), block_place(true, layer, LayerBlock::attention));
    });
    if (!has_prompt(layer)) return attended;
    return beside_attention(layer, attended,
                            projections_of(qkv, decoder_.shape(), rotations_).queries);
  }

  at::Tensor attend_source(size_t layer, const at::Tensor& queries) override {
    return per_part([&](const Part& part) {
      const SourceQuery query = {decoder_,
                                 layer,
                                 part.source,
                                 queries.narrow(0, part.first, part.tokens),
                                 part.adapters.get(),
                                 part.dropout.get()};
      return part.reading == nullptr ? attend_to_all(query) : part.reading->attend(query);
    });
  }

  at::Tensor dropped(size_t layer, LayerBlock block, const at::Tensor& added) override {
    return dropped_by(&Dropout::of_residual, block_place(true, layer, block), added);
  }
  at::Tensor dropped_activations(size_t layer, const at::Tensor& x) override {
    return dropped_by(&Dropout::of_activation, block_place(true, layer, LayerBlock::mlp), x);
  }
  at::Tensor dropped_embeddings(const at::Tensor& stream) const {
    return dropped_by(&Dropout::of_residual, embedding_place(true), stream);
  }

 private:
  at::Tensor dropped_by(at::Tensor (Dropout::*drop)(const at::Tensor&, uint64_t) const,
                        uint64_t place, const at::Tensor& rows) const {
    const auto none = [](const Part& part) { return part.dropout == nullptr; };
    if (std::ranges::all_of(parts_, none)) return rows;
    return per_part([&](const Part& part) {
      const at::Tensor own = rows.narrow(0, part.first, part.tokens);
      return part.dropout == nullptr ? own : (*part.dropout.*drop)(own, place);
    });
  }

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
  Rotations rotations_;               ///< of every row
  bool again_;                        ///< layers are computed once more for gradients
  std::vector<SegmentState> before_;  ///< of each layer, of a segment
  std::vector<SegmentState> after_;   ///< likewise
};

/// Gives layers that are recomputed leaves of their own, for adapters may be computed of others.
CutLeaves cut_off(std::vector<Part>& parts) {
  CutLeaves leaves;
  std::map<std::shared_ptr<const Adapters>, std::shared_ptr<const Adapters>> cut;
  for (Part& part : parts) {
    if (part.memory != nullptr) {
      for (const at::Tensor& one : part.memory->trained()) {
        leaves.outside.push_back(one);
        leaves.inside.push_back(one);
      }
    }
    if (part.adapters == nullptr) continue;
    std::shared_ptr<const Adapters>& inside = cut[part.adapters];
    if (inside == nullptr) inside = part.adapters->cut_off(leaves);
    part.adapters = inside;
  }
  return leaves;
}

Status check_input(const SequenceInput& input, const Decoder& decoder) {
  const SequenceShape& shape = decoder.shape().sequence;
  const std::vector<int32_t>& begun = begun_with(input, shape);
  const auto count = static_cast<int64_t>(begun.size());
  if (count == 0 || count > shape.context) {
    return invalid_argument("a sequence of " + std::to_string(count) +
                            " tokens; the backbone's window has " + std::to_string(shape.context));
  }
  if (shape.encoder_decoder() && !input.embedded.empty()) {
    return invalid_argument("an encoder-decoder takes no embedded rows");
  }
  if (Status fits = check_embedded(input, decoder.hidden()); !fits.ok()) return fits;
  if (!shape.encoder_decoder() && input.dropout != nullptr) {
    return invalid_argument("a decoder-only model has no dropout");
  }
  return check_token_ids(begun, shape.vocabulary);
}

/// Rows with their ids and positions (on the CPU), the first of which is that of `embedded` rows.
struct StreamRows {
  at::Tensor ids;
  at::Tensor places;
  std::vector<EmbeddedRows> embedded = {};
  int64_t first = 0;
};

/// The stream that enters layer `until`. `before`: what the layers begin with, of a segment; they
/// leave their own there. Throws.
at::Tensor stream_until(const Decoder& decoder, std::vector<Part> parts, const StreamRows& rows,
                        Recompute recompute, size_t until,
                        std::vector<SegmentState>* before = nullptr) {
  CutLeaves trained;
  if (recompute != Recompute::nothing) {
    trained = cut_off(parts);
    for (at::Tensor& weight :
         trained_among([&](WeightVisitor& visitor) { decoder.visit(visitor); })) {
      trained.outside.push_back(weight);
      trained.inside.push_back(std::move(weight));
    }
  }
  const auto run = std::make_shared<WholeSequences>(decoder, std::move(parts),
                                                    rotations_of(decoder, rows.places), recompute);
  if (before != nullptr) run->go_on_from(std::move(*before));
  const at::Device device = decoder.device();
  at::Tensor stream = run->dropped_embeddings(
      entering(decoder, rows.ids.to(device), rows.places.to(device), rows.embedded, rows.first));
  for (size_t i = 0; i < until; ++i) {
    const std::vector<at::Tensor> read = run->layer_inputs(stream);
    // Where layers are recomputed, they run again after this function has returned.
    stream = run_block(
        recompute, read, trained.outside,
        [run, i](std::span<const at::Tensor> inputs) { return run->run_layer(i, inputs); },
        trained.inside);
  }
  if (before != nullptr) *before = run->left();
  return stream;
}

size_t layers_of(const Decoder& decoder) { return static_cast<size_t>(decoder.shape().layers); }

std::vector<int64_t> lengths_of(const SequenceInput& input) {
  return segment_lengths(static_cast<int64_t>(input.ids.size()), input.memory->options.segment,
                         input.stepped);
}

/// All segments of an input with a memory; `each` is called with the states of each. Throws.
template <class Each>
std::vector<SegmentState> run_segments(const Decoder& decoder, const SequenceInput& input,
                                       Recompute recompute, int64_t gradients_from,
                                       const Each& each) {
  const auto count = static_cast<int64_t>(input.ids.size());
  const at::Tensor ids = at::tensor(input.ids);
  const at::Tensor places = at::arange(count);
  std::vector<SegmentState> states(layers_of(decoder));
  int64_t first = 0;
  size_t index = 0;
  for (const int64_t tokens : lengths_of(input)) {
    const c10::AutoGradMode gradients(c10::GradMode::is_enabled() &&
                                      first + tokens > gradients_from);
    const bool own = first == 0 || input.later_adapters.empty();
    Part part{0,
              tokens,
              {},
              own ? input.adapters : input.later_adapters[index - 1],
              input.memory,
              input.query};
    const StreamRows rows = {ids.narrow(0, first, tokens), places.narrow(0, first, tokens),
                             input.embedded, first};
    each(decoder.last_states(
        stream_until(decoder, {std::move(part)}, rows, recompute, layers_of(decoder), &states)));
    first += tokens;
    ++index;
  }
  return states;
}

Status check_memory(const SequenceInput& input, const SequenceShape& shape) {
  if (shape.encoder_decoder()) {
    return invalid_argument("an encoder-decoder attends without compressive memory");
  }
  const auto count = static_cast<int64_t>(input.ids.size());
  const TokenSpan& query = input.query;
  const InfiniOptions& options = input.memory->options;
  if (input.stepped < 0 || input.stepped >= count) {
    return invalid_argument(std::to_string(input.stepped) + " of " + std::to_string(count) +
                            " tokens one by one; expected fewer");
  }
  const size_t later = input.later_adapters.size();
  if (later > 0 && later + 1 != lengths_of(input).size()) {
    return invalid_argument("adapters of " + std::to_string(later) +
                            " segments behind the first; there are " +
                            std::to_string(lengths_of(input).size() - 1));
  }
  const int64_t whole = std::min(options.segment, count - input.stepped);
  if (options.query_focused && (query.count < 1 || query.first < 0 || query.end() > whole)) {
    return invalid_argument("a query of " + std::to_string(query.count) + " tokens at " +
                            std::to_string(query.first) +
                            " for a query-focused memory; expected some " +
                            "in the first segment of " + std::to_string(whole));
  }
  return {};
}

/// What sequence_states returns for inputs of which some have memories.
Result<at::Tensor> segmented_states(const Decoder& decoder, std::span<const SequenceInput> inputs,
                                    Recompute recompute, const SegmentReading& reading) {
  const SequenceShape& shape = decoder.shape().sequence;
  std::vector<at::Tensor> states;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const SequenceInput& input = inputs[i];
    if (input.memory == nullptr) {
      auto whole = sequence_states(decoder, {&input, 1}, recompute);
      if (!whole.ok()) return whole;
      states.push_back(*std::move(whole));
      continue;
    }
    Status fits = check_input(input, decoder);
    if (fits.ok()) fits = check_memory(input, shape);
    if (!fits.ok()) return fits.error();
    const int64_t from = reading.gradients_from.empty() ? 0 : reading.gradients_from[i];
    const Status read = guarded("reading segments", [&]() -> Status {
      run_segments(decoder, input, recompute, from,
                   [&](const at::Tensor& segment) { states.push_back(segment); });
      return {};
    });
    if (!read.ok()) return read.error();
  }
  return guarded("joining segments", [&]() -> Result<at::Tensor> { return at::cat(states); });
}

/// The same of inputs without memories, all at once.
Result<at::Tensor> stream_until(const Decoder& decoder, std::span<const SequenceInput> inputs,
                                Recompute recompute, size_t until,
                                const SourceReadings& sources = {}) {
  const SequenceShape& shape = decoder.shape().sequence;
  std::vector<int64_t> ids;
  std::vector<int64_t> positions;
  std::vector<Part> parts;
  std::vector<EmbeddedRows> embedded;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const SequenceInput& input = inputs[i];
    if (Status fits = check_input(input, decoder); !fits.ok()) return fits.error();
    const std::vector<int32_t>& begun = begun_with(input, shape);
    const auto count = static_cast<int64_t>(begun.size());
    Part part{static_cast<int64_t>(ids.size()), count, {}, input.adapters};
    part.dropout = input.dropout;
    if (shape.encoder_decoder()) {
      if (!sources.empty()) part.reading = sources[i];
      Result<at::Tensor> source = part.reading == nullptr
                                      ? decoder.encode(input, recompute)
                                      : part.reading->encode(decoder, input, recompute);
      if (!source.ok()) return source.error();
      part.source = *std::move(source);
    }
    for (const EmbeddedRows& some : input.embedded) {
      embedded.push_back({part.first + some.at, some.rows});
    }
    ids.insert(ids.end(), begun.begin(), begun.end());
    for (int64_t place = 0; place < count; ++place) positions.push_back(place);
    parts.push_back(std::move(part));
  }
  return guarded("reading sequences", [&]() -> Result<at::Tensor> {
    return stream_until(decoder, std::move(parts),
                        {at::tensor(ids), at::tensor(positions), std::move(embedded)}, recompute,
                        until);
  });
}

}  // namespace

Result<at::Tensor> sequence_states(const Decoder& decoder, std::span<const SequenceInput> inputs,
                                   Recompute recompute, const SegmentReading& reading,
                                   const SourceReadings& sources) {
  if (inputs.empty()) return invalid_argument("no sequences to read");
  if (!sources.empty() && !decoder.shape().sequence.encoder_decoder()) {
    return invalid_argument("a decoder-only model has no source to read");
  }
  if (std::ranges::any_of(inputs, [](const auto& input) { return input.memory != nullptr; })) {
    return segmented_states(decoder, inputs, recompute, reading);
  }
  const auto stream = stream_until(decoder, inputs, recompute, layers_of(decoder), sources);
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

Result<ReadSegments> read_segments(const Decoder& decoder, const SequenceInput& prompt) {
  const SequenceShape& shape = decoder.shape().sequence;
  Status fits = check_input(prompt, decoder);
  if (fits.ok()) fits = check_memory(prompt, shape);
  if (!fits.ok()) return fits.error();
  return guarded("reading segments", [&]() -> Result<ReadSegments> {
    ReadSegments read;
    read.layers = run_segments(
        decoder, prompt, Recompute::nothing, 0,
        [&](const at::Tensor& segment) { read.last = segment.narrow(0, segment.size(0) - 1, 1); });
    return read;
  });
}

}  // namespace qfs::nn

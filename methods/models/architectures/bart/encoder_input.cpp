#include "methods/models/architectures/bart/encoder_input.h"

#include <algorithm>
#include <string>

#include "methods/models/architectures/bert/transformer_encoder.h"
#include "methods/models/nn/runtime/input_checks.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/windowed/windowed_attention.h"

namespace qfs::architectures {

namespace {

Status check_global(const nn::SequenceInput& input, const nn::SequenceShape& shape) {
  const auto& global = input.global_positions;
  if (global.empty()) return {};
  if (!shape.global_attention) {
    return invalid_argument("global positions for an encoder without windowed attention");
  }
  const bool increasing =
      std::ranges::adjacent_find(global, std::ranges::greater_equal{}) == global.end();
  if (increasing && global.front() >= 0 && global.back() < static_cast<int64_t>(input.ids.size())) {
    return {};
  }
  return invalid_argument("global positions must be increasing positions of the input's " +
                          std::to_string(input.ids.size()) + " tokens");
}

}  // namespace

nn::SequenceShape shape_of(const BartConfig& config) {
  return {.vocabulary = config.encoder.vocabulary,
          .context = config.decoder_positions(),
          .source_context = config.encoder.max_tokens(),
          .decoder_start = config.decoder_start,
          .global_attention = !config.windows.empty()};
}

nn::SequenceShape shape_of(const BartWeights& weights) {
  nn::SequenceShape shape = shape_of(weights.config);
  shape.vocabulary = weights.head.weight.size(0);
  return shape;
}

Result<at::Tensor> encode_source(const BartWeights& weights, const nn::SequenceInput& input) {
  const nn::SequenceShape shape = shape_of(weights);
  if (Status status = check_global(input, shape); !status.ok()) return status.error();
  const TransformerEncoder encoder(weights.encoder);
  const EncoderInput text = {input.ids, {}};
  if (!shape.global_attention) return encoder.hidden_states({&text, 1}, encoder.config().layers);
  const at::Device device = weights.encoder->token_embeddings.device();
  return nn::guarded("encoding a text", [&] {
    const nn::WindowedAttention attention(weights.config.windows, weights.global,
                                          input.global_positions,
                                          static_cast<int64_t>(input.ids.size()), device);
    return encoder.hidden_states(text, attention);
  });
}

Status check_prefill(int64_t row, const nn::SequenceInput& input, const nn::SequenceShape& shape,
                     std::span<const int64_t> lengths, int64_t capacity) {
  if (Status in = nn::check_cache_row(row, lengths.size()); !in.ok()) return in;
  if (lengths[static_cast<size_t>(row)] != 0) {
    return invalid_argument("row " + std::to_string(row) + " is in use");
  }
  if (input.shared) return invalid_argument("an encoder-decoder shares no prefixes");
  return check_decoder_ids(nn::begun_with(input, shape), capacity, shape.vocabulary);
}

Status check_decoder_ids(std::span<const int32_t> ids, int64_t most, int64_t vocabulary) {
  const auto count = static_cast<int64_t>(ids.size());
  if (count == 0 || count > most) {
    return invalid_argument(std::to_string(count) + " decoder ids; the decoder reads 1 to " +
                            std::to_string(most));
  }
  return nn::check_token_ids(ids, vocabulary);
}

}  // namespace qfs::architectures

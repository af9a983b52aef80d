// SequenceModel: a language model that continues sequences, with the caches of the rows that it
// continues: decoder-only, or a decoder that attends to what an encoder read.
//
// Called by generation. Owns its caches and serves one caller at a time; weights are shared.
// LibTorch's exceptions come out as Errors.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/api/result.h"

namespace qfs::nn {

/// The first positions of a prompt, which the prompt of another row begins with too.
struct SharedPrefix {
  int64_t row = 0;        ///< was read before
  int64_t positions = 0;  ///< at least 1, fewer than the prompt has
};

class Adapters;  // adapters.h, as AdapterSet
struct AdapterSet;
struct InfiniMemory;  // infini_memory.h
struct Dropout;       // dropout.h

/// Some tokens of an input, beside one another.
struct TokenSpan {
  int64_t first = 0;
  int64_t count = 0;  ///< 0: there are none, or it is not known which

  int64_t end() const { return first + count; }
  friend bool operator==(const TokenSpan&, const TokenSpan&) = default;
};

/// Rows [count, hidden] in the place of as many tokens, as they enter the first layer but for
/// learned positions.
struct EmbeddedRows {
  int64_t at = 0;  ///< position of the first; the ids there are placeholders
  at::Tensor rows;

  int64_t end() const { return at + rows.size(0); }
};

/// What a row begins with.
struct SequenceInput {
  std::vector<int32_t> ids = {};  ///< the prompt; of an encoder-decoder, what the encoder reads
  /// Positions of `ids` that attend to all and are attended to by all, increasing; only for
  /// encoders with windowed attention.
  std::vector<int64_t> global_positions = {};
  /// What the decoder of an encoder-decoder begins with; empty: SequenceShape::decoder_start.
  std::vector<int32_t> decoder_ids = {};
  /// Taken from that row's cache instead of being read again; decoder-only models. The rest is
  /// computed by fewer rows at a time, so last bits may differ from those of the whole prompt.
  std::optional<SharedPrefix> shared = {};
  /// Where the query and the document stand in `ids` of a decoder-only model: tokens with a byte of
  /// them. A query-focused memory asks by the query.
  TokenSpan query = {};
  TokenSpan document = {};
  /// Bound to this model by SequenceModel::bind; the row keeps them, also where it is reassigned.
  /// Null: none.
  std::shared_ptr<const Adapters> adapters = {};
  /// With it attention has a window, and remembers what has left it; null: it sees all. Of
  /// decoder-only models.
  std::shared_ptr<const InfiniMemory> memory = {};
  /// With a memory: tokens at the end that are read one by one, as they are generated.
  int64_t stepped = 0;
  /// Likewise, in sequences.h: the adapters of each segment behind the first; empty: `adapters`.
  std::vector<std::shared_ptr<const Adapters>> later_adapters = {};
  /// In order, none in the place of another's; of decoder-only models. Such a row shares no prefix.
  std::vector<EmbeddedRows> embedded = {};
  /// Of encoder and decoder, in sequences.h; null: none. Of encoder-decoders.
  std::shared_ptr<const Dropout> dropout = {};
};

/// The layers of a decoder that take adapters of whole layers (layer_adapters.h).
struct LayerWidths {
  int64_t layers = 0;  ///< 0: this architecture's take none
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  int64_t intermediate = 0;
};

struct SequenceShape {
  int64_t vocabulary = 0;
  /// Positions of the sequence that is continued: prompt and output together, or all the decoder's.
  int64_t context = 0;
  int64_t source_context = 0;  ///< longest input of the encoder; 0: the model is decoder-only
  std::vector<int32_t> decoder_start = {};
  bool global_attention = false;  ///< the encoder knows SequenceInput::global_positions
  LayerWidths widths = {};

  bool encoder_decoder() const { return source_context > 0; }
};

/// What the sequence that is continued begins with: the prompt, or the decoder's first tokens.
inline const std::vector<int32_t>& begun_with(const SequenceInput& input,
                                              const SequenceShape& shape) {
  if (!shape.encoder_decoder()) return input.ids;
  return input.decoder_ids.empty() ? shape.decoder_start : input.decoder_ids;
}

class SequenceModel {
 public:
  virtual ~SequenceModel() = default;
  virtual const SequenceShape& shape() const = 0;

  /// Adapters for rows of this model. Errors as Adapters::bind.
  virtual Result<std::shared_ptr<const Adapters>> bind(const AdapterSet& set) const = 0;

  /// The residual stream that enters a layer, of all tokens of an input: [tokens, hidden], float32
  /// on the CPU. Caches are left as they are. Decoder-only models; errors as prefill.
  virtual Result<at::Tensor> stream_before(size_t layer, const SequenceInput& input) = 0;

  /// Empties the caches, and enlarges them to `rows` rows of `capacity` positions (those that
  /// SequenceShape::context counts) where they are smaller. `invalid_argument` when capacity
  /// exceeds the model's context, `out_of_memory`.
  virtual Status begin(int64_t rows, int64_t capacity) = 0;

  /// Reads an input into an empty row; `logits` [vocabulary] receives those that follow its last
  /// token. `invalid_argument`: no tokens, too many, an unknown id, a row in use, or a shared
  /// prefix that is not held or that this kind of model does not share.
  virtual Status prefill(int64_t row, const SequenceInput& input, std::span<float> logits) = 0;

  /// One step for `rows` (distinct, not empty) with one token each; `logits` [rows, vocabulary].
  virtual Status decode(std::span<const int64_t> rows, std::span<const int32_t> tokens,
                        std::span<float> logits) = 0;

  /// What the head multiplied to the logits of the last prefill or decode: [1 or rows, hidden],
  /// float32 on the CPU. `unavailable` of rows with a memory; `invalid_argument` before the first.
  virtual Result<at::Tensor> last_states() const = 0;

  /// rows[i] goes on from where sources[i] stands, all at once (beams that change places or
  /// branch). `rows` are distinct; a source may be named several times, and must not be empty.
  virtual Status reassign(std::span<const int64_t> rows, std::span<const int64_t> sources) = 0;
};

}  // namespace qfs::nn

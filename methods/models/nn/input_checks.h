// Checks of what models are given, with one wording for all of them.
//
// Called by models and encoders before they compute. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/nn/sequence_model.h"

namespace qfs::nn {

/// `invalid_argument` for an id outside the vocabulary.
Status check_token_ids(std::span<const int32_t> ids, int64_t vocabulary);

/// Rows in the place of an input's ids, for a model of this width. `invalid_argument`: of another
/// width, outside the ids, out of order, with a shared prefix.
Status check_embedded(const SequenceInput& input, int64_t hidden);

/// `invalid_argument` for a cache of no rows, or of rows longer than the model's window.
Status check_cache_size(int64_t rows, int64_t capacity, int64_t context);

/// `internal` for a row that the cache does not have.
Status check_cache_row(int64_t row, size_t rows);

/// `internal` unless `logits` has room for those of so many rows.
Status check_logits_room(std::span<const float> logits, size_t rows, int64_t vocabulary);

/// A prompt for a row of a decoder-only model's cache. `internal`: a row outside the cache;
/// `invalid_argument`: no tokens, too many, an unknown id, a row in use.
Status check_prompt(int64_t row, std::span<const int32_t> tokens, int64_t vocabulary,
                    std::span<const int64_t> lengths, int64_t capacity);

/// `invalid_argument` when the row whose prefix is shared was read with other adapters; `adapters`
/// are the rows'.
Status check_shared_adapters(const SharedPrefix& shared, const SequenceInput& input,
                             std::span<const std::shared_ptr<const Adapters>> adapters);

/// An input for a row of an encoder-decoder's cache; what its encoder reads is not looked at. As
/// check_prompt, for the tokens that the decoder begins with; no shared prefix, no embedded rows.
Status check_source_prompt(int64_t row, const SequenceInput& input, const SequenceShape& shape,
                           std::span<const int64_t> lengths, int64_t capacity);

/// `invalid_argument` unless there are 1 to `most` known ids for a decoder to begin with.
Status check_decoder_ids(std::span<const int32_t> ids, int64_t most, int64_t vocabulary);

/// A step of decoding for rows of a cache that hold `lengths` of `capacity` positions. `internal`:
/// no rows, not a token each, a row outside the cache; `invalid_argument`: an unknown id, a row
/// that is empty or full.
Status check_step(std::span<const int64_t> rows, std::span<const int32_t> tokens,
                  int64_t vocabulary, std::span<const int64_t> lengths, int64_t capacity);

}  // namespace qfs::nn

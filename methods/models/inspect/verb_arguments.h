// Arguments of the model verbs that read a prompt: the network that reads it, the input and how its
// output is decoded.
//
// Called by model_verbs.h. Pure; thread-safe.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "harness/api/result.h"
#include "methods/models/architectures/backbone.h"
#include "methods/models/decoding/decoding.h"
#include "methods/models/nn/sequence_model.h"

namespace qfs::inspect {

/// `ids`, or `text` (with `chat` inside the chat template of a decoder-only model, with the special
/// tokens of the tokenizer's template for an encoder); `global_positions` for encoders with
/// windows, the first token by default. `invalid_argument` for both or neither.
Result<nn::SequenceInput> input_of(const nlohmann::json& arguments,
                                   const architectures::Backbone& backbone);

/// `max_new_tokens`, `stop` and, in `decoding`, parameters of decoding_params.h by name; the
/// checkpoint's own settings with "decoding": {"decoding": "checkpoint"}. `invalid_argument` names
/// what is unknown, of another kind or out of range.
Result<decoding::DecodingOptions> decoding_of(const nlohmann::json& arguments,
                                              const architectures::Backbone& backbone);

}  // namespace qfs::inspect

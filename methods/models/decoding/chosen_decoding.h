// The decoding that a method's parameters choose, together with what the checkpoint requires and,
// with "decoding": "checkpoint", with its publisher's settings.
//
// Called by sessions when they open. Pure; thread-safe.
#pragma once

#include "harness/api/params.h"
#include "harness/api/result.h"
#include "methods/models/architectures/reading/generation_defaults.h"
#include "methods/models/decoding/decoding.h"
#include "methods/models/nn/sequence_model.h"

namespace qfs::decoding {

/// End tokens, and the tokens that an encoder-decoder's output is forced to begin and end with, are
/// the checkpoint's whatever is asked for. Of the publisher's settings (beams, sampling,
/// no_repeat_ngram, shortest output) each parameter that is given replaces its own; longest outputs
/// are the method's matter. `params` have passed check_decoding. `unavailable` names a setting of
/// the publisher that is not computed here, `data` one that is malformed; `invalid_argument`: a
/// parameter that has no effect, or contradicts them.
Result<DecodingOptions> chosen_decoding(const Params& params,
                                        const architectures::GenerationDefaults& defaults,
                                        const nn::SequenceShape& shape);

}  // namespace qfs::decoding

// The decoding that a checkpoint's own settings ask for.
//
// Called by sessions when they open. Pure; thread-safe.
#pragma once

#include "harness/api/result.h"
#include "methods/backbones/reading/generation_defaults.h"
#include "methods/backbones/sequence_model.h"
#include "methods/generation/decoding.h"

namespace qfs::generation {

/// What belongs to the model whatever the method asks for: its end tokens, and the tokens that an
/// encoder-decoder's output is forced to begin and end with.
DecodingOptions required_decoding(const backbones::GenerationDefaults& defaults,
                                  const backbones::SequenceShape& shape);

/// Also how its publisher generates: beams or sampling, no_repeat_ngram, shortest output. Longest
/// outputs are the method's matter. `unavailable` names a setting that is not computed here.
Result<DecodingOptions> published_decoding(const backbones::GenerationDefaults& defaults,
                                           const backbones::SequenceShape& shape);

}  // namespace qfs::generation

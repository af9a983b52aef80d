// The parameters of methods that generate text: how tokens are chosen and what ends an output.
//
// Specs declare them beside their own (torch-free, known to the driver); sessions turn them into
// DecodingOptions. All are optional, so that a cell that gives none keeps its id: the most probable
// token at each step. Pure; thread-safe.
#pragma once

#include <string_view>
#include <vector>

#include "harness/api/params.h"
#include "harness/api/result.h"
#include "methods/generation/decoding.h"

namespace qfs::generation {

/// temperature, top_k, top_p, nucleus, num_beams, length_penalty, early_stopping, beam_rules,
/// min_new_tokens, no_repeat_ngram.
std::vector<ParamSpec> decoding_params();

/// Rules between them: no parameter of sampling beside one of beams, none of either without its
/// first (`temperature`, `num_beams`).
Status check_decoding(const Params& params);

/// "yes", "never"; anything else is "no".
EarlyStopping early_stopping_named(std::string_view name);

/// Puts what was given into `options`; what was left out stays as it is.
void apply_decoding(const Params& params, DecodingOptions& options);

}  // namespace qfs::generation

// The parameters of methods that generate text: how tokens are chosen and what ends an output.
//
// Specs declare them beside their own (torch-free, known to the driver); sessions turn them into
// DecodingOptions (chosen_decoding.h). All are optional, so that a cell that gives none keeps its
// id: the most probable token at each step. Pure; thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/params.h"
#include "harness/api/result.h"
#include "harness/core/foreign_names.h"
#include "methods/models/decoding/decoding.h"

namespace qfs::decoding {

/// temperature, top_k, top_p, nucleus, num_beams, length_penalty, early_stopping, beam_rules,
/// min_new_tokens, min_length, no_repeat_ngram, repetition_penalty.
std::vector<ParamSpec> decoding_params();

/// What transformers' GenerationConfig calls them, and what it has that they do not do.
ForeignNames foreign_decoding();

/// Those that have an effect on drawn tokens only, and on beams only.
std::span<const char* const> drawing_params();
std::span<const char* const> searching_params();

/// The first of `names` that is given; else empty.
std::string first_given(const Params& params, std::span<const char* const> names);

/// Whether tokens may be drawn, so that the seed matters: "temperature" is given, or the
/// checkpoint's own settings are asked for, which nobody has read yet.
bool may_draw(const Params& params);

/// Rules between them: no parameter of sampling beside one of beams, none of either without its
/// first (`temperature`, `num_beams`), which with "decoding": "checkpoint" may be the publisher's.
Status check_decoding(const Params& params);

/// "yes", "never"; anything else is "no".
EarlyStopping early_stopping_named(std::string_view name);

}  // namespace qfs::decoding

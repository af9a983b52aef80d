// What methods that prompt a backbone declare alike: their parameters, the rules between them, how
// a cell is cut and what it costs.
//
// Used by specs (zero_shot, lora); torch-free. Pure; thread-safe.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/api/method.h"

namespace qfs::prompted {

/// The flag of prompts that are tokenized piece by piece.
inline constexpr const char* kPromptPieces = "prompt_pieces";

std::vector<ParamSpec> prompted_params();
/// MethodSpec::validate: `prompt` holds {document} once, {query} at most once and no other
/// placeholder, and so on.
Status check_prompted(const Params& params);
/// MethodSpec::check_backbone: an encoder-decoder's decoder has room for outputs and for those that
/// are learned.
Status check_outputs(const Params& params, const BackboneFacts& facts);
/// Parameters that only the other kind of backbone has a use for.
Status check_layout(const Params& params, bool encoder_decoder);
/// Both, and 'local_context' is not above what the backbone was trained to read
/// at once, unless 'source_positions' asks for that, and 'total_tokens' not above a sequence.
Status check_window(const Params& params, const BackboneFacts& facts);
/// MethodSpec::units of `spec`: with `prefix_reuse` a unit holds examples of one document.
std::vector<Unit> prompted_units(const MethodSpec& spec, const Params& params,
                                 std::span<const NumberedExample> examples);
Cost prompted_cost(const Params& params, const DatasetStats& stats);
/// Of a nominal model, as all estimates.
double reading_flops(double tokens);
/// All of its weights, so many times.
double weight_bytes(double times);
/// So many cached tokens.
double cache_bytes(double tokens);

}  // namespace qfs::prompted

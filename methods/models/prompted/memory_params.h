// What methods declare alike whose attention can have a compressive memory (nn/infini_memory.h):
// their parameters and the rules between them.
//
// Used by specs (lora) and by what prompts them; torch-free. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/method.h"

namespace qfs::prompted {

/// With a memory `local_context` is the length of a segment, and `input_tokens` that of the
/// document.
std::vector<ParamSpec> memory_params();
/// MethodSpec::validate of them.
Status check_memory_params(const Params& params);

bool has_memory(const Params& params);

/// MethodSpec::token_bound of them: a memory that is asked by the query has it in its first
/// segment.
std::optional<TokenBound> first_segment_bound(const Params& params, const Example& example);

/// The prompt's template, with the query repeated where it is asked for.
std::string prompt_template(const Params& params);

/// Document tokens that a method reads; nothing: all. Where they are read in windows, with a memory
/// or compressed by a "ratio", `local_context` is that of one.
std::optional<int64_t> document_budget(const Params& params);

/// Tokens of a segment where `train_segment` is left out.
inline constexpr int64_t kTrainSegment = 512;

}  // namespace qfs::prompted

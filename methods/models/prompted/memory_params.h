// What methods declare alike whose attention can have a compressive memory (nn/infini_memory.h):
// their parameters and the rules between them.
//
// Used by specs (lora) and by what prompts them; torch-free. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/api/method.h"

namespace qfs::prompted {

/// With a memory `local_context` is the length of a segment, and `input_tokens` that of the
/// document. `query_focused`: of a method whose prompts say where the query stands, which may have
/// a query-focused one, too.
std::vector<ParamSpec> memory_params(bool query_focused);
/// MethodSpec::validate of them.
Status check_memory_params(const Params& params);

bool has_memory(const Params& params);

/// Document tokens that a method reads; nothing: all.
std::optional<int64_t> document_budget(const Params& params);

/// Tokens of a segment where `train_segment` is left out.
inline constexpr int64_t kTrainSegment = 512;

}  // namespace qfs::prompted

// The parameters of lengths that methods share: how much of a document is read, which part of a
// longer one, and how much is written.
//
// Used by specs of methods. Pure. Both lengths count tokens of the cell's tokenizer in the document
// alone; prompt, query and output are outside. Those of `total_tokens` are the backbone's, of all
// that a sequence has.
#pragma once

#include <vector>

#include "harness/api/params.h"
#include "harness/api/result.h"

namespace qfs::prompting {

/// `local_context`: the whole document when left out.
ParamSpec local_context_param();
/// `truncate`: one of truncation_policy_names(), the first by default.
ParamSpec truncate_param();
/// `max_new_tokens`: 128 by default.
ParamSpec max_new_tokens_param();

inline constexpr const char* kTotalTokens = "total_tokens";
inline constexpr const char* kReservedTokens = "reserved_tokens";

/// Adds the other rule of lengths, of prompt and output together: kTotalTokens and kReservedTokens,
/// both absent when left out.
std::vector<ParamSpec> with_total_length(std::vector<ParamSpec> params);
/// The rules between them and the others. `budget`: the parameter that cuts the document otherwise.
Status check_total_length(const Params& params, const char* budget);

}  // namespace qfs::prompting

// The parameters of lengths that methods share: how much of a document is read, which part of a
// longer one, and how much is written.
//
// Used by specs of methods. Pure. Both lengths count tokens of the cell's tokenizer in the document
// alone; prompt, query and output are outside.
#pragma once

#include "harness/api/params.h"

namespace qfs::prompting {

/// `local_context`: the whole document when left out.
ParamSpec local_context_param();
/// `truncate`: one of truncation_policy_names(), the first by default.
ParamSpec truncate_param();
/// `max_new_tokens`: 128 by default.
ParamSpec max_new_tokens_param();

}  // namespace qfs::prompting

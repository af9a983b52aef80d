// The parameters of a conversation: whether a prompt is one, and what its template is given.
//
// Declared by the methods that prompt; torch-free. Pure; thread-safe.
#pragma once

#include <vector>

#include "harness/api/params.h"
#include "harness/api/result.h"
#include "methods/models/prompting/chat/chat_renderer.h"

namespace qfs::prompted {

/// system, chat, chat_date, chat_variables.
std::vector<ParamSpec> chat_params();

/// `invalid_argument`: one of them without "chat": true, a date that is none, or variables that are
/// no JSON object or name what the program sets.
Status check_chat(const Params& params);

/// Puts what parameters say of conversations beside what a model's files say.
void add_chat_params(const Params& params, prompting::ChatSettings& settings);

}  // namespace qfs::prompted

// What a user gives a chat template besides the conversation: a date and variables.
//
// Checked when a sweep is planned and again when a template is opened. Pure; thread-safe.
#pragma once

#include <optional>
#include <string>

#include "harness/api/result.h"

namespace qfs::prompting {

/// `invalid_argument`: `date` is none such as "2024-07-26", or `variables` are no JSON object or
/// name what the program sets.
Status check_chat_inputs(const std::optional<std::string>& date, const std::string& variables);

}  // namespace qfs::prompting

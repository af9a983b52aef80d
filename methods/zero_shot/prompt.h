// The prompt template of `zero_shot`: text with the placeholders {document} and {query}.
//
// Used by the spec (validation) and the session (rendering). Pure; thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "harness/api/result.h"

namespace qfs::zero_shot {

/// The default template.
std::string_view default_prompt();

/// Checks a template: {document} once, {query} at most once, no other {lower_case} placeholder.
Status check_prompt(std::string_view text);

/// Fills a checked template. Text that comes out of the document or the query is not looked at
/// again. An example without a query is asked for a summary of the document.
std::string fill_prompt(std::string_view text, std::string_view document, std::string_view query);

}  // namespace qfs::zero_shot

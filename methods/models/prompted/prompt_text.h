// The prompt of a method as text, before there are tokens: filled, in pieces, and how far a
// memory's first segment has to reach.
//
// Used by specs, which say what cannot fit, and by what prompts them; torch-free. Pure;
// thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/method.h"
#include "methods/models/prompting/prompt_template.h"

namespace qfs::prompted {

/// The prompt's template, with the query repeated where it is asked for, filled; where the
/// release's form of a memory shows the query again, what shows it first is parted by a joint from
/// what is in front, too.
prompting::FilledPrompt filled_prompt(const Params& params, std::string_view document,
                                      std::string_view query);
/// The stretches that are tokenized each by itself: between joints with `prompt_pieces`, else all.
std::vector<std::string_view> prompt_pieces(const Params& params,
                                            const prompting::FilledPrompt& filled);

/// `invalid_argument`: the query has to end within the first segment of so many tokens and does
/// not.
Status check_first_segment(const Params& params, int64_t query_end, int64_t segment);

/// MethodSpec::token_bound of prompted methods: the first segment has the whole query where that
/// asks a memory, or a hypernetwork pools it; else `total_tokens` have room for a document.
std::optional<TokenBound> prompt_bound(const Params& params, const Example& example);

}  // namespace qfs::prompted

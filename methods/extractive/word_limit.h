// Words as extractive limits count them: maximal runs of characters that are not white space (the
// built-in tokenizer `words`); in Chinese every character (`characters`). Stateless, thread-safe,
// cannot fail.
#pragma once

#include <cstdint>
#include <string_view>

#include "methods/models/retrieval/script.h"

namespace qfs::extractive {

int64_t count_words(std::string_view text, retrieval::Script script);

/// The shortest prefix with the first `limit` words; the whole text when it has no more. limit >=
/// 0.
std::string_view first_words(std::string_view text, int64_t limit, retrieval::Script script);

}  // namespace qfs::extractive

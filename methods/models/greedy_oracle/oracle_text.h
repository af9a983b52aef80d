// Texts as DYLE's oracle compares them: tokens joined by blanks.
//
// Called by oracle_dyle and by dyle, which learns from the oracle. Stateless, thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "harness/api/result.h"

namespace qfs::greedy_oracle {

/// Treebank tokens (treebank_tokens.h); of Chinese, which DYLE does not read, ICU's words. Errors:
/// those of chinese_words.
Result<std::string> oracle_text(std::string_view text, bool chinese);

}  // namespace qfs::greedy_oracle

// Where ICU finds words and sentences: UAX #29, with the dictionary for Chinese and Japanese that
// its data hold.
//
// Called by metrics and methods that read text without spaces. Words change with the versions of
// ICU and its data, so whoever shows a number made from them names both. Thread-safe: every call
// opens its own iterator. Any bytes are accepted; fails when ICU has no rules.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"

namespace qfs {

/// Appends the pieces between boundaries, which together are `text`: words, white space and
/// punctuation.
Status append_icu_words(std::string_view text, std::vector<std::string_view>& words);

/// Likewise sentences, by the rules of no language.
Status append_icu_sentences(std::string_view text, std::vector<std::string_view>& sentences);

struct IcuVersions {
  std::string library;
  std::string data;  ///< "none" where ICU has no data
};
IcuVersions icu_versions();

}  // namespace qfs

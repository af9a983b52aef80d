// Case and normal forms of UTF-8 texts (ICU).
//
// Called by readers, metrics and methods. Any bytes are accepted: an ill-formed one reads as
// U+FFFD. Thread-safe; `nfkc` fails only as ICU does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"

namespace qfs {

/// Full, locale-independent lower case, as Python's str.lower.
std::string lower_case(std::string_view text);

/// Appends lower_case(text) to `lower`.
void append_lower_case(std::string_view text, std::string& lower);

/// Normalisation form C, for identifiers; the text itself should ICU fail.
std::string nfc(std::string_view text);

/// Normalisation form KC.
Result<std::string> nfkc(std::string_view text);

/// The same; `origins`: of each byte of the form, and of its end, where in `text` it comes from.
/// What became several bytes together begins where it did, and goes on at its end.
Result<std::string> nfkc(std::string_view text, std::vector<size_t>& origins);

/// Appends the full case folding of `text` to `folded`.
void append_case_folded(std::string_view text, std::string& folded);

}  // namespace qfs

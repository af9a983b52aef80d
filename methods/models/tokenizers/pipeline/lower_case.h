// Lower case and decomposition of aligned texts.
//
// Shared by several normalizers. Pure; thread-safe; cannot fail.
#pragma once

#include <vector>

#include "methods/models/tokenizers/pipeline/aligned_text.h"

namespace qfs::tokenizers {

/// Each code point by its full lower case without context (only U+0130 becomes two).
void lower_case(AlignedText& text);

/// Canonical (or compatibility) decomposition, canonically ordered, with the changes that lead
/// there. Characters younger than Unicode 9 stay, as in the reference.
std::vector<Change> decomposed(std::string_view text, bool compatibility);

/// The combining class in Unicode 9; 0 for younger characters.
uint8_t combining_class(char32_t c);

/// NFD in place.
void decompose(AlignedText& text);

}  // namespace qfs::tokenizers

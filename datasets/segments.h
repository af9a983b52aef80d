// A document given as one string, cut into segments without losing a byte.
// Used by readers of plain-text documents. Thread-safe, cannot fail.
#pragma once

#include <string_view>
#include <vector>

#include "harness/api/example.h"

namespace qfs::datasets {

/// Paragraphs where the text has blank lines between them, otherwise lines. The segments joined by
/// a newline are the text again, byte for byte: blank lines stay at the end of the segment before
/// them (at the start of the text: of the first). An empty text has no segments.
std::vector<Segment> split_document(std::string_view text);

}  // namespace qfs::datasets

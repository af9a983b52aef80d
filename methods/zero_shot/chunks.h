// Chunks: a document that was cut to its budget, in parts of at most so many tokens that follow one
// another with an overlap.
//
// Used by the sessions of chunk_merge and refine. Pure; thread-safe (as the tokenizer is).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "methods/models/prompting/truncation.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::zero_shot {

struct ChunkSizes {
  int64_t tokens = 0;   ///< of a chunk, at most; at least 1
  int64_t overlap = 0;  ///< last tokens of a chunk that begin the next; at most tokens / 2
};

/// The texts of the chunks: together all bytes of the document's texts, lines joined by line
/// breaks. A chunk ends where a segment does when that leaves it more than half full, else at a
/// token, and where that is inside a code point before it. A document without tokens is one empty
/// chunk.
std::vector<std::string> make_chunks(const prompting::TruncatedDocument& document,
                                     const tokenizers::Tokenizer& tokenizer, ChunkSizes sizes);

/// How `counts` of tokens are put together in order: ends of groups of at least two (but for a last
/// one alone) whose sums do not exceed `budget` where two do not already.
std::vector<size_t> group_ends(const std::vector<int64_t>& counts, int64_t budget);

}  // namespace qfs::zero_shot

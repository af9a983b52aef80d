// The merging of byte-pair encoding: symbols of one word become longer ones, best pair first.
//
// Used by the byte-level tokenizer of GGUF files and by the BPE model of tokenizer.json. Pure;
// thread-safe. Algorithm: Sennrich et al. 2016; ties go to the leftmost pair.
#pragma once

#include <cstdint>
#include <vector>

#include "methods/models/tokenizers/bpe/bpe_tables.h"

namespace qfs::tokenizers {

struct BpeSymbol {
  int32_t id;
  int32_t begin;  ///< in the word
  int32_t end;
};

/// Leaves the symbols that no merge joins any more.
void merge_symbols(const MergeTable& merges, std::vector<BpeSymbol>& symbols);

}  // namespace qfs::tokenizers

// Passages: the sentences (or turns) of a truncated document, from which extractive methods select.
//
// Called by ExtractiveSession. A speaker's name belongs to the passage as context; it is never part
// of what is extracted. Stateless, thread-safe, cannot fail.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/api/example.h"
#include "methods/models/prompting/truncation.h"
#include "methods/models/retrieval/script.h"

namespace qfs::retrieval {

enum class PassageUnit { sentence, turn };

struct Passage {
  ByteSpan span;        ///< bytes of the segment's rendered text, as in the truncation ledger
  std::string text;     ///< those bytes
  std::string speaker;  ///< empty where the data has none

  friend bool operator==(const Passage&, const Passage&) = default;
};

/// Passages of what truncation kept, in document order. A sentence that was cut stays as it is.
/// Turns keep their inner line breaks and may be empty.
std::vector<Passage> make_passages(const Example& example,
                                   const prompting::TruncatedDocument& document, PassageUnit unit,
                                   Script script);

}  // namespace qfs::retrieval

// ExtractiveSession: what all extractive methods share. It cuts the document to `local_context`,
// splits it into passages, asks the selector, and writes the wanted passages in document order.
//
// Opened by the factories in sessions.h; one per cell, not thread-safe. Output: one passage a line
// (so that summary-level ROUGE-L sees sentences); passages are taken in the selector's order until
// `max_words` is reached, the last one cut there (finish `length`). `extra.selected` lists the
// taken passages as [segment, begin, end] in bytes of the rendered segment.
#pragma once

#include <memory>

#include "harness/api/method.h"
#include "methods/models/retrieval/selector.h"

namespace qfs::extractive {

/// Parameters local_context, truncate and max_words of the request; its tokenizer from `cache`.
/// Errors: `invalid_argument` without a tokenizer, and those of open_tokenizer.
Result<std::unique_ptr<MethodSession>> open_extractive_session(
    const SessionRequest& request, ResourceCache& cache, retrieval::PassageUnit unit,
    std::unique_ptr<retrieval::Selector> selector);

}  // namespace qfs::extractive

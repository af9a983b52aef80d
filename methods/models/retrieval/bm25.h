// BM25: passages ranked by how well they match the query (Robertson & Zaragoza 2009, "The
// Probabilistic Relevance Framework: BM25 and Beyond", with Lucene's always positive idf).
//
//   score(s) = sum over distinct query terms t of idf(t) * tf / (tf + k1 * (1 - b + b * |s| /
//   avg|s|)) idf(t)   = ln(1 + (N - df + 0.5) / (df + 0.5))
//
// A passage's terms are those of its text and of its speaker's name ("what did the designer say
// …"). Passages without a query term score 0 and follow in document order, so that a query that
// matches nothing gives the lead.
//
// Torch-free. The selector is called by one session, never concurrently; it fails where ICU has no
// word rules.
#pragma once

#include <memory>
#include <vector>

#include "harness/api/method.h"
#include "methods/models/retrieval/selector.h"

namespace qfs::retrieval {

/// `k1` and `b`.
std::vector<ParamSpec> bm25_params();

std::unique_ptr<Selector> make_bm25_selector(const SessionRequest& request);

}  // namespace qfs::retrieval

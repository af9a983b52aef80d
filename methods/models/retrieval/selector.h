// Selector: what distinguishes one extractive method from another.
//
// ExtractiveSession reads, cuts and splits documents and writes summaries; a selector only says
// which passages are wanted. Called by one session, never concurrently.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "harness/api/example.h"
#include "harness/api/result.h"
#include "methods/models/retrieval/passages.h"
#include "methods/models/retrieval/script.h"

namespace qfs::retrieval {

class Selector {
 public:
  virtual ~Selector() = default;

  /// A new document. `passages` stay valid until the next call; work that does not depend on the
  /// query belongs here, because consecutive examples often share their document. `script` holds
  /// for the query and the references too.
  virtual Status prepare(std::span<const Passage> passages, Script script) = 0;

  /// Indices of wanted passages, each at most once, the most wanted first. The session takes as
  /// many as the word limit allows and emits them in document order.
  virtual Result<std::vector<size_t>> select(const Example& example) = 0;
};

}  // namespace qfs::retrieval

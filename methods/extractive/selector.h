// Selector: what distinguishes one extractive method from another.
//
// ExtractiveSession reads, cuts and splits documents and writes summaries; a selector only says
// which passages are wanted. Called by one session, never concurrently.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/api/method.h"
#include "methods/extractive/passages.h"
#include "methods/extractive/script.h"

namespace qfs::extractive {

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

// One function a method; parameters are those of its spec.
std::unique_ptr<Selector> make_lead_selector(const SessionRequest& request);
std::unique_ptr<Selector> make_random_selector(const SessionRequest& request);
std::unique_ptr<Selector> make_textrank_selector(const SessionRequest& request);
std::unique_ptr<Selector> make_bm25_selector(const SessionRequest& request);
std::unique_ptr<Selector> make_oracle_selector(const SessionRequest& request);
std::unique_ptr<Selector> make_oracle_dyle_selector(const SessionRequest& request);

}  // namespace qfs::extractive

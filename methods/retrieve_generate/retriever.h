// What a generator reads of a document: the passages that match the query best, up to a budget of
// tokens, in document order.
//
// Called by retrieve_generate's sessions; torch-free. Not thread-safe: a selector keeps what it
// made of the last document. Errors: those of the selector, `data` for a document without any
// passage. Source: the recipe of SQuALITY's BART + DPR (Wang et al. 2022).
#pragma once

#include <memory>
#include <vector>

#include "harness/api/method.h"
#include "methods/models/prompting/changed_document.h"
#include "methods/models/retrieval/selector.h"

namespace qfs::retrieve_generate {

struct Reach {
  retrieval::PassageUnit unit = retrieval::PassageUnit::sentence;
  int64_t budget = 0;  ///< tokens, at least 1
};

class Retriever {
 public:
  /// `counter` counts the document's tokens.
  Retriever(Reach reach, std::shared_ptr<const tokenizers::Tokenizer> counter,
            std::unique_ptr<retrieval::Selector> selector);

  /// The example with the chosen passages as its document, each with its speaker's name; sentences
  /// that follow one another in a turn are one passage. Passages are taken by falling rank up to
  /// the first that goes over the budget, and the best always.
  Result<prompting::ChangedDocument> retrieve(const Example& example);

 private:
  Status read(const Example& example);

  Reach reach_;
  std::shared_ptr<const tokenizers::Tokenizer> counter_;
  std::unique_ptr<retrieval::Selector> selector_;
  std::vector<Segment> document_;  ///< what `passages_` are of
  std::vector<retrieval::Passage> passages_;
};

}  // namespace qfs::retrieve_generate

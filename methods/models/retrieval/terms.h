// Terms: the words by which selectors compare texts, as dense ids.
//
// Latin: the tokens of the ROUGE profile (runs of a-z and 0-9), stemmed on request. Chinese: ICU's
// words, as rouge-zh counts them. The two kinds have ids of their own, which never meet, because a
// document, its query and its references are of one script. Not thread-safe; one per session. Fails
// where ICU has no word rules.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/retrieval/script.h"
#include "metrics/text/vocabulary.h"

namespace qfs::retrieval {

class Terms {
 public:
  explicit Terms(bool stem) : latin_(stem) {}

  Result<std::vector<metrics::TokenId>> encode(std::string_view text, Script script);

  /// All ids are below.
  size_t size() const { return std::max(latin_.size(), chinese_.size()); }

 private:
  metrics::Vocabulary latin_;
  metrics::InternTable chinese_;
};

}  // namespace qfs::retrieval

// What a loaded data set holds and what is wrong with it: the logic of `data check` and `data
// show`.
//
// Called by the command line on any Dataset. Pure; thread-safe; cannot fail. Words are separated by
// white space and counted in rendered segments ("speaker: text").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/api/dataset.h"

namespace qfs::datasets {

/// Summary of one quantity; zeros when there is nothing to summarize.
struct Spread {
  int64_t minimum = 0;
  double mean = 0;
  int64_t median = 0;  ///< the lower one of an even number
  int64_t maximum = 0;
};

struct CheckFinding {
  std::string what;  ///< "duplicate key", "empty document" …
  int64_t count = 0;
  std::vector<std::string> keys;  ///< the first few examples concerned
};

struct CheckReport {
  int64_t examples = 0;
  int64_t documents = 0;  ///< distinct document_id
  int64_t groups = 0;     ///< distinct group
  int64_t with_evidence = 0;
  Spread segments_per_document;  ///< over examples
  Spread words_per_document;     ///< over examples
  Spread words_per_query;        ///< over examples
  Spread words_per_reference;    ///< over all references
  Spread references_per_example;
  std::vector<CheckFinding> findings;  ///< empty: nothing is wrong

  bool ok() const { return findings.empty(); }
};

CheckReport check(const Dataset& dataset);

/// Number of runs of characters that are no (Unicode) white space, as len(text.split()) in Python.
int64_t count_words(std::string_view text);

}  // namespace qfs::datasets

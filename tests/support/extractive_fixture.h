// Opens an extractive method with its declared defaults and runs it on examples, as a host would.
//
// Called by the tests of methods/extractive. Each call opens a fresh session; errors of the session
// come back as they are.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/api/method.h"

namespace qfs::test {

struct ExtractiveRun {
  std::string method;
  std::vector<std::pair<std::string, ParamValue>> params;  ///< given ones; the rest are defaults
  std::string tokenizer = "words";
  uint64_t seed = 0;
};

/// The method's parameters with defaults filled in.
Params resolved_params(const ExtractiveRun& run);

Result<std::vector<Prediction>> summarize_all(const ExtractiveRun& run,
                                              const std::vector<Example>& examples);

/// The prediction for one example; the test fails when there is an error.
Prediction summarize(const ExtractiveRun& run, const Example& example);

/// A document of segments ("speaker: text" becomes a speaker and a text), a query and references.
Example make_example(std::vector<std::string> segments, std::string query = "",
                     std::vector<std::string> references = {});

}  // namespace qfs::test

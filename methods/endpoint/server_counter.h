// ServerCounter: documents cut to a budget that the server's own tokenizer counts (POST /tokenize
// of vLLM, SGLang and llama.cpp's server), without knowing its tokens.
//
// Used by the session with "count_by": "server". A document is counted as one text, line breaks
// between segments included; where it has to be cut, the place is found by bisection, so that a cut
// costs about 20 requests. Not thread-safe; one a worker.
#pragma once

#include <string>
#include <string_view>

#include "harness/api/example.h"
#include "methods/endpoint/retry_client.h"
#include "methods/models/prompting/truncation.h"

namespace qfs::endpoint {

class ServerCounter {
 public:
  /// All outlive the counter.
  ServerCounter(RetryClient& client, std::string url, std::string model)
      : client_(client), url_(std::move(url)), model_(std::move(model)) {}

  std::variant<int64_t, AskFailure> count(std::string_view text);

  std::variant<prompting::TruncatedDocument, AskFailure> truncate(
      const Example& example, std::optional<int64_t> budget, prompting::TruncationPolicy policy);

 private:
  struct Cut;
  std::variant<Cut, AskFailure> longest_end(std::string_view text, int64_t budget, bool head);

  RetryClient& client_;
  std::string url_;
  std::string model_;
};

}  // namespace qfs::endpoint

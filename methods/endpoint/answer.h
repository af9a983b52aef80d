// Answers of OpenAI-compatible servers, read into a Prediction or into the reason why there is
// none.
//
// Used by the session. The forms are those of the OpenAI API reference (chat and text completions),
// and of vLLM's and llama.cpp's servers where they differ: errors without an envelope, reasoning
// beside the content. Pure; thread-safe. Everything in an answer is a stranger's: lengths, types
// and nesting are checked.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "harness/api/prediction.h"
#include "harness/api/result.h"

namespace qfs::endpoint {

/// What a server counted.
struct Usage {
  int64_t prompt_tokens = 0;
  int64_t cached_tokens = 0;  ///< of the prompt's
  int64_t completion_tokens = 0;
  int64_t reasoning_tokens = 0;  ///< of the completion's
};

struct Completion {
  std::string text;
  FinishReason finish = FinishReason::stop;
  Usage usage;
  bool usage_known = false;
  std::string model;        ///< as the answer names it
  std::string fingerprint;  ///< system_fingerprint
  int64_t repaired_bytes = 0;
};

/// The completion in a body of status 200. `data` for a body that is none; `message` is what an
/// error object inside of it says.
Result<Completion> read_completion(std::string_view body, bool chat);

/// What a server says went wrong, from any of the forms of an error body; the beginning of the body
/// where it has none of them.
std::string error_message(std::string_view body);

/// Whether an error body says that prompt and answer do not fit the model's window.
bool says_overlength(std::string_view body);

}  // namespace qfs::endpoint

// The JSON bodies of requests, in the forms of the OpenAI API reference (chat and text
// completions).
//
// Used by the session's workers. Pure; thread-safe; cannot fail for parameters that were checked.
#pragma once

#include <cstdint>
#include <string>

#include "harness/api/params.h"

namespace qfs::endpoint {

struct RequestBody {
  std::string prompt;  ///< what is stored: the messages as JSON, or the plain prompt
  std::string json;
};

/// `text`: the filled prompt.
RequestBody request_body(const Params& params, uint64_t seed, const std::string& text);

}  // namespace qfs::endpoint

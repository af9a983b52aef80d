// What a server sends, as arbitrary bytes: no crash, texts in UTF-8, counts that are none below
// zero, and errors that say something.
#include <cstdlib>
#include <string_view>

#include "harness/core/utf8.h"
#include "methods/endpoint/answer.h"
#include "methods/endpoint/model_list.h"
#include "methods/endpoint/redaction.h"
#include "tests/support/fuzz.h"

using qfs::first_ill_formed_utf8;
namespace endpoint = qfs::endpoint;

std::vector<std::string> fuzz_seeds() {
  return {
      R"({"choices":[{"message":{"content":"A summary."},"finish_reason":"stop"}],"usage":{"prompt_tokens":4,)"
      R"("completion_tokens":2,"completion_tokens_details":{"reasoning_tokens":1}},"system_fingerprint":"fp"})",
      R"({"choices":[{"message":{"content":[{"type":"text","text":"a"}],"reasoning":"b","refusal":"c"}}]})",
      R"({"choices":[{"text":"plain","finish_reason":"length"}],"model":"m"})",
      R"({"error":{"message":"maximum context length is 8","code":"context_length_exceeded"}})",
      R"({"object":"error","message":"The decoder prompt (length 9) is longer than the maximum model length of 8"})",
      R"({"data":[{"id":"m","root":"org/m","max_model_len":4096},{"id":7}]})",
  };
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  for (const bool chat : {true, false}) {
    const auto completion = endpoint::read_completion(body, chat);
    if (!completion.ok()) {
      if (completion.error().message.empty()) std::abort();
      continue;
    }
    if (first_ill_formed_utf8(completion->text) || completion->usage.prompt_tokens < 0 ||
        completion->usage.reasoning_tokens < 0) {
      std::abort();
    }
  }
  const std::string message = endpoint::error_message(body);
  if (message.empty() || first_ill_formed_utf8(message)) std::abort();
  static_cast<void>(endpoint::says_overlength(body));
  const endpoint::ModelListing models = endpoint::read_model_list(body, "m");
  if (models.window_tokens < 0 || (models.listed && !models.known)) std::abort();
  const endpoint::Redactor redactor({"m", "secret"});
  if (redactor.message(body).find("m") != std::string::npos) std::abort();
  return 0;
}

// Arbitrary bytes as a line of the session protocol: no crash; what is decoded is encoded and
// decoded again to the same line.
#include <cstdlib>

#include "harness/host/messages.h"
#include "tests/support/fuzz.h"

std::vector<std::string> fuzz_seeds() {
  return {
      R"({"id":1,"score":{"ordinal":7,"values":{"align":0.5,"align.f":-0.0}}})",
      R"({"id":2,"description":{"name":"m","version":1,"metric":{"columns":["a","b.f"],"needs":["query"]}}})",
      R"({"id":3,"prediction":{"ordinal":7,"text":"x","finish":"length","truncation":{"document_tokens":3,"kept_tokens":2,"kept":[[0,0,1]]}}})",
      R"({"id":4,"error":{"kind":"timeout","message":"m"},"usable":true})",
      R"({"id":5,"verb":"run","unit":0,"examples":[{"ordinal":1,"key":"k","document_id":"d","query":"q","document":[{"text":"t"}]}]})",
      R"({"id":6,"verb":"open","method":"lead","params":{"n":1,"r":0.5,"b":true},"seed":1,"runtime":{"device":"cpu","dtype":"float32","threads":1}})",
      R"({"id":7,"verb":"score","items":[]})",
      R"({"id":7,"verb":"score","pairs":[[0,1,[0,2]]]})",
      R"({"id":7,"verb":"texts","begin":true,"texts":["a","b"],"reference_uses":[0,2]})",
      R"({"id":7,"texts":{"truncated":[1],"empty":[0]}})",
      R"({"id":8,"verb":"logits","model":{"name":"n","path":"p","digest":"d"},"runtime":{"device":"cpu","dtype":"float32","threads":1},"arguments":{"ids":[1],"top":2}})",
      R"({"id":8,"answer":{"logits":[0.5,-1e-7],"top":[]}})"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace qfs::host;
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  if (const auto reply = decode_reply(line)) {
    const std::string sent = encode(*reply);
    const auto again = decode_reply(sent);
    if (!again || encode(*again) != sent) std::abort();
  } else if (reply.error().message.empty()) {
    std::abort();
  }
  if (const auto request = decode_request(line)) {
    const std::string sent = encode(*request, {.references = true, .evidence = true});
    const auto again = decode_request(sent);
    if (!again || encode(*again, {.references = true, .evidence = true}) != sent) std::abort();
  }
  return 0;
}

// Arbitrary bytes as a step, its parameters and the text: no crash, an error has a message, a chain
// read back from its canonical form does the same, and UTF-8 stays UTF-8.
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "harness/core/postprocess.h"
#include "harness/core/utf8.h"
#include "tests/support/fuzz.h"

std::vector<std::string> fuzz_seeds() {
  return {"strip_special\n<s>a b</s>",
          "strip_reasoning:tag=t\nx<t>y</t>z</t>",
          "strip\n  \xE3\x80\x80 a ",
          "replace:pattern=(a|b)+,with=$1\\,x\nabab",
          "first_lines:count=2,to=both\n\r\na\nb\nc",
          "squeeze_spaces\na \n b",
          "newlines:mark=<q>\na<q>b",
          "lowercase\n\xC4\xB0\xCE\xA3"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using qfs::Postprocess;
  const std::string input(reinterpret_cast<const char*>(data), size);
  const size_t line = std::min(input.find('\n'), input.size());
  const std::vector<std::string> steps = {input.substr(0, line)};
  const auto chain = Postprocess::parse(steps);
  if (!chain) {
    if (chain.error().message.empty()) std::abort();
    return 0;
  }
  const auto again = Postprocess::parse(
      nlohmann::json::parse(chain->chain().text).get<std::vector<std::string>>());
  if (!again || again->chain().text != chain->chain().text) std::abort();
  const std::string text = input.substr(std::min(line + 1, input.size()));
  const auto once = chain->prediction(text);
  if (!once) return 0;
  const auto twice = again->prediction(text);
  if (!twice || *once != *twice) std::abort();
  if (!qfs::first_ill_formed_utf8(text) && qfs::first_ill_formed_utf8(*once)) std::abort();
  return 0;
}

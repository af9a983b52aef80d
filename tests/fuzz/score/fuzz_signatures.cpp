// Arbitrary bytes as a signature and as targets of --match: no crash, errors with a message, and a
// signature that is read is the text again.
#include <cmath>
#include <cstdlib>

#include "harness/score/match.h"
#include "harness/score/signature_fields.h"
#include "tests/support/fuzz.h"

std::vector<std::string> fuzz_seeds() {
  return {"rouge|compat:rouge_score-0.1.2|tok:ascii|stem:none|split:newline|v:1|n:2|ci:boot;95",
          "rouge|post:[\"replace:pattern=a|b\\\"|c\",\"strip\"]|unit:item",
          "rouge1=33.52,rougeL.r=29.6", "rouge2=.5,rougeLsum.p=0"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace qfs::score;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto signature = split_signature(text);
  if (signature) {
    std::string joined = signature->metric;
    for (const auto* part : {&signature->fields, &signature->run}) {
      for (const auto& [key, value] : *part) joined += "|" + key + ":" + value;
    }
    if (joined != text) std::abort();
  } else if (signature.error().message.empty()) {
    std::abort();
  }
  const auto targets = parse_match_targets(text);
  if (!targets) {
    if (targets.error().message.empty()) std::abort();
    return 0;
  }
  for (const MatchTarget& target : *targets) {
    if (!std::isfinite(target.value) || target.value < 0 || target.value > 100) std::abort();
    if (!target.matches(target.value / target.scale)) std::abort();
  }
  return 0;
}

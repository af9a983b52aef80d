// Arbitrary bytes as a signature, as options of a metric and as targets of --match: no crash,
// errors with a message, a signature that is read is the text again, and values that an option may
// have.
#include <cmath>
#include <cstdlib>

#include "harness/score/match.h"
#include "harness/score/option_values.h"
#include "harness/score/signature_fields.h"
#include "tests/support/fuzz.h"

std::vector<std::string> fuzz_seeds() {
  return {"rouge|compat:rouge_score-0.1.2|tok:ascii|stem:none|split:newline|v:1|n:2|ci:boot;95",
          "rouge|post:[\"replace:pattern=a|b\\\"|c\",\"strip\"]|unit:item",
          "rouge1=33.52,rougeL.r=29.6", "rouge2=.5,rougeLsum.p=0"};
}

namespace {

void check_values(const qfs::score::SignatureFields& signature) {
  using Type = qfs::MetricOption::Type;
  const qfs::MetricOption options[] = {
      {"c", Type::choice, {"on", "off"}, "on", ""},
      {"i", Type::integer, {}, "2", "", 0, 9},
      {"r", Type::real, {}, "0.5", ""},
      {"t", Type::text, {"off", "best:COLUMN", "a number"}, "", ""}};
  for (const qfs::MetricOption& option : options) {
    for (const std::string& value : qfs::score::likely_values(option, signature)) {
      if (value == option.default_value) std::abort();
      if (option.type == Type::integer &&
          value.find_first_not_of("0123456789") != std::string::npos)
        std::abort();
    }
  }
}

}  // namespace

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
    check_values(*signature);
  } else if (signature.error().message.empty()) {
    std::abort();
  }
  for (const auto& [option, value] : parsed_options(text)) {
    if (option.find('=') != std::string::npos) std::abort();
  }
  const auto targets = parse_match_targets(text);
  if (!targets) {
    if (targets.error().message.empty()) std::abort();
    return 0;
  }
  for (const std::vector<MatchTarget>& family : *targets) {
    for (const MatchTarget& target : family) {
      if (!std::isfinite(target.value) || target.value < 0 || target.value > 100) std::abort();
      if (!target.matches(target.value / target.scale)) std::abort();
    }
  }
  return 0;
}

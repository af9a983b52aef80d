// parse_json on arbitrary bytes: no crash, errors with a place, and a canonical form that is a
// fixed point of parsing. What the quick reader takes, a third reader reads alike.
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "harness/core/json_dom.h"
#include "harness/core/json_quick.h"
#include "harness/core/utf8.h"
#include "tests/support/fuzz.h"

std::vector<std::string> fuzz_seeds() {
  return {
      R"({"name": "lc_sweep", "grid": {"local_context": [128, 256]}, "seeds": [0]})",
      "[0, -1, 9223372036854775807, 18446744073709551615, 1.5e-7, -0.0, 1e308, true, false, null]",
      "{\"a\\u00e9\\n\\\"\\\\\": \"\\ud83d\\ude00 café 日\"}",
      R"([[[[[[[[{"a":{"a":{"a":[]}}}]]]]]]]])",
      "\xEF\xBB\xBF{\r\n\t\"a\" : [ ] ,\n \"b\" : { }\n}\n",
  };
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string scratch;
  const bool plain = !qfs::first_ill_formed_utf8(text) && text.find('\0') == text.npos;
  if (const auto quick = plain ? qfs::quick_json(text, 64, scratch) : std::nullopt) {
    const auto same = nlohmann::json::parse(text, nullptr, false);
    if (same.is_discarded() || same != *quick || same.dump() != quick->dump()) std::abort();
  }
  const qfs::Result<nlohmann::json> value = qfs::parse_json(text, "input");
  if (!value) {
    if (!value.error().where.starts_with("input:") || value.error().message.empty()) std::abort();
    return 0;
  }
  const qfs::Result<qfs::Json> canonical = qfs::canonical_json(*value);
  if (!canonical) return 0;  // nulls, foreign keys
  const qfs::Result<nlohmann::json> again = qfs::parse_json(canonical->text, "canonical");
  if (!again || qfs::canonical_json(*again)->text != canonical->text) std::abort();
  return 0;
}

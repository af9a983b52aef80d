// Any bytes as JSON with comments and as YAML: a tree that JSON can hold, no larger than the bounds
// allow, or an error with a place.
#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "harness/config/document.h"
#include "harness/core/json_dom.h"
#include "tests/support/fuzz.h"

std::vector<std::string> fuzz_seeds() {
  return {
      "name: s  # a sweep\ndatasets:\n  - { name: mini-meetings, split: test }\n"
      "methods:\n- method: lead\n- method: zero_shot\n  prompt: |\n    a\n     b\n  top_p: 0.5\n"
      "grid:\n  local_context: [128, 256]\n",
      "a: &x [1, -2.5e3, \"t\\u00e9\\n\", 'it''s', true, null]\nb: *x\nc: { d: *x, ? e : f }\n",
      "%YAML 1.2\n---\n- >-\n  folded\n  text\n- \"two\n  lines\"\n- !!str 5\n- ~\n...\n",
      "a: &a [x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n",
      "{ // one\n \"a\": [1, /* two */ 2.5], \"b\": \"// none\" }\n",
      "on: no\noctal: 010\ntime: 1:20\nhex: 0x1F\n<<: *a\n",
  };
}

namespace {

size_t depth_of(const nlohmann::json& value) {
  size_t depth = 0;
  if (!value.is_structured()) return 0;
  for (const auto& member : value) depth = std::max(depth, depth_of(member));
  return depth + 1;
}

void check(std::string_view text, const std::string& path) {
  const auto tree = qfs::config::parse_document(text, path, size_t{1} << 20);
  if (!tree) {
    if (!tree.error().where.starts_with(path) || tree.error().message.empty()) std::abort();
    return;
  }
  if (depth_of(*tree) > 64) std::abort();
  const auto again = qfs::parse_json(tree->dump(), "again");
  if (!again || *again != *tree) std::abort();
  if (tree->dump().size() > 8 * (qfs::config::kMaxYamlBytes + text.size())) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(text, "sweep.yaml");
  check(text, "sweep.json");
  return 0;
}

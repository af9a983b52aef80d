#include <cassert>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/core/build_info.h"
#include "harness/core/json_dom.h"

namespace qfs {

Json build_facts() {
  const BuildInfo& info = build_info();
  const nlohmann::json facts = {
      {"version", info.version},       {"commit", info.commit},
      {"compiler", info.compiler},     {"flags", info.flags},
      {"build_type", info.build_type}, {"source_digest", info.source_digest},
  };
  Result<Json> canonical = canonical_json(facts);
  assert(canonical.ok());  // strings under ASCII keys
  return *std::move(canonical);
}

}  // namespace qfs

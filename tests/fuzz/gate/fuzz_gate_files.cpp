// A gate's policy and a baseline of a stranger: any bytes end in one or in an error that names the
// file, and every score of a baseline that loads belongs to one of its cells.
#include <cstdlib>

#include "harness/gate/baseline.h"
#include "harness/gate/policy.h"
#include "tests/support/fuzz.h"

namespace {

const std::string kCell(64, 'a');
const std::string kData(64, 'b');

}  // namespace

std::vector<std::string> fuzz_seeds() {
  return {
      R"({"rule": "max_drop", "minimum_examples": 2, "metrics": {"rouge1.f": "0.5pt", "rougeL.f": 2},
          "bands": {"tokens_per_second": {"at_least": 0.8}}, "power_at": [1, 2],
          "limits": {"peak_memory": {"at_most": "1500MiB"}}, "filter": "method=lead"})",
      R"({"metrics":["rouge"],"name":"n","schema":"qfs-bench/baseline/2","sweep":"s"})"
      "\n"
      R"({"cell":")" +
          kCell + R"(","dataset":")" + kData +
          R"(","dataset_name":"d","dimensions":{"method":"lead","seed":"0"},"method":"lead"})"
          "\n"
          R"({"clusters":2,"columns":["rouge1.f"],"metric":"rouge","postprocess":"[]","scores":{"rouge1.f":0.25},"signature":"rouge|v:1"})"
          "\n"
          R"({"cluster":"a","example":0,"key":"a/1","values":[0.2]})"
          "\n"
          R"({"cluster":"b","example":1,"key":"b/1","values":[0.3]})"
          "\n"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto policy = qfs::gate::decode_policy(text, "gate.json");
  if (!policy.ok() && !policy.error().where.starts_with("gate.json")) std::abort();
  auto baseline = qfs::gate::Baseline::decode(text, "baseline.jsonl");
  if (!baseline.ok()) {
    if (!baseline.error().where.starts_with("baseline.jsonl")) std::abort();
    return 0;
  }
  for (const qfs::compare::StoredCell* cell : baseline->cells()) {
    for (const auto& job : cell->scores) {
      if (!baseline->rows(*cell, job).ok()) std::abort();
    }
  }
  return 0;
}

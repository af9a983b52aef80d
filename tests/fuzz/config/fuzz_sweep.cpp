// Any bytes as a sweep file: decoding ends in an experiment or in an error with a place, and an
// experiment's canonical form is JSON.
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "harness/config/load.h"
#include "tests/support/fuzz.h"

std::vector<std::string> fuzz_seeds() {
  return {
      R"({"name": "s", "datasets": [{"name": "mini-meetings"}], "methods": [{"method": "lead"}]})",
      R"({"name": "${v}", "variables": {"v": "s", "n": 3, "x": 0.5, "b": true},
          "datasets": [{"path": "a.jsonl", "fields": {"document": "text"}, "sample": "${n}"}],
          "methods": [{"method": "zero_shot", "backbone": "m", "top_p": "${x}", "prompt": "$${n} ${n}"}],
          "grid": {"local_context": [128, 256]}, "zip": [{"a": [1, 2], "b": ["c", "d"]}],
          "include": [{"method": "zero_shot", "local_context": 1}], "exclude": [{"seed": 1, "a": 2}],
          "seeds": [0, 1], "metrics": ["rouge:stem=off"], "measure": {"examples": 2},
          "report": {"rows": ["method"], "values": ["rouge1.f"]}, "limits": {"memory_mib": 10},
          "host_reuse": "none", "threads": 2, "store_documents": false})",
      R"({"name": "s", "datasets": [{"name": "d"}], "methods": [{"method": "external",
          "command": ["python3", "a.py"], "fingerprint": ["*.py"], "folder": "m"}]})",
  };
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto experiment = qfs::config::decode_experiment(text, "sweep.json");
  if (!experiment.ok()) {
    if (!experiment.error().where.starts_with("sweep.json")) std::abort();
    return 0;
  }
  if (!nlohmann::json::accept(experiment->resolved.text)) std::abort();
  return 0;
}

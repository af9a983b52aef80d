// Arbitrary bytes as a baseline file of bert_score: no crash; what is read is finite and below 1,
// or the error names the place.
#include <cmath>
#include <cstdlib>

#include "metrics/bertscore/baseline.h"
#include "tests/support/fuzz.h"

std::vector<std::string> fuzz_seeds() {
  return {"LAYER,P,R,F\n0,0.1,0.2,0.3\n6,0.5,0.6,0.75\n", "LAYER,P,R,F\r\n6,-1e3,0,.5\r\n",
          "LAYER,P,R,F\n6,nan,inf,1\n", "LAYER,P,R,F\n\n6,0.5,0.5", ""};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto row = qfs::metrics::read_baseline(text, "b.tsv", 6);
  if (!row) {
    if (row.error().where.find("b.tsv") == std::string::npos) std::abort();
  } else if (!(row->precision < 1 && row->recall < 1 && row->f < 1)) {
    std::abort();
  }
  return 0;
}

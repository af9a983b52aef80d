// Claims, labels and tables of a stranger: any bytes end in them or in an error at a place, and a
// claim says which number of which row it is.
#include <cstdlib>

#include "harness/claims/decode.h"
#include "tests/support/fuzz.h"

std::vector<std::string> fuzz_seeds() {
  return {
      R"({"paper": "demo", "title": "A demo", "source": "nowhere", "errata": {"odd": "It is odd."},
          "tables": [{"id": "demo.table1", "title": "Results", "dataset": {"name": "set", "splits": ["test"]},
          "columns": [{"name": "R-1", "metric": "rouge", "column": "rouge1.f"}, {"name": "n", "count": "trainable_parameters", "scale": 1e-06}],
          "rows": [{"label": "Lead-3", "with": {"rank": 16}, "errata": ["odd"], "printed": ["22.10", null]},
                   {"label": "Lead-3", "cited": "elsewhere", "printed": ["<1K", "24.5"]}]}]})",
      R"({"demo": {"Lead-3": {"method": "lead", "max_words": 50}, "Tuned": {"method": "lora", "backbone": "big"}}})",
      R"({"tables": [{"id": "t", "title": "T", "from": [{"table": "demo.table1", "columns": ["R-1"]}], "errata": ["odd"]}]})"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static const auto labels =
      qfs::claims::decode_labels(R"({"demo": {"Lead-3": {"method": "lead"}}})", "labels.json");
  const auto paper = qfs::claims::decode_paper(text, "demo.json", *labels);
  if (paper.ok()) {
    for (const auto& table : paper->tables) {
      for (const auto& claim : table.claims) {
        if (claim.id().empty() || claim.column.empty()) std::abort();
      }
    }
  } else if (!paper.error().where.starts_with("demo.json")) {
    std::abort();
  }
  const auto other = qfs::claims::decode_labels(text, "labels.json");
  if (!other.ok() && !other.error().where.starts_with("labels.json")) std::abort();
  const auto tables = qfs::claims::decode_tables(text, "tables.json");
  if (!tables.ok() && !tables.error().where.starts_with("tables.json")) std::abort();
  return 0;
}

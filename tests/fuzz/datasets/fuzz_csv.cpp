// parse_csv and parse_tsv on arbitrary bytes: no crash, rows as wide as the header, errors with a
// place.
#include <cstdlib>

#include "datasets/readers/csv.h"
#include "tests/support/fuzz.h"

std::vector<std::string> fuzz_seeds() {
  return {"id,document,query,references\n1,\"two\nlines\",why?,because\n",
          "\xEF\xBB\xBF"
          "a,b\r\n\"x, \"\"y\"\"\",\r\n\r\n,z\r\n",
          "a\tb\nx\t\"y\nz\t\r\n", "a\n\"\"\n\"\"\"\"\n"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace qfs::datasets;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const qfs::Result<CsvTable>& table : {parse_csv(text, "t"), parse_tsv(text, "t")}) {
    if (!table) {
      if (!table.error().where.starts_with("t:")) std::abort();
      continue;
    }
    for (const CsvRow& row : table->rows) {
      if (row.cells.size() != table->header.size()) std::abort();
    }
  }
  return 0;
}

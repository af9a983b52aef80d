// The reader of archives on arbitrary bytes: a manifest, then rows of the table that the first byte
// chooses. What is read is written to the same row again; what is refused says where.
#include <cstdlib>
#include <string>
#include <string_view>

#include "harness/store/archive_format.h"
#include "tests/support/fuzz.h"

namespace {

using qfs::store::ArchiveTable;

void read_manifest(std::string_view text) {
  const auto manifest = qfs::store::parse_manifest(text, "manifest");
  if (!manifest) {
    if (!manifest.error().where.starts_with("manifest") || manifest.error().message.empty()) {
      std::abort();
    }
    return;
  }
  const std::string written = qfs::store::manifest_text(*manifest);
  const auto again = qfs::store::parse_manifest(written, "again");
  if (!again || qfs::store::manifest_text(*again) != written) std::abort();
}

void read_row(std::string_view line, const ArchiveTable& table) {
  const auto row = qfs::store::parse_row(line, table, "file:1");
  if (!row) {
    if (!row.error().where.starts_with("file:1") || row.error().message.empty()) std::abort();
    return;
  }
  std::string written;
  qfs::store::append_row(written, table, *row);
  const auto again = qfs::store::parse_row(written, table, "again");
  if (!again || *again != *row) std::abort();
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds = {
      "\xFF"
      R"({"schema": "qfs-bench/archive/1", "store_schema": 1, "texts": "whole", "files": [
  {"name": "cell.jsonl", "rows": 3, "bytes": 300, "sha256": "0123456789012345678901234567890123456789012345678901234567890123"}]})"};
  const auto tables = qfs::store::archive_tables();
  for (size_t i = 0; i < tables.size(); ++i) {
    qfs::store::ArchiveRow row;
    for (const auto& column : tables[i].columns) {
      switch (column.type) {
        case qfs::store::ColumnType::text:
          row.emplace_back("a \"text\" caf\xC3\xA9\n");
          break;
        case qfs::store::ColumnType::integer:
          row.emplace_back(int64_t{9223372036854775807});
          break;
        default:
          row.emplace_back(0.1);
      }
    }
    std::string seed(1, static_cast<char>(i));
    qfs::store::append_row(seed, tables[i], row);
    seeds.push_back(seed);
  }
  return seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto tables = qfs::store::archive_tables();
  if (data[0] < tables.size()) {
    read_row(text, tables[data[0]]);
  } else {
    read_manifest(text);
  }
  return 0;
}

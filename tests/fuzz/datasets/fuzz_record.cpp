// Arbitrary bytes as a record and a field map (first line: the document's field name): no crash, a
// key and a cluster for every example, errors with a place.
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "datasets/readers/record.h"
#include "harness/core/utf8.h"
#include "tests/support/fuzz.h"

std::vector<std::string> fuzz_seeds() {
  return {
      "document\n{\"document\": [{\"speaker\": \"A\", \"text\": \"x\"}, \"y\"], \"query\": \"q\", "
      "\"references\": [\"r\"], \"id\": 7, \"language\": \"zh-Hant\"}",
      "/in/a~1b/0\n{\"in\": {\"a/b\": [\"one\\n\\ntwo\"]}, \"query\": \"\", \"references\": \"r\"}",
      "a.b.1\n{\"a\": {\"b\": [0, \"text\"]}, \"query\": null, \"references\": []}",
      "=constant\n{\"query\": \"q\", \"references\": [\"caf\\u00e9\"], \"group\": \"e\\u0301\"}"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace qfs::datasets;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  size_t line_end = text.find('\n');
  if (line_end == std::string_view::npos) return 0;
  std::string name(text.substr(0, line_end));
  if (qfs::first_ill_formed_utf8(name)) return 0;  // field maps come from checked JSON
  qfs::Result<FieldMap> fields = make_field_map({{"document", name}});
  qfs::Result<nlohmann::json> record = parse_json_line(text.substr(line_end + 1), "f:1");
  if (!fields || !record) return 0;
  qfs::Result<qfs::Example> example = decode_record(*record, *fields, 1, {"f:1", ""});
  if (!example) {
    if (!example.error().where.starts_with("f:1")) std::abort();
  } else if (example->key.empty() || example->document_id.empty() || example->group.empty()) {
    std::abort();
  }
  return 0;
}

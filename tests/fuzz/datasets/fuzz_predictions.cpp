// Arbitrary bytes as a prediction file of every format (first byte: which), line files included: no
// crash, ids that are not empty, errors that say where or what.
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "datasets/predictions/importers/importers.h"
#include "datasets/predictions/plain_prediction.h"
#include "datasets/predictions/prediction_lines.h"
#include "datasets/predictions/score_records.h"
#include "datasets/python_list.h"
#include "harness/core/utf8.h"
#include "tests/support/fuzz.h"

namespace {

/// A file in memory that the readers can open by name.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {
    if (fd_ < 0 || write(fd_, bytes.data(), bytes.size()) < 0 || lseek(fd_, 0, SEEK_SET) != 0) {
      std::abort();
    }
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

/// A line that the plain reader takes is read alike by the careful one.
void check_plain_reader(std::string_view line) {
  using namespace qfs::datasets;
  if (qfs::first_ill_formed_utf8(line)) return;
  const PredictionFields fields;
  const auto plain = PlainPredictionReader(fields).read(line, 7, "f:7");
  if (!plain) return;
  auto value = parse_json_line(line, "f:7");
  if (!value) std::abort();
  const auto careful = decode_prediction(*value, fields, 7, {"f:7", ""});
  if (!careful || *careful != *plain) std::abort();
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  return {
      std::string("\0", 1) + R"({"doc_id": 0, "target": "['a', \"b\"]", "resps": [["x"]],
"filter": "none"})",
      "\1{\"samples\": [{\"id\": 1, \"epoch\": 2, \"target\": [\"t\"], \"output\": {\"choices\": "
      "[{\"message\": {\"content\": [{\"type\": \"text\", \"text\": \"x\"}]}}]}}]}",
      "\2{\"request_states\": [{\"instance\": {\"id\": \"i\", \"references\": [{\"output\": "
      "{\"text\": \"r\"}, \"tags\": [\"correct\"]}]}, \"result\": {\"success\": true, "
      "\"completions\": [{\"text\": \"c\"}]}}]}",
      "\3{\"pred\": \"p\", \"answers\": [\"a\"], \"length\": 3}\n",
      "\4{\"id\": \"text\", \"other\": null}",
      "\5{\"custom_id\": \"a\", \"response\": {\"status_code\": 200, \"body\": {\"choices\": "
      "[{\"message\": {\"content\": \"x\"}}]}}}",
      "\6{\"id\": 1, \"prediction\": \"p\", \"references\": [\"r\"], \"document\": [\"d\"]}\n",
      "\6{\"id\": 12, \"prediction\": null, \"references\": \"r\", \"cluster\": \"c\", \"group\": "
      "3, "
      "\"document\": [\"a\", \"b\"], \"query\": \"q\", \"language\": \"en\", \"x\": [1, [0.5, "
      "null]], \"y\": -2}",
      "\7one line\nanother\n",
      "\x08['it\\'s', \"x\\u2028\"]",
      "\x09{\"id\": 1, \"metric\": \"m\", \"values\": {\"p\": 1e3, \"r\": -0}, \"system\": \"s\"}\n"
      "{\"id\": \"b\", \"metric\": \"m\", \"value\": 0.5, \"cluster\": 7}"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace qfs::datasets;
  if (size == 0) return 0;
  check_plain_reader({reinterpret_cast<const char*>(data) + 1, size - 1});
  const size_t formats = importers().size();
  const size_t which = data[0] % (formats + 4);
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const PredictionSink sink = [](const PredictionRecord& record) -> qfs::Status {
    if (record.id.empty() && record.where.find('#') == std::string::npos) std::abort();
    return {};
  };
  const MemoryFile file(text);
  if (which < formats) {
    const auto read = import_predictions(importers()[which].name, file.path(), {}, sink);
    if (!read && read.error().to_string().empty()) std::abort();
  } else if (which == formats) {
    const auto read = read_prediction_json_lines(file.path(), *make_prediction_fields({}), sink);
    if (!read && read.error().kind != qfs::ErrorKind::data) std::abort();
  } else if (which == formats + 1) {
    const MemoryFile references(text.substr(text.size() / 2));
    const auto read = read_prediction_line_files(file.path(), {references.path()}, sink, true);
    if (!read && read.error().kind != qfs::ErrorKind::data) std::abort();
  } else if (which == formats + 2) {
    (void)parse_python_list(text);
  } else {
    const auto read = read_score_records(file.path(), [](const ScoreRecord& record) -> qfs::Status {
      if (record.id.empty() || record.metric.empty() || record.values.empty()) std::abort();
      for (const auto& [column, value] : record.values) {
        if (!column.starts_with(record.metric) || !std::isfinite(value)) std::abort();
      }
      return {};
    });
    if (!read && read.error().kind != qfs::ErrorKind::data) std::abort();
  }
  return 0;
}

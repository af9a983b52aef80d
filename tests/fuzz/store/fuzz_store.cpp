// A stranger's SQLite file: a small store in which bytes are changed, read as `report --foreign`,
// `doctor` and `merge` read it. An input is a list of edits (where, how many bytes, which), since
// whole files are too large to be cut up. Whatever is in it, what is read is a value or a typed
// error, and the other store is sound afterwards.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "harness/core/files.h"
#include "harness/store/merge.h"
#include "harness/store/reader.h"
#include "tests/support/fuzz.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/store/sample_rows.h"

namespace {

using namespace qfs;  // NOLINT(google-build-using-namespace): one file of a test

constexpr size_t kEditBytes = 8;

std::string bytes_of(const std::string& path) {
  auto text = read_file(path, uint64_t{64} << 20);
  if (!text) std::abort();
  return *std::move(text);
}

class Files {
 public:
  Files() {
    const std::string path = folder_ / "whole.sqlite";
    {
      store::Store store = test::value_of(store::Store::open(path));
      const Dataset dataset = test::sample_dataset(3);
      const store::CellRow cell = test::sample_cell(dataset);
      const test::OpenResult open = test::open_sample(store, dataset, cell);
      test::value_of(store.commit_outputs(open.result, open.attempt, test::sample_outputs(0, 2)));
      store::SweepRow sweep{.name = "lc", .cells = {{cell.id, "Lead", {}, {}}}};
      test::value_of(store.put_sweep(sweep));
    }
    whole_ = bytes_of(path);
  }

  const std::string& whole() const { return whole_; }
  std::string path(const char* name) const { return folder_ / name; }

 private:
  test::TemporaryFolder folder_;
  std::string whole_;
};

const Files& files() {
  static const Files made;
  return made;
}

void write(const std::string& path, const std::string& bytes) {
  if (std::FILE* file = std::fopen(path.c_str(), "wb")) {
    std::fwrite(bytes.data(), 1, bytes.size(), file);
    std::fclose(file);
  }
}

/// Everything that commands ask of a store; values and errors alike are fine.
void read_all(store::Reader& reader) {
  static_cast<void>(reader.check_integrity());
  static_cast<void>(reader.datasets());
  static_cast<void>(reader.conflicts());
  static_cast<void>(reader.artifact_conflicts());
  static_cast<void>(reader.events());
  const auto hashes = reader.output_hashes();
  const auto sweeps = reader.sweeps();
  if (sweeps) {
    for (const store::SweepInfo& sweep : *sweeps) {
      static_cast<void>(reader.sweep(sweep.id));
      static_cast<void>(reader.results_of_sweep(sweep.id));
    }
  }
  const auto cells = reader.cells();
  if (!cells) return;
  for (const store::CellRow& cell : *cells) {
    static_cast<void>(reader.examples(cell.dataset));
    static_cast<void>(reader.example(cell.dataset, 0));
    const auto results = reader.results(cell.id);
    if (!results) continue;
    for (const store::ResultRow& result : *results) {
      static_cast<void>(reader.attempts(result.id));
      static_cast<void>(reader.outputs(result.id, true));
      static_cast<void>(reader.scores(result.id));
      static_cast<void>(reader.measurements(result.id));
      static_cast<void>(reader.memory(result.id));
      static_cast<void>(reader.training_points(result.id));
      static_cast<void>(reader.environment_of(result.key.numerics));
    }
  }
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds = {std::string(kEditBytes, '\0')};
  const size_t size = files().whole().size();
  // One edit in each page, at its header and further inside.
  for (size_t at = 0; at < size; at += 4096) {
    for (const size_t inside : {size_t{3}, size_t{40}, size_t{4000}}) {
      std::string edit(kEditBytes, '\1');
      const auto where = static_cast<uint32_t>(at + inside);
      std::memcpy(edit.data(), &where, sizeof where);
      seeds.push_back(edit + edit);
    }
  }
  return seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes = files().whole();
  for (; size >= kEditBytes; data += kEditBytes, size -= kEditBytes) {
    uint32_t where = 0;
    std::memcpy(&where, data, sizeof where);
    const size_t count = 1 + data[4] % 64;
    for (size_t i = 0; i < count; ++i) {
      bytes[(where + i) % bytes.size()] = static_cast<char>(data[5] + i * data[6]);
    }
    if (data[7] == 0xFF) bytes.resize(1 + where % bytes.size());
  }
  const std::string path = files().path("edited.sqlite");
  write(path, bytes);
  if (auto reader = store::Reader::open(path, {.foreign = true})) read_all(*reader);
  if (bytes.size() % 2 == 0) {
    const std::string other = files().path("other.sqlite");
    static_cast<void>(store::merge_store(other, path));
    if (std::filesystem::exists(other)) {
      auto reader = store::Reader::open(other);
      const auto problems = reader ? reader->check_integrity() : reader.error();
      if (!problems || !problems->empty()) std::abort();
    }
    for (const char* end : {"", "-wal", "-shm", ".lock"}) std::filesystem::remove(other + end);
  }
  for (const char* end : {"", "-wal", "-shm", ".lock"}) std::filesystem::remove(path + end);
  return 0;
}

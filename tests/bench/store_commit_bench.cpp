// What the store adds to an extractive unit of 64 examples: commits on a memory file system, and on
// a disk, where the difference is fsync.
// Usage: qfs_bench_store [--benchmark_…] /dev/shm /var/tmp
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "harness/store/reader.h"
#include "tests/unit/store/sample_rows.h"

namespace qfs::test {
namespace {

constexpr int64_t kUnits = 200;
constexpr int64_t kExamplesOfUnit = 64;

std::vector<store::OutputRow> extractive_unit(int64_t unit) {
  std::vector<store::OutputRow> outputs;
  for (int64_t i = 0; i < kExamplesOfUnit; ++i) {
    store::OutputRow output = sample_output(unit * kExamplesOfUnit + i);
    // A summary of about a hundred words, and no prompt.
    while (output.prediction.text.size() < 600) output.prediction.text += " and then another item.";
    output.prediction.prompt.clear();
    outputs.push_back(std::move(output));
  }
  return outputs;
}

/// A store in a folder, gone with this object.
class SampleStore {
 public:
  explicit SampleStore(const std::string& folder)
      : path_(folder + "/store-bench-" + std::to_string(::getpid()) + ".sqlite"),
        dataset_(sample_dataset(kUnits * kExamplesOfUnit)),
        store_(value_of(store::Store::open(path_))),
        open_(open_sample(store_, dataset_, sample_cell(dataset_))) {}
  ~SampleStore() {
    for (const char* const suffix : {"", "-wal", "-shm", ".lock"}) {
      std::filesystem::remove(path_ + suffix);
    }
  }
  SampleStore(const SampleStore&) = delete;
  SampleStore& operator=(const SampleStore&) = delete;

  const std::string& path() const { return path_; }
  store::Store& store() { return store_; }
  void commit(const std::vector<store::OutputRow>& outputs) {
    value_of(store_.commit_outputs(open_.result, open_.attempt, outputs));
  }

 private:
  std::string path_;
  Dataset dataset_;
  store::Store store_;
  OpenResult open_;
};

void commit_units(benchmark::State& state, const std::string& folder) {
  SampleStore sample(folder);
  int64_t unit = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const std::vector<store::OutputRow> outputs = extractive_unit(unit++);
    state.ResumeTiming();
    sample.commit(outputs);
  }
}

void commit_events(benchmark::State& state, const std::string& folder) {
  SampleStore sample(folder);
  for (auto _ : state) check(sample.store().log_event(store::EventLevel::info, "unit"));
}

void read_outputs(benchmark::State& state, const std::string& folder) {
  SampleStore sample(folder);
  for (int64_t unit = 0; unit < kUnits; ++unit) sample.commit(extractive_unit(unit));
  for (auto _ : state) {
    store::Reader reader = value_of(store::Reader::open(sample.path()));
    benchmark::DoNotOptimize(value_of(reader.outputs(store::ResultId{1})));
  }
}

}  // namespace
}  // namespace qfs::test

int main(int argc, char** argv) {
  using namespace qfs::test;
  benchmark::Initialize(&argc, argv);
  if (argc < 2) return 2;
  for (int i = 1; i < argc; ++i) {
    const std::string folder = argv[i];
    const auto add = [&](const char* name, void (*run)(benchmark::State&, const std::string&)) {
      return benchmark::RegisterBenchmark((folder + " " + name).c_str(), run, folder)
          ->UseRealTime();
    };
    add("64 extractive outputs", commit_units)->Iterations(kUnits);
    add("smallest commit (an event)", commit_events);
    add("open and read 12,800 outputs", read_outputs);
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

// What the store adds to an extractive unit of 64 examples: time of one commit on a memory file
// system, and on a disk, where the difference is fsync. Prints medians with the range of the middle
// half; folders are the arguments.
//
//   store_commit_bench /dev/shm /var/tmp
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/core/clock.h"
#include "harness/store/reader.h"
#include "tests/unit/store/sample_rows.h"

namespace qfs::test {
namespace {

constexpr int64_t kUnits = 200;
constexpr int64_t kExamplesOfUnit = 64;
constexpr double kNsPerMicrosecond = 1000;

void print_quartiles(const char* what, std::vector<int64_t> ns) {
  std::sort(ns.begin(), ns.end());
  const auto at = [&](size_t percent) {
    return static_cast<double>(ns[ns.size() * percent / 100]) / kNsPerMicrosecond;
  };
  std::printf("  %-36s %9.1f us  [%.1f, %.1f]\n", what, at(50), at(25), at(75));
}

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

void measure(const std::string& folder) {
  const std::string path = folder + "/store-bench-" + std::to_string(::getpid()) + ".sqlite";
  std::printf("%s\n", folder.c_str());
  const Dataset dataset = sample_dataset(kUnits * kExamplesOfUnit);
  const store::CellRow cell = sample_cell(dataset);
  {
    store::Store store = value_of(store::Store::open(path));
    const OpenResult open = open_sample(store, dataset, cell);
    std::vector<int64_t> commits;
    for (int64_t unit = 0; unit < kUnits; ++unit) {
      const std::vector<store::OutputRow> outputs = extractive_unit(unit);
      const int64_t begin = monotonic_ns();
      value_of(store.commit_outputs(open.result, open.attempt, outputs));
      commits.push_back(monotonic_ns() - begin);
    }
    print_quartiles("64 extractive outputs, first 1,000", {commits.begin(), commits.begin() + 16});
    print_quartiles("64 extractive outputs, of 12,800", commits);
    std::vector<int64_t> events;
    for (int64_t i = 0; i < kUnits; ++i) {
      const int64_t begin = monotonic_ns();
      check(store.log_event(store::EventLevel::info, "unit"));
      events.push_back(monotonic_ns() - begin);
    }
    print_quartiles("smallest commit (an event)", events);
  }
  std::vector<int64_t> opens;
  std::vector<int64_t> reads;
  for (int i = 0; i < 20; ++i) {
    int64_t begin = monotonic_ns();
    { const store::Store store = value_of(store::Store::open(path)); }
    opens.push_back(monotonic_ns() - begin);
    begin = monotonic_ns();
    store::Reader reader = value_of(store::Reader::open(path));
    value_of(reader.outputs(store::ResultId{1}));
    reads.push_back(monotonic_ns() - begin);
  }
  print_quartiles("open and close", opens);
  print_quartiles("open and read 12,800 outputs", reads);
  for (const char* const suffix : {"", "-wal", "-shm", ".lock"}) {
    std::filesystem::remove(path + suffix);
  }
}

}  // namespace
}  // namespace qfs::test

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) qfs::test::measure(argv[i]);
  if (argc == 1) std::puts("store_commit_bench FOLDER…");
  return argc == 1 ? 2 : 0;
}

#include "tests/crash/store/crash_writer.h"

#include <algorithm>
#include <cstdio>
#include <exception>

#include "harness/store/merge.h"
#include "harness/store/reader.h"
#include "tests/unit/store/sample_rows.h"

namespace qfs::test {
namespace {

using store::ResultKind;
using store::Store;

constexpr int64_t kExamplesOfUnit = 2;

void predict(Store& store, const store::CellRow& cell, const store::SweepId& sweep,
             int64_t position) {
  const OpenResult open = open_result(store, cell);
  check(store.use_result(sweep, position, open.result));
  const std::vector<int64_t> present = value_of(store.present_ordinals(open.result));
  const auto is_present = [&](int64_t ordinal) {
    return std::binary_search(present.begin(), present.end(), ordinal);
  };
  const auto examples = static_cast<int64_t>(cell.ordinals.size());
  for (int64_t first = 0; first < examples; first += kExamplesOfUnit) {
    const int64_t last = std::min(first + kExamplesOfUnit, examples) - 1;
    if (is_present(first) && is_present(last)) continue;
    const auto outcome =
        value_of(store.commit_outputs(open.result, open.attempt, sample_outputs(first, last)));
    if (!outcome.conflicting_ordinals.empty()) throw std::runtime_error("conflict");
  }
  check(store.end_attempt(open.attempt, {}));
}

void measure(Store& store, const store::CellRow& cell, const store::SweepId& sweep) {
  constexpr int64_t kRepetitions = 2;
  const OpenResult open =
      open_result(store, cell, ResultKind::measure, {.repetitions = kRepetitions});
  check(store.use_result(sweep, 0, open.result));
  for (int64_t repetition = 0; repetition < kRepetitions; ++repetition) {
    const std::vector<store::MeasurementRow> rows = {{0, 0, "total", 1000 + repetition, 5}};
    const std::vector<store::MemoryRow> memory = {{0, "host_peak", 4096}};
    check(store.commit_repetition(open.result, open.attempt, repetition, rows, memory));
  }
  check(store.end_attempt(open.attempt, {}));
}

void train(Store& store, const store::CellRow& cell) {
  const OpenResult open = open_result(store, cell, ResultKind::train, {.roles = {"adapter"}});
  for (int64_t step = 1; step <= 3; ++step) {
    const TrainingPoint point{step, 3, {{"loss", 1.0 / static_cast<double>(step)}}};
    check(store.put_training_points(open.result, open.attempt, {&point, 1}));
  }
  const store::ArtifactRow artifact{"adapter", sha256_hex("adapter"), 7, "artifacts/adapter"};
  const auto outcome = value_of(store.commit_artifacts(open.result, open.attempt, {&artifact, 1},
                                                       {.seconds = 1, .steps = 3}));
  if (!outcome.conflicting_roles.empty()) throw std::runtime_error("conflict");
  check(store.end_attempt(open.attempt, {}));
}

void score(Store& store, const store::CellRow& cell) {
  store::ScoreJob job;
  job.result = value_of(
      store.ensure_result({cell.id, sample_environment().numerics_id, ResultKind::predict}));
  job.id = make_score_id(cell.id, sample_environment().numerics_id, Json{"[]"}, "length@1");
  if (value_of(store.has_scores(job.id))) return;
  job.metric = "length";
  job.signature = "length@1";
  job.columns = {"length"};
  for (const int64_t ordinal : cell.ordinals) {
    job.statistics.push_back({ordinal, {}, {static_cast<double>(ordinal) / 3}});
  }
  job.scores = {{"length", 0.5, {}}};
  check(store.put_scores(job));
}

}  // namespace

int write_everything(const std::string& store_path, int64_t examples) {
  try {
    Store store = value_of(Store::open(store_path));
    value_of(store.abandon_dead_attempts());
    const Dataset dataset = sample_dataset(examples);
    std::vector<store::CellRow> cells = {sample_cell(dataset, "lead"),
                                         sample_cell(dataset, "random")};
    const store::CellRow training = sample_training_cell(dataset, dataset);
    cells[1].dependencies = {{"adapter", training.id, ""}};
    check(store.put_dataset(dataset));
    check(store.put_cell(training));
    check(store.put_cells(cells));
    store::SweepRow sweep{.name = "crash"};
    for (const store::CellRow& cell : cells) sweep.cells.push_back({cell.id, cell.method, {}, {0}});
    const store::SweepId id = value_of(store.put_sweep(sweep));
    train(store, training);
    for (size_t i = 0; i < cells.size(); ++i) predict(store, cells[i], id, static_cast<int64_t>(i));
    measure(store, cells[0], id);
    for (const store::CellRow& cell : cells) score(store, cell);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "writer: %s\n", error.what());
    return 1;
  }
}

int merge_all(const std::string& destination, const std::vector<std::string>& sources) {
  for (const std::string& source : sources) {
    const auto outcome = store::merge_store(destination, source);
    if (outcome && outcome->conflicts == 0) continue;
    std::fprintf(stderr, "merge: %s\n",
                 outcome ? "conflicts" : outcome.error().to_string().c_str());
    return 1;
  }
  return 0;
}

}  // namespace qfs::test

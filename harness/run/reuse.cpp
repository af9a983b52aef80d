#include <algorithm>
#include <filesystem>

#include "harness/core/sha256.h"
#include "harness/run/learned_pace.h"
#include "harness/run/memory_policy.h"
#include "harness/run/run.h"
#include "harness/run/survey.h"
#include "harness/run/train.h"
#include "harness/run/ways.h"

namespace qfs::run {
namespace {

size_t expected_outputs(const plan::Cell& cell) {
  size_t expected = 0;
  for (const Unit& unit : cell.units) expected += unit.ordinals.size();
  return expected;
}

/// The files of a training that the store has; none where it is not complete. They may be gone.
Result<std::optional<TrainedFiles>> files_of(const plan::Training& training, store::Reader& reader,
                                             const std::string& store_path,
                                             HostLauncher& launcher) {
  Result<plan::NumericsIdentity> numerics = training_numerics(training, launcher);
  if (!numerics) return std::optional<TrainedFiles>();
  auto row = reader.find_result({training.cell.id, numerics->id, store::ResultKind::train});
  if (!row) return row.error();
  if (!*row) return std::optional<TrainedFiles>();
  return recorded_files(reader, store_path, (*row)->id);
}

/// Whether they are all where the store says.
bool are_there(const TrainedFiles& files) {
  return std::ranges::all_of(files, [](const auto& role) {
    const Result<std::string> digest = sha256_file(role.second.path);
    return digest && *digest == role.second.digest;
  });
}

}  // namespace

Result<std::vector<Reuse>> reuse_of(const plan::Plan& plan, const std::string& store_path,
                                    const RunOptions& options) {
  std::vector<Reuse> reuse;
  for (const plan::Cell& cell : plan.cells) {
    reuse.push_back({.expected = expected_outputs(cell), .waiting = cell.training.has_value()});
  }
  if (!std::filesystem::exists(store_path)) return reuse;
  Result<store::Reader> reader = store::Reader::open(store_path);
  if (!reader) return reader.error();
  const auto learned = learned_paces(plan, *reader);
  if (!learned) return learned.error();
  HostLauncher launcher(options, plan.experiment.limits,
                        std::filesystem::temp_directory_path().string());
  const MemoryPolicy memory(plan);
  for (size_t i = 0; i < plan.cells.size(); ++i) {
    plan::Cell cell = plan.cells[i];
    if (cell.training) {
      auto files = files_of(plan.trainings[*cell.training], *reader, store_path, launcher);
      if (!files) return files.error();
      if (!*files) continue;
      for (const auto& [role, file] : **files) cell.artifacts[role] = file;
      reuse[i].waiting = !are_there(**files);
    }
    if (const auto& pace = (*learned)[i]) reuse[i].example_seconds = pace->seconds / pace->examples;
    const Result<HostFacts> facts = launcher.facts(cell);
    Result<plan::NumericsIdentity> numerics = predict_numerics(cell, launcher);
    if (!numerics || !facts || facts->failure) {
      reuse[i].known = false;
      continue;
    }
    auto row = reader->find_result({cell.id, numerics->id, store::ResultKind::predict});
    // Smaller batches are looked up as run_plan takes them.
    while (row && *row && ran_out_of_memory((*row)->failure)) {
      const std::optional<int64_t> batch = memory.smaller_batch(cell);
      if (!batch) break;
      cell = in_another_way(plan, cell, {.batch_size = batch});
      numerics = predict_numerics(cell, launcher);
      if (!numerics) return numerics.error();
      auto smaller = reader->find_result({cell.id, numerics->id, store::ResultKind::predict});
      if (smaller && !*smaller) break;
      row = std::move(smaller);
    }
    if (!row) return row.error();
    if (!*row) continue;
    // Complete outputs need no files.
    if (reuse[i].waiting && (*row)->status != store::Completeness::complete) continue;
    reuse[i].waiting = false;
    reuse[i].present = static_cast<size_t>((*row)->done);
    reuse[i].failure = (*row)->failure;
  }
  return reuse;
}

}  // namespace qfs::run

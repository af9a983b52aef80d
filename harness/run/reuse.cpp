#include <algorithm>
#include <filesystem>

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

/// Where a training of the plan stands in the store.
struct Standing {
  std::optional<StoredTraining> complete;  ///< none: it, or the one that it begins with, is not
  bool begun = false;
};

Result<Standing> standing_of(const plan::Plan& plan, size_t index, store::Reader& reader,
                             const std::string& store_path, HostLauncher& launcher, bool any_way) {
  plan::Training training = plan.trainings[index];
  if (training.cell.training) {
    auto first = standing_of(plan, *training.cell.training, reader, store_path, launcher, any_way);
    if (!first) return first;
    if (!first->complete) return Standing();
    name_files(training.cell, first->complete->files);
  }
  Result<plan::NumericsIdentity> numerics = training_numerics(training, launcher);
  if (!numerics) return Standing();
  auto stored = stored_training(reader, store_path, training.cell, numerics->id, any_way);
  if (!stored) return stored.error();
  return Standing{*std::move(stored), is_begun(store_path, training.cell, numerics->id)};
}

}  // namespace

Result<std::vector<Reuse>> reuse_of(const plan::Plan& plan, const std::string& store_path,
                                    const RunOptions& options) {
  std::vector<Reuse> reuse;
  for (const plan::Cell& cell : plan.cells) {
    std::vector<size_t> chain = plan::trainings_behind(plan, cell);
    std::ranges::reverse(chain);
    reuse.push_back({.expected = expected_outputs(cell), .trainings = std::move(chain)});
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
    std::vector<size_t> left;
    bool complete = true;
    for (const size_t training : plan::trainings_behind(plan, cell)) {
      const auto standing =
          standing_of(plan, training, *reader, store_path, launcher, options.accept_numerics);
      if (!standing) return standing.error();
      const std::optional<StoredTraining>& stored = standing->complete;
      if (training == *cell.training) {
        complete = stored.has_value();
        if (complete) name_files(cell, stored->files);
      }
      if (stored && stored->there) break;
      left.insert(left.begin(), training);
      if (standing->begun) reuse[i].begun.push_back(training);
    }
    reuse[i].trainings = std::move(left);
    if (!complete) continue;
    if (const auto& pace = (*learned)[i]) reuse[i].example_seconds = pace->seconds / pace->examples;
    const Result<HostFacts> facts = launcher.facts(cell);
    const Result<plan::NumericsIdentity> numerics = predict_numerics(cell, launcher);
    if (!numerics || !facts || facts->failure) {
      reuse[i].known = false;
      continue;
    }
    const auto row =
        stored_predictions(plan, cell, memory, *reader, launcher, options.accept_numerics);
    if (!row) return row.error();
    if (!*row) continue;
    // Nothing runs that would need the files.
    if (nothing_left(**row, options)) reuse[i].trainings.clear();
    if (reuse[i].waiting()) continue;
    reuse[i].present = static_cast<size_t>((*row)->done);
    reuse[i].failure = (*row)->failure;
  }
  return reuse;
}

}  // namespace qfs::run

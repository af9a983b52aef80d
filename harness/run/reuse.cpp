#include <algorithm>
#include <filesystem>

#include "harness/run/learned_pace.h"
#include "harness/run/run.h"
#include "harness/run/survey.h"

namespace qfs::run {
namespace {

size_t expected_outputs(const plan::Cell& cell) {
  size_t expected = 0;
  for (const Unit& unit : cell.units) expected += unit.ordinals.size();
  return expected;
}

}  // namespace

Result<std::vector<Reuse>> reuse_of(const plan::Plan& plan, const std::string& store_path,
                                    const RunOptions& options) {
  std::vector<Reuse> reuse;
  for (const plan::Cell& cell : plan.cells) reuse.push_back({0, expected_outputs(cell), true, {}});
  if (!std::filesystem::exists(store_path)) return reuse;
  Result<store::Reader> reader = store::Reader::open(store_path);
  if (!reader) return reader.error();
  const auto learned = learned_paces(plan, *reader);
  if (!learned) return learned.error();
  HostLauncher launcher(options, plan.experiment.limits,
                        std::filesystem::temp_directory_path().string());
  for (size_t i = 0; i < plan.cells.size(); ++i) {
    const plan::Cell& cell = plan.cells[i];
    if (const auto& pace = (*learned)[i]) reuse[i].example_seconds = pace->seconds / pace->examples;
    const Result<HostFacts> facts = launcher.facts(cell);
    Result<plan::NumericsIdentity> numerics = predict_numerics(cell, launcher);
    if (!numerics || !facts || facts->failure) {
      reuse[i].known = false;
      continue;
    }
    auto row = reader->find_result({cell.id, numerics->id, store::ResultKind::predict});
    if (!row) return row.error();
    if (*row) reuse[i].present = static_cast<size_t>((*row)->done);
  }
  return reuse;
}

}  // namespace qfs::run

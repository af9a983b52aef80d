// Cells whose outputs were read from a file when the sweep was planned: they are put into the store
// without a host.
#include "harness/run/cell_run.h"

namespace qfs::run {

Result<CellOutcome> import_cell(const RunContext& context, const CellTarget& target) {
  constexpr size_t kRowsOfACommit = 1000;
  const plan::Cell& cell = *target.cell;
  CellOutcome outcome;
  context.progress.cell_started(cell, store::ResultKind::predict, target.units.size());
  const auto attempt = begin_attempt(context, target.result, target.environment);
  if (!attempt) return attempt.error();
  std::vector<store::OutputRow> rows;
  const auto commit = [&]() -> Status {
    Result<store::CommitOutcome> done = context.store.commit_outputs(target.result, *attempt, rows);
    if (!done) return done.error();
    outcome.conflicts += done->conflicting_ordinals.size();
    context.progress.unit_done(rows.size(), 0, 0, {});
    rows.clear();
    return {};
  };
  for (const auto& [ordinal, text] : cell.imported->texts) {
    Prediction prediction;
    prediction.text = text;
    rows.push_back({ordinal, std::move(prediction), {}});
    if (rows.size() < kRowsOfACommit) continue;
    if (Status status = commit(); !status) return status.error();
  }
  if (Status status = rows.empty() ? Status() : commit(); !status) return status.error();
  outcome.complete = true;
  if (Status ended = end_attempt(context.store, *attempt, outcome); !ended) return ended.error();
  return outcome;
}

}  // namespace qfs::run

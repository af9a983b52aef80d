#include <unistd.h>

#include "harness/core/clock.h"
#include "harness/core/failpoint.h"
#include "harness/run/cell_run.h"

namespace qfs::run {
namespace {

// Units of light methods take microseconds; committing each would be all fsync.
constexpr size_t kGroupExamples = 64;
constexpr int64_t kGroupNs = 20'000'000;

/// Outputs waiting for their commit. A unit is never split over two commits.
class OutputBuffer {
 public:
  OutputBuffer(store::Store& store, const CellTarget& target, store::AttemptId attempt,
               CellOutcome& outcome)
      : store_(store),
        target_(target),
        attempt_(attempt),
        outcome_(outcome),
        grouped_(target.cell->host == plan::HostKind::light) {}

  Status add(host::UnitResults results) {
    if (rows_.empty()) oldest_ns_ = monotonic_ns();
    for (host::PredictionReply& reply : results.predictions) {
      rows_.push_back({reply.ordinal, std::move(reply.prediction), {}});
    }
    const bool due =
        !grouped_ || rows_.size() >= kGroupExamples || monotonic_ns() - oldest_ns_ >= kGroupNs;
    return due ? flush() : Status{};
  }

  Status flush() {
    if (rows_.empty()) return {};
    QFS_FAILPOINT_HERE("run.before_commit");
    Result<store::CommitOutcome> committed = store_.commit_outputs(target_.result, attempt_, rows_);
    if (!committed) return committed.error();
    QFS_FAILPOINT_HERE("run.after_commit");
    outcome_.conflicts += committed->conflicting_ordinals.size();
    rows_.clear();
    return {};
  }

 private:
  store::Store& store_;
  const CellTarget& target_;
  store::AttemptId attempt_;
  CellOutcome& outcome_;
  bool grouped_;
  std::vector<store::OutputRow> rows_;
  int64_t oldest_ns_ = 0;
};

int64_t tokens_out(const host::UnitResults& results) {
  int64_t tokens = 0;
  for (const host::PredictionReply& reply : results.predictions) {
    tokens += reply.prediction.tokens_out;
  }
  return tokens;
}

/// Runs units until the end, a failure, a signal or the cell's time limit.
Status run_units(const RunContext& context, const CellTarget& target, HostPool& pool,
                 OutputBuffer& buffer, CellOutcome& outcome) {
  const plan::Cell& cell = *target.cell;
  const int64_t cell_limit_ns = context.launcher.limits().cell_seconds * 1'000'000'000;
  const int64_t start_ns = monotonic_ns();
  for (size_t index : target.units) {
    if (context.signals.received() != 0) return {};
    if (cell_limit_ns > 0 && monotonic_ns() - start_ns >= cell_limit_ns) {
      outcome.failure = store::FailureKind::timeout;
      outcome.message = "the cell did not finish within " +
                        std::to_string(context.launcher.limits().cell_seconds) + " s";
      return {};
    }
    const host::RunRequest request =
        run_request(context.plan, cell, static_cast<int64_t>(index), cell.units[index], false);
    host::UnitResults results;
    QFS_FAILPOINT_HERE("run.before_unit");
    if (auto failure = run_unit(context, cell, pool, request, results)) {
      fail(outcome, *failure);
      pool.discard();
      return {};
    }
    context.progress.unit_done(results.predictions.size(), tokens_out(results), results.done.ns,
                               process_memory(pool.host().pid()).resident_bytes);
    if (Status added = buffer.add(std::move(results)); !added) return added;
  }
  outcome.complete = true;
  return {};
}

}  // namespace

Result<CellOutcome> predict_cell(const RunContext& context, const CellTarget& target,
                                 HostPool& pool) {
  CellOutcome outcome;
  const plan::Cell& cell = *target.cell;
  context.progress.cell_started(cell, store::ResultKind::predict, target.units.size());
  auto open_failure = pool.open(cell, context.launcher.runtime(cell));
  Result<store::AttemptId> attempt = context.store.begin_attempt(
      {.result = target.result,
       .environment = target.environment,
       .worker = "driver",
       .log_path = relative_log_path(context.store.path(), pool.log_path())});
  if (!attempt) return attempt.error();
  if (open_failure) {
    fail(outcome, *open_failure);
  } else {
    OutputBuffer buffer(context.store, target, *attempt, outcome);
    if (Status ran = run_units(context, target, pool, buffer, outcome); !ran) return ran.error();
    if (Status flushed = buffer.flush(); !flushed) return flushed.error();
    if (outcome.failure == store::FailureKind::none) pool.release();
  }
  if (Status ended = end_attempt(context.store, *attempt, outcome); !ended) return ended.error();
  return outcome;
}

}  // namespace qfs::run

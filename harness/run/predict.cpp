#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

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
        grouped_(target.cell->host == plan::HostKind::light && !target.cell->needs.network) {}

  Status add(host::UnitResults results) {
    if (rows_.empty()) oldest_ns_ = monotonic_ns();
    for (host::PredictionReply& reply : results.predictions) {
      rows_.push_back({reply.ordinal, std::move(reply.prediction), {}});
    }
    const bool due =
        !grouped_ || rows_.size() >= kGroupExamples || monotonic_ns() - oldest_ns_ >= kGroupNs;
    return due ? flush() : Status{};
  }

  /// A row that stands for itself is not held back: it may have cost money.
  Status add(const host::PredictionReply& row) {
    rows_.push_back({row.ordinal, row.prediction, {}});
    return flush();
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

/// The unit without the rows that are there already, where each row stands for itself.
Unit rows_to_run(const CellTarget& target, const Unit& unit) {
  if (!target.cell->needs.separate_rows) return unit;
  Unit rows;
  for (int64_t ordinal : unit.ordinals) {
    if (!std::ranges::binary_search(target.present, ordinal)) rows.ordinals.push_back(ordinal);
  }
  return rows;
}

size_t missing_rows(const CellTarget& target) {
  size_t rows = 0;
  for (size_t index : target.units) {
    rows += rows_to_run(target, target.cell->units[index]).ordinals.size();
  }
  return rows;
}

/// What went wrong in a cell whose rows stand for themselves; other rows went on.
struct RowFailures {
  std::optional<host::HostFailure> first;
  size_t rows = 0;

  void add(host::HostFailure failure, size_t count) {
    rows += count;
    if (!first) first = std::move(failure);
  }

  void tell(const RunContext& context, const plan::Cell& cell, CellOutcome& outcome) const {
    if (!first) return;
    outcome.complete = false;
    const ErrorKind kind = first->error.kind;
    fail(outcome, *first);
    if (!cell.needs.network || (kind != ErrorKind::unavailable && kind != ErrorKind::timeout)) {
      return;
    }
    // A server that is away is no property of the cell: the next sweep asks it again.
    outcome.failure = store::FailureKind::none;
    context.progress.note(cell.label + ": " + std::to_string(rows) +
                          " rows are left for the next sweep: " + outcome.message);
  }
};

/// Runs units until the end, a failure, a signal or the cell's time limit.
Status run_units(const RunContext& context, const CellTarget& target, HostPool& pool,
                 OutputBuffer& buffer, CellOutcome& outcome) {
  const plan::Cell& cell = *target.cell;
  const int64_t cell_limit_ns = context.launcher.limits().cell_seconds * 1'000'000'000;
  const int64_t start_ns = monotonic_ns();
  RowFailures failures;
  for (size_t index : target.units) {
    if (context.signals.received() != 0) return {};
    if (cell_limit_ns > 0 && monotonic_ns() - start_ns >= cell_limit_ns) {
      outcome.failure = store::FailureKind::timeout;
      outcome.message = "the cell did not finish within " +
                        std::to_string(context.launcher.limits().cell_seconds) + " s";
      return {};
    }
    const host::RunRequest request = run_request(context.plan, cell, static_cast<int64_t>(index),
                                                 rows_to_run(target, cell.units[index]), false);
    host::UnitResults results;
    Status stored;
    host::RowSink on_row;
    int64_t last_ns = monotonic_ns();
    if (cell.needs.separate_rows) {
      on_row = [&](const host::PredictionReply& row) {
        stored = buffer.add(row);
        const int64_t now = monotonic_ns();
        context.progress.rows_done(1, row.prediction.tokens_out, now - std::exchange(last_ns, now));
        return stored;
      };
    }
    QFS_FAILPOINT_HERE("run.before_unit");
    auto failure = run_unit(context, cell, pool, request, results, on_row);
    if (!stored) return stored;
    if (failure && !cell.needs.separate_rows) {
      fail(outcome, *failure);
      pool.discard();
      return {};
    }
    const ProcessMemory host = failure ? ProcessMemory{} : process_memory(pool.host().pid());
    if (cell.needs.separate_rows) {
      context.progress.unit_done(0, 0, 0, host);
    } else {
      context.progress.unit_done(results.predictions.size(), produced_tokens(results),
                                 results.done.ns, host);
    }
    if (failure) {
      const size_t arrived = results.predictions.size();
      failures.add(*std::move(failure), request.examples.size() - arrived);
      // A unit without a single row says that the next would fail as well.
      const bool go_on = arrived > 0 && !pool.reopen(cell);
      if (go_on) continue;
      pool.discard();
      failures.tell(context, cell, outcome);
      return {};
    }
    if (cell.needs.separate_rows) continue;
    if (Status added = buffer.add(std::move(results)); !added) return added;
  }
  outcome.complete = true;
  failures.tell(context, cell, outcome);
  return {};
}

bool has_text(const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  return !error && bytes > 0;
}

}  // namespace

Result<CellOutcome> predict_cell(const RunContext& context, const CellTarget& target,
                                 HostPool& pool) {
  CellOutcome outcome;
  const plan::Cell& cell = *target.cell;
  context.progress.cell_started(cell, store::ResultKind::predict, target.units.size());
  auto open_failure = pool.open(cell, context.launcher.runtime(cell));
  if (const auto error = not_started(context, pool)) return *error;
  const std::string log_path = pool.log_path();
  const auto attempt = begin_attempt(context, target.result, target.environment, log_path);
  if (!attempt) return attempt.error();
  if (open_failure) {
    RowFailures failures;
    failures.add(*std::move(open_failure), missing_rows(target));
    failures.tell(context, cell, outcome);
  } else {
    OutputBuffer buffer(context.store, target, *attempt, outcome);
    if (Status ran = run_units(context, target, pool, buffer, outcome); !ran) return ran.error();
    if (Status flushed = buffer.flush(); !flushed) return flushed.error();
    if (const auto error = not_started(context, pool)) return *error;
    if (outcome.failure == store::FailureKind::none) pool.release();
  }
  if (outcome.failure != store::FailureKind::none && has_text(log_path)) outcome.log = log_path;
  if (Status ended = end_attempt(context.store, *attempt, outcome); !ended) return ended.error();
  return outcome;
}

}  // namespace qfs::run

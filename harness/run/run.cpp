#include "harness/run/run.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "harness/core/counted.h"
#include "harness/plan/estimate.h"
#include "harness/run/cell_run.h"
#include "harness/run/learned_pace.h"
#include "harness/run/memory_policy.h"
#include "harness/run/signals.h"
#include "harness/run/source_changes.h"
#include "harness/run/survey.h"
#include "harness/run/train.h"
#include "harness/run/ways.h"

namespace qfs::run {
namespace {

/// Logs of hosts lie beside the store: "lc_sweep.sqlite" -> "lc_sweep.logs/".
std::string log_folder(const std::string& store_path) {
  return std::filesystem::path(store_path).replace_extension(".logs").string();
}

Result<WorkAhead> work_ahead(const plan::Plan& plan, const std::vector<CellState>& states,
                             store::Reader& reader) {
  WorkAhead work;
  work.cells = plan.cells.size();
  const plan::Estimator estimator;
  const auto learned = learned_paces(plan, reader);
  if (!learned) return learned.error();
  for (size_t i = 0; i < states.size(); ++i) {
    const CellState& state = states[i];
    if (state.waiting) continue;
    const plan::Cell& cell = plan.cells[i];
    const std::string method(cell.spec->name());
    const double missing = estimator.remaining_seconds(cell, state.missing_units.size());
    const auto rows = static_cast<double>(plan.datasets[cell.dataset].ordinals.size());
    if ((*learned)[i]) {
      work.paces[method].estimated_s += estimator.seconds(cell) * (*learned)[i]->examples / rows;
      work.paces[method].taken_s += (*learned)[i]->seconds;
    } else if (!state.present.empty()) {
      const Result<double> taken = seconds_of_attempts(reader, state.predict.result);
      if (!taken) return taken.error();
      if (*taken > 0) {
        work.paces[method].estimated_s +=
            estimator.seconds(cell) * static_cast<double>(state.present.size()) / rows;
        work.paces[method].taken_s += *taken;
      }
    }
    if (!state.predict.complete && !state.predict.remembered_failure) {
      ++work.cells_to_run;
      work.units_to_run += state.missing_units.size();
      work.seconds += missing;
      work.predict_seconds[method] += missing;
    }
    if (!state.measure || state.measure->complete) continue;
    ++work.cells_to_measure;
    work.seconds += estimator.measure_seconds(cell, plan.datasets[cell.dataset].ordinals.size(),
                                              *plan.experiment.measure);
  }
  return work;
}

CellOutcome reused_outcome(store::ResultKind kind) {
  CellOutcome outcome;
  outcome.kind = kind;
  outcome.reused = outcome.complete = true;
  return outcome;
}

CellOutcome remembered_outcome(store::ResultKind kind, const store::AttemptRow& failure) {
  CellOutcome outcome;
  outcome.kind = kind;
  outcome.remembered = true;
  outcome.failure = failure.failure;
  outcome.message = failure.message;
  return outcome;
}

/// Executes the cells of one plan in two passes: predictions first, then timings.
class Execution {
 public:
  Execution(const RunContext& context, const RunOptions& options, std::vector<CellState> states)
      : context_(context), options_(options), states_(std::move(states)), memory_(context.plan) {
    summary_.results.resize(states_.size());
    predicted_.resize(states_.size(), false);
  }

  Result<RunSummary> run() {
    if (Status predicted = predict_all(); !predicted) return predicted.error();
    if (Status measured = measure_all(); !measured) return measured.error();
    summary_.interrupted_by = context_.signals.received();
    summary_.incomplete = states_.size() - summary_.complete - summary_.failed;
    return std::move(summary_);
  }

  /// Where the cells stand; those with smaller batches in the way that they were computed.
  const std::vector<CellState>& states() const { return states_; }
  bool took_smaller_batches() const { return !smaller_.empty(); }

 private:
  bool stopping() const {
    return context_.signals.received() != 0 ||
           (options_.max_failures > 0 && new_failures_ >= options_.max_failures);
  }

  const plan::Cell& cell(size_t i) const {
    const auto smaller = smaller_.find(i);
    return smaller == smaller_.end() ? context_.plan.cells[i] : smaller->second;
  }

  Status predict_all() {
    HostPool pool(context_.launcher, context_.plan.experiment.host_reuse);
    for (size_t i : memory_.order()) {
      const ResultState& state = states_[i].predict;
      if (states_[i].waiting) continue;
      summary_.results[i].predict = state.result;
      if (stopping() && !state.complete && !state.remembered_failure) continue;
      const Result<CellOutcome> outcome = predict_within_memory(i, pool);
      if (!outcome) return outcome.error();
      count(*outcome);
      predicted_[i] = outcome->complete;
      context_.progress.cell_ended(context_.plan.cells[i], *outcome);
    }
    return {};
  }

  /// With smaller batches when memory runs out, where the sweep says so.
  Result<CellOutcome> predict_within_memory(size_t i, HostPool& pool) {
    Result<CellOutcome> outcome = predict_or_recall(i, pool);
    while (outcome && ran_out_of_memory(outcome->failure)) {
      const std::optional<int64_t> batch = memory_.smaller_batch(cell(i));
      if (!batch || stopping()) break;
      if (Status taken = take_batch(i, *batch, outcome->remembered); !taken) return taken.error();
      outcome = predict_or_recall(i, pool);
    }
    if (outcome && ran_out_of_memory(outcome->failure)) memory_.ran_out(i);
    return outcome;
  }

  Status take_batch(size_t i, int64_t batch, bool again) {
    const std::string text = cell(i).label + ": a batch of " +
                             std::to_string(*batch_size_of(cell(i))) + " ran out of memory; " +
                             std::to_string(batch) + " in its place, as out_of_memory says";
    if (!again) {
      context_.progress.note(text);
      const Status logged = context_.store.log_event(store::EventLevel::warning, text);
      if (!logged) return logged;
    }
    smaller_[i] = in_another_way(context_.plan, cell(i), {.batch_size = batch});
    Result<CellState> state = survey_cell(context_, options_, smaller_[i], states_[i].rerun);
    if (!state) return state.error();
    states_[i] = *std::move(state);
    summary_.results[i].predict = states_[i].predict.result;
    return {};
  }

  /// What the store already knows about a cell, or else what running it gives.
  Result<CellOutcome> predict_or_recall(size_t i, HostPool& pool) {
    const ResultState& state = states_[i].predict;
    if (state.complete) return reused_outcome(store::ResultKind::predict);
    const CellTarget target{.cell = &cell(i),
                            .result = state.result,
                            .environment = state.environment,
                            .units = states_[i].missing_units,
                            .present = states_[i].present};
    const bool was_implied = state.remembered_failure &&
                             state.remembered_failure->failure == store::FailureKind::implied_oom;
    const std::optional<std::string> implied =
        options_.retry.contains(store::FailureKind::implied_oom) ? std::nullopt
                                                                 : memory_.implied(i);
    if (implied && !state.remembered_failure) return implied_cell(context_, target, *implied);
    // One that was implied stands only as long as what implied it.
    if (state.remembered_failure && (implied || !was_implied)) {
      return remembered_outcome(store::ResultKind::predict, *state.remembered_failure);
    }
    if (states_[i].unreachable) return failed_cell(context_, target, *states_[i].unreachable);
    return target.cell->imported ? import_cell(context_, target)
                                 : predict_cell(context_, target, pool);
  }

  void count(const CellOutcome& outcome) {
    summary_.conflicts += outcome.conflicts;
    if (outcome.complete) ++summary_.complete;
    if (outcome.reused) ++summary_.reused;
    if (outcome.failure == store::FailureKind::none) return;
    ++summary_.failed;
    summary_.failures.insert(outcome.failure);
    if (!outcome.remembered) ++new_failures_;
  }

  Status measure_all() {
    for (size_t i = 0; i < states_.size(); ++i) {
      const std::optional<ResultState>& state = states_[i].measure;
      if (!state) continue;
      summary_.results[i].measure = state->result;
      if (state->complete || !predicted_[i]) continue;
      if (stopping() && !state->remembered_failure) {
        ++summary_.timings_left;
        continue;
      }
      const Result<CellOutcome> outcome = measure_or_recall(i, *state);
      if (!outcome) return outcome.error();
      summary_.conflicts += outcome->conflicts;
      if (outcome->failure != store::FailureKind::none) {
        ++summary_.timings_failed;
        summary_.failures.insert(outcome->failure);
        if (!outcome->remembered) ++new_failures_;
      }
      context_.progress.cell_ended(context_.plan.cells[i], *outcome);
    }
    return {};
  }

  Result<CellOutcome> measure_or_recall(size_t i, const ResultState& state) {
    if (state.remembered_failure) {
      return remembered_outcome(store::ResultKind::measure, *state.remembered_failure);
    }
    return measure_cell(context_, {.cell = &cell(i),
                                   .result = state.result,
                                   .environment = state.environment,
                                   .repetitions = states_[i].missing_repetitions,
                                   .quality = states_[i].predict.result});
  }

  const RunContext& context_;
  const RunOptions& options_;
  std::vector<CellState> states_;
  MemoryPolicy memory_;
  std::map<size_t, plan::Cell> smaller_;  ///< cells with smaller batches than the plan's
  std::vector<bool> predicted_;
  RunSummary summary_;
  int64_t new_failures_ = 0;
};

void add_trainings(const std::vector<TrainingState>& trainings, RunSummary& summary) {
  for (const TrainingState& training : trainings) {
    summary.trainings.push_back({training.result, training.outcome.complete});
    summary.conflicts += training.outcome.conflicts;
    if (training.outcome.failure == store::FailureKind::none) continue;
    ++summary.trainings_failed;
    summary.failures.insert(training.outcome.failure);
  }
}

/// Of a run without predictions.
RunSummary summary_of(const std::vector<TrainingState>& trainings, const SignalWatch& signals) {
  RunSummary summary;
  add_trainings(trainings, summary);
  summary.interrupted_by = signals.received();
  return summary;
}

}  // namespace

Result<RunSummary> run_plan(const plan::Plan& plan, store::Store& store, const RunOptions& options,
                            Progress& progress) {
  const auto watch = SignalWatch::start(options.on_signal);
  if (!watch) return watch.error();
  const SignalWatch& signals = **watch;
  HostLauncher launcher(options, plan.experiment.limits, log_folder(store.path()));
  Result<store::Reader> reader = store::Reader::open(store.path());
  if (!reader) return reader.error();
  DocumentCutter cutter(launcher);
  plan::Plan resolved = plan;  // in which trained files are named as they are made
  const RunContext context{resolved, store, *reader, launcher, signals, progress, cutter};

  Result<int64_t> abandoned = store.abandon_dead_attempts();
  if (!abandoned) return abandoned.error();
  if (*abandoned > 0) {
    progress.note("resuming: " +
                  counted(*abandoned, "earlier run of a cell was", "earlier runs of cells were") +
                  " killed");
  }
  const plan::Plan& whole = options.whole != nullptr ? *options.whole : plan;
  std::optional<store::SweepId> sweep;
  if (options.probe) {
    if (Status put = register_cells(whole, store); !put) return put.error();
  } else {
    Result<store::SweepId> registered = register_plan(whole, store);
    if (!registered) return registered.error();
    sweep = *registered;
  }
  Result<std::vector<TrainingState>> trainings = train_all(context, options);
  if (!trainings) return trainings.error();
  for (plan::Cell& cell : resolved.cells) {
    if (!cell.training) continue;
    const TrainingState& training = (*trainings)[*cell.training];
    if (training.usable) name_files(cell, training.files);
  }
  if (options.train_only) return summary_of(*trainings, signals);
  Result<std::vector<CellState>> states = survey(context, options);
  if (!states) return states.error();
  if (sweep) {
    if (Status used = use_results(resolved, whole, store, *sweep, *states); !used) {
      return used.error();
    }
  }
  Result<std::vector<std::string>> changes = source_changes(context, *states);
  if (!changes) return changes.error();
  for (const std::string& change : *changes) progress.note(change);
  const Result<WorkAhead> work = work_ahead(resolved, *states, *reader);
  if (!work) return work.error();
  progress.ahead(*work);
  Execution execution(context, options, *std::move(states));
  Result<RunSummary> summary = execution.run();
  if (sweep && execution.took_smaller_batches()) {
    const Status used = use_results(resolved, whole, store, *sweep, execution.states());
    if (!used && summary) return used.error();
  }
  if (summary) add_trainings(*trainings, *summary);
  return summary;
}

}  // namespace qfs::run

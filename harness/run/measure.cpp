#include "harness/core/failpoint.h"
#include "harness/run/cell_run.h"
#include "harness/run/energy.h"
#include "harness/run/memory_peaks.h"
#include "harness/store/work_rows.h"

namespace qfs::run {
namespace {

/// A device's counter is refreshed ten times a second at least: shorter times than this are a
/// guess.
constexpr int64_t kLeastDeviceNs = 5'000'000'000;

/// The repetition's rows: total and phases of each unit with their work, memory and energy.
struct RepetitionRows {
  std::vector<store::MeasurementRow> measurements;
  MemoryPeaks memory;
  int64_t ns = 0;
  std::optional<int64_t> processors = 0;  ///< microjoules

  void add(int64_t unit, const host::UnitResults& results, std::optional<int64_t> energy) {
    ns += results.done.ns;
    // Measuring the machine's limits takes energy of its own.
    const bool whole = processors && energy && !results.done.limits;
    processors = whole ? std::optional(*processors + *energy) : std::nullopt;
    measurements.push_back({0, unit, "total", results.done.ns, produced_tokens(results)});
    for (const host::PhaseReply& phase : results.phases) {
      measurements.push_back({0, unit, phase.name, phase.ns, phase.tokens});
      if (phase.work) store::add_work(unit, phase.name, *phase.work, measurements);
    }
    memory.add(results.done);
    if (results.done.limits) store::add_limits(*results.done.limits, measurements);
  }

  /// `before`, `after`: what the device had used then, in millijoules.
  void add_energy(std::optional<int64_t> before, std::optional<int64_t> after) {
    if (processors) measurements.push_back({0, 0, "energy.processors", ns, *processors});
    if (before && after && *after > *before && ns >= kLeastDeviceNs) {
      measurements.push_back({0, 0, "energy.device", ns, (*after - *before) * 1000});
    }
  }
};

bool goes_on(const RunContext& context) {
  return context.plan.experiment.measure->protocol == "fixed_n";
}

/// Timed outputs must be those of the quality pass, unless they go on behind their ends.
Result<size_t> differing_outputs(const RunContext& context, const CellTarget& target,
                                 const host::UnitResults& results) {
  if (!target.quality || goes_on(context)) return size_t{0};
  size_t differing = 0;
  for (const host::PredictionReply& reply : results.predictions) {
    auto stored = context.reader.output(*target.quality, reply.ordinal);
    if (!stored) return stored.error();
    if (*stored && (*stored)->prediction.text != reply.prediction.text) ++differing;
  }
  return differing;
}

/// Warm-up units, then the missing repetitions, until a failure or a signal.
Status run_repetitions(const RunContext& context, const CellTarget& target, HostPool& pool,
                       store::AttemptId attempt, CellOutcome& outcome) {
  const plan::Cell& cell = *target.cell;
  const plan::PlannedDataset& dataset = context.plan.datasets[cell.dataset];
  const MeasureSettings& settings = *context.plan.experiment.measure;
  const std::vector<Unit> units =
      cell.spec->units(cell.params, examples_of(context.plan, cell, dataset.measure_ordinals));

  const auto timed_unit = [&](size_t index, bool last, host::UnitResults& results) {
    auto request = run_request(context.plan, cell, static_cast<int64_t>(index),
                               units[index % units.size()], true);
    // Once, and last: its buffers are in nobody's peak.
    request.limits = last;
    auto failure = run_unit(context, cell, pool, request, results);
    if (failure) fail(outcome, *failure);
    return !failure.has_value();
  };

  EnergyCounter processors;
  host::UnitResults results;
  for (size_t i = 0; i < static_cast<size_t>(settings.warmup); ++i) {
    if (context.signals.received() != 0 || !timed_unit(i % units.size(), false, results)) return {};
  }
  for (int64_t repetition : target.repetitions) {
    RepetitionRows rows;
    // That of the unit before; the first repetition has one where there is a warm-up.
    const std::optional<int64_t> device_before = results.done.device.energy;
    processors.take();
    for (size_t i = 0; i < units.size(); ++i) {
      const bool last = i + 1 == units.size() && repetition == target.repetitions.back();
      if (context.signals.received() != 0 || !timed_unit(i, last, results)) return {};
      rows.add(static_cast<int64_t>(i), results, processors.take());
      context.progress.unit_done(results.predictions.size(), produced_tokens(results),
                                 results.done.ns,
                                 {.resident_bytes = results.done.peak_resident_bytes});
      Result<size_t> differing = differing_outputs(context, target, results);
      if (!differing) return differing.error();
      outcome.conflicts += *differing;
    }
    rows.add_energy(device_before, results.done.device.energy);
    QFS_FAILPOINT_HERE("run.before_repetition_commit");
    if (Status committed = context.store.commit_repetition(target.result, attempt, repetition,
                                                           rows.measurements, rows.memory.rows());
        !committed) {
      return committed;
    }
  }
  outcome.complete = true;
  return {};
}

}  // namespace

Result<CellOutcome> measure_cell(const RunContext& context, const CellTarget& target) {
  CellOutcome outcome;
  outcome.kind = store::ResultKind::measure;
  const plan::Cell& cell = *target.cell;
  context.progress.cell_started(cell, store::ResultKind::measure, target.repetitions.size());
  HostPool pool(context.launcher, HostReuse::none);
  RuntimeOptions runtime = context.launcher.runtime(cell);
  runtime.ignore_eos = goes_on(context);
  auto open_failure = pool.open(cell, runtime);
  if (const auto error = not_started(context, pool)) return *error;
  const auto attempt = begin_attempt(context, target.result, target.environment, pool.log_path());
  if (!attempt) return attempt.error();
  if (open_failure) {
    fail(outcome, *open_failure);
  } else if (Status ran = run_repetitions(context, target, pool, *attempt, outcome); !ran) {
    return ran.error();
  }
  if (const auto error = not_started(context, pool)) return *error;
  pool.discard();
  if (outcome.conflicts > 0) {
    const std::string text = cell.label + ": " + std::to_string(outcome.conflicts) +
                             " timed outputs differ from the quality pass";
    context.progress.note(text);
    if (Status logged = context.store.log_event(store::EventLevel::warning, text, *attempt);
        !logged) {
      return logged.error();
    }
  }
  if (Status ended = end_attempt(context.store, *attempt, outcome); !ended) return ended.error();
  return outcome;
}

}  // namespace qfs::run

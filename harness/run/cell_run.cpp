#include "harness/run/cell_run.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>

namespace qfs::run {

store::FailureKind failure_kind(host::Verdict verdict) {
  switch (verdict) {
    case host::Verdict::method_error:
      return store::FailureKind::method_error;
    case host::Verdict::data_error:
      return store::FailureKind::data_error;
    case host::Verdict::oom_device:
      return store::FailureKind::oom_device;
    case host::Verdict::oom_host:
      return store::FailureKind::oom_host;
    case host::Verdict::timeout:
      return store::FailureKind::timeout;
    case host::Verdict::signal:
      return store::FailureKind::signal;
  }
  return store::FailureKind::method_error;
}

std::optional<Error> not_started(const RunContext& context, const HostPool& pool) {
  return pool.not_started() ? pool.not_started() : context.cutter.not_started();
}

int64_t produced_tokens(const host::UnitResults& results) {
  int64_t tokens = 0;
  for (const host::PredictionReply& reply : results.predictions) {
    tokens += reply.prediction.tokens_out;
  }
  return tokens;
}

std::vector<NumberedExample> examples_of(const plan::Plan& plan, const plan::Cell& cell,
                                         const std::vector<int64_t>& ordinals) {
  const plan::PlannedDataset& dataset = plan.datasets[cell.dataset];
  std::vector<NumberedExample> examples = dataset.numbered(ordinals);
  if (cell.others.empty()) return examples;
  for (auto& [ordinal, example] : examples) {
    const Example& other = dataset.data->examples[static_cast<size_t>(cell.others.at(ordinal))];
    if (cell.documents == Documents::other_instruction) {
      example.other_query = other.query;
      continue;
    }
    if (cell.documents == Documents::other_memory) {
      example.other_document = other.document;
      continue;
    }
    example.document = other.document;
    example.evidence.clear();
  }
  return examples;
}

host::RunRequest run_request(const plan::Plan& plan, const plan::Cell& cell, int64_t unit_index,
                             const Unit& unit, bool measure) {
  return {unit_index, measure, examples_of(plan, cell, unit.ordinals)};
}

namespace {

/// run_unit with the documents cut on the way, and the ledger of the cut beside every prediction.
std::optional<host::HostFailure> run_cut_unit(const RunContext& context, const plan::Cell& cell,
                                              HostPool& pool, const host::RunRequest& request,
                                              host::UnitResults& results,
                                              const host::RowSink& on_row) {
  host::RunRequest cut = request;
  if (auto failure = context.cutter.cut(cell, cut)) return failure;
  host::RowSink with_ledger;
  if (on_row) {
    with_ledger = [&](const host::PredictionReply& row) {
      host::PredictionReply whole = row;
      context.cutter.add_ledger(whole);
      return on_row(whole);
    };
  }
  auto failure = run_unit(context, cell, pool, cut, results, with_ledger);
  for (host::PredictionReply& row : results.predictions) context.cutter.add_ledger(row);
  return failure;
}

}  // namespace

std::optional<host::HostFailure> run_unit(const RunContext& context, const plan::Cell& cell,
                                          HostPool& pool, const host::RunRequest& request,
                                          host::UnitResults& results, const host::RowSink& on_row) {
  if (DocumentCutter::cuts(cell) && request.token_ends.empty()) {
    return run_cut_unit(context, cell, pool, request, results, on_row);
  }
  const host::Visibility visibility{cell.needs.references, cell.needs.evidence};
  const std::chrono::seconds timeout(context.launcher.limits().unit_seconds);
  auto failure = pool.host().run(request, visibility, timeout, results, on_row);
  if (!failure || failure->verdict != host::Verdict::signal) return failure;
  context.progress.note(cell.label + ": " + failure->error.message +
                        "; trying the unit once more in a fresh host");
  if (auto reopened = pool.reopen(cell)) return reopened;
  if (!cell.needs.separate_rows) {
    return pool.host().run(request, visibility, timeout, results, on_row);
  }
  std::set<int64_t> arrived;
  for (const host::PredictionReply& row : results.predictions) arrived.insert(row.ordinal);
  host::RunRequest rest = request;
  std::erase_if(rest.examples,
                [&](const NumberedExample& example) { return arrived.contains(example.ordinal); });
  if (rest.examples.empty()) return std::nullopt;
  host::UnitResults others;
  failure = pool.host().run(rest, visibility, timeout, others, on_row);
  std::ranges::move(others.predictions, std::back_inserter(results.predictions));
  results.done = others.done;
  return failure;
}

Result<store::AttemptId> begin_attempt(const RunContext& context, store::ResultId result,
                                       const store::EnvironmentId& environment,
                                       const std::string& log_path) {
  store::AttemptOptions start{
      .result = result, .environment = environment, .worker = "driver", .log_path = ""};
  if (!log_path.empty()) {  // relative to the store's folder
    const std::filesystem::path folder = std::filesystem::path(context.store.path()).parent_path();
    start.log_path =
        std::filesystem::path(log_path).lexically_relative(folder.empty() ? "." : folder).string();
  }
  return context.store.begin_attempt(start);
}

void fail(CellOutcome& outcome, const host::HostFailure& failure) {
  outcome.failure = failure_kind(failure.verdict);
  outcome.message = failure.error.to_string();
}

namespace {

/// An attempt that ends where it begins.
Result<CellOutcome> record(const RunContext& context, const CellTarget& target,
                           CellOutcome outcome) {
  const auto attempt = begin_attempt(context, target.result, target.environment);
  if (!attempt) return attempt.error();
  if (Status ended = end_attempt(context.store, *attempt, outcome); !ended) return ended.error();
  return outcome;
}

}  // namespace

Result<CellOutcome> failed_cell(const RunContext& context, const CellTarget& target,
                                const host::HostFailure& failure) {
  CellOutcome outcome;
  fail(outcome, failure);
  return record(context, target, std::move(outcome));
}

Result<CellOutcome> implied_cell(const RunContext& context, const CellTarget& target,
                                 const std::string& why) {
  CellOutcome outcome;
  outcome.failure = store::FailureKind::implied_oom;
  outcome.message = "not run: " + why;
  return record(context, target, std::move(outcome));
}

Status end_attempt(store::Store& store, store::AttemptId attempt, const CellOutcome& outcome) {
  store::AttemptEnd end;
  if (outcome.failure != store::FailureKind::none) {
    end = {store::AttemptState::failed, outcome.failure, outcome.message};
  } else if (!outcome.complete) {
    end.state = store::AttemptState::cancelled;
    end.message = outcome.message;
  }
  return store.end_attempt(attempt, end);
}

}  // namespace qfs::run

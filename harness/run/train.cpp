#include "harness/run/train.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "harness/core/failpoint.h"
#include "harness/core/files.h"
#include "harness/core/sha256.h"
#include "harness/plan/select.h"
#include "harness/run/environment.h"
#include "harness/run/survey.h"

namespace qfs::run {
namespace {

namespace fs = std::filesystem;

/// Relative to the store's folder: "lc_sweep.sqlite" -> "lc_sweep.artifacts/CELL-NUMERICS".
std::string artifact_folder(const std::string& store_path, const CellId& cell,
                            const NumericsId& numerics) {
  const std::string folder = fs::path(store_path).filename().replace_extension(".artifacts");
  return folder + "/" + cell.short_hex() + "-" + numerics.short_hex();
}

std::string beside(const std::string& store_path, const std::string& location) {
  return (fs::path(store_path).parent_path() / location).string();
}

/// One training's way from opening the session to its committed files.
class TrainingRun {
 public:
  TrainingRun(const RunContext& context, const plan::Training& training, store::ResultId result,
              store::AttemptId attempt, std::string folder)
      : context_(context),
        training_(training),
        result_(result),
        attempt_(attempt),
        folder_(std::move(folder)) {}

  /// Trains; a host that a signal ends is replaced once and continues from its checkpoint.
  Status run(HostPool& pool, std::optional<int64_t> steps, CellOutcome& outcome) {
    const std::string path = beside(context_.store.path(), folder_);
    if (Status made = make_directories(path); !made) return made;
    const FitRequest request{path, training_.cell.id.hex(), steps};
    TrainingOutcome trained;
    auto failure = fit(pool, request, trained);
    if (failure && failure->verdict == host::Verdict::signal && stored_ && !stopped()) {
      context_.progress.note(training_.cell.label + ": " + failure->error.message +
                             "; continuing the training in a fresh host");
      failure = pool.reopen(training_.cell);
      if (!failure) failure = fit(pool, request, trained);
    }
    if (!stored_) return stored_;
    if (stopped()) return {};
    if (failure) {
      fail(outcome, *failure);
      return {};
    }
    if (trained.files.empty()) return {};  // FitRequest::steps ended it
    return commit(trained, outcome);
  }

 private:
  bool stopped() const { return context_.signals.received() != 0; }

  std::optional<host::HostFailure> fit(HostPool& pool, const FitRequest& request,
                                       TrainingOutcome& trained) {
    const plan::Cell& cell = training_.cell;
    const host::Visibility visibility{true, cell.needs.evidence || cell.needs.learns_evidence};
    const std::chrono::seconds open_limit(context_.launcher.limits().open_seconds);
    const auto learn = [&](size_t index, bool development) {
      const plan::PlannedDataset& data = context_.plan.training_data[index];
      return pool.host().learn(data.numbered(data.ordinals), development, visibility, open_limit);
    };
    if (auto failure = learn(cell.dataset, false)) return failure;
    if (training_.development) {
      if (auto failure = learn(*training_.development, true)) return failure;
    }
    const std::chrono::seconds limit(context_.launcher.limits().cell_seconds);
    return pool.host().fit(
        request, limit, [&](const TrainingPoint& point) { return add(point); }, trained);
  }

  Status add(const TrainingPoint& point) {
    context_.progress.trained(point);
    // At once: a step takes longer than a commit.
    stored_ = context_.store.put_training_points(result_, attempt_, std::span(&point, 1));
    if (!stored_) return stored_;
    if (stopped()) return unavailable("the training was stopped");
    return {};
  }

  /// The files are what the host says, and one a role.
  Status commit(const TrainingOutcome& trained, CellOutcome& outcome) {
    std::vector<std::string> missing = training_.cell.needs.artifacts;
    std::vector<store::ArtifactRow> rows;
    for (const TrainedFile& file : trained.files) {
      const std::string location = folder_ + "/" + file.name;
      const Result<std::string> digest = sha256_file(beside(context_.store.path(), location));
      if (!digest || *digest != file.sha256 || std::erase(missing, file.role) == 0) {
        outcome.failure = store::FailureKind::method_error;
        outcome.message = "the trained file '" + file.name + "' (" + file.role +
                          ") is not there, not what the host says or not asked for";
        return {};
      }
      rows.push_back({file.role, file.sha256, file.bytes, location});
    }
    if (!missing.empty()) {
      outcome.failure = store::FailureKind::method_error;
      outcome.message = "the training made no file for the role '" + missing.front() + "'";
      return {};
    }
    QFS_FAILPOINT_HERE("run.before_artifact_commit");
    auto committed = context_.store.commit_artifacts(result_, attempt_, rows, trained.cost);
    if (!committed) return committed.error();
    outcome.conflicts = committed->conflicting_roles.size();
    outcome.complete = true;
    return {};
  }

  const RunContext& context_;
  const plan::Training& training_;
  store::ResultId result_;
  store::AttemptId attempt_;
  std::string folder_;
  Status stored_;
};

Result<CellOutcome> train_cell(const RunContext& context, const plan::Training& training,
                               const ResultState& state, const std::string& folder,
                               std::optional<int64_t> steps) {
  CellOutcome outcome;
  outcome.kind = store::ResultKind::train;
  const plan::Cell& cell = training.cell;
  context.progress.cell_started(cell, store::ResultKind::train, 0);
  HostPool pool(context.launcher, HostReuse::none);
  auto open_failure = pool.open(cell, context.launcher.runtime(cell), host::SessionKind::training);
  if (const auto error = not_started(context, pool)) return *error;
  const auto attempt = begin_attempt(context, state.result, state.environment, pool.log_path());
  if (!attempt) return attempt.error();
  if (open_failure) {
    fail(outcome, *open_failure);
  } else {
    TrainingRun run(context, training, state.result, *attempt, folder);
    if (Status ran = run.run(pool, steps, outcome); !ran) return ran.error();
    if (const auto error = not_started(context, pool)) return *error;
  }
  pool.discard();
  if (Status ended = end_attempt(context.store, *attempt, outcome); !ended) return ended.error();
  return outcome;
}

/// What this store has of a training, or else the one that RunOptions::trained_in names: files that
/// are there before those that are gone.
Result<std::optional<StoredTraining>> recorded_training(const RunContext& context,
                                                        const RunOptions& options,
                                                        const plan::Cell& cell,
                                                        const NumericsId& numerics) {
  auto own = stored_training(context.reader, context.store.path(), cell, numerics,
                             options.accept_numerics);
  const std::string& other_path = options.trained_in;
  if (!own || (*own && (*own)->there) || other_path.empty() || !fs::exists(other_path)) return own;
  Result<store::Reader> reader = store::Reader::open(other_path);
  if (!reader) return reader.error();
  auto other = stored_training(*reader, other_path, cell, numerics, options.accept_numerics);
  if (!other) return other;
  if (!*other || (*own && !(*other)->there)) return own;
  (*other)->result.reset();
  return other;
}

/// Whether nothing is left to do with the files of a training: the store has all that cells which
/// predict with them give, and all trainings that begin with them.
Result<bool> nothing_waits(const RunContext& context, const RunOptions& options, size_t index,
                           const TrainedFiles& files) {
  if (options.train_only) return false;
  std::vector<size_t> rerun;
  if (options.rerun) {
    auto selected = plan::select_cells(*options.rerun, context.plan);
    if (!selected) return selected.error();
    rerun = *std::move(selected);
  }
  for (size_t i = 0; i < context.plan.cells.size(); ++i) {
    plan::Cell cell = context.plan.cells[i];
    if (cell.training != index) continue;
    if (std::ranges::count(rerun, i) > 0) return false;
    name_files(cell, files);
    Result<bool> done = is_done(context, options, cell);
    if (!done || !*done) return done;
  }
  for (size_t i = index + 1; i < context.plan.trainings.size(); ++i) {
    plan::Training next = context.plan.trainings[i];
    if (next.cell.training != index) continue;
    name_files(next.cell, files);
    const auto numerics = training_numerics(next, context.launcher);
    if (!numerics) return numerics.error();
    const auto recorded = recorded_training(context, options, next.cell, numerics->id);
    if (!recorded) return recorded.error();
    if (!*recorded) {
      const auto row =
          context.reader.find_result({next.cell.id, numerics->id, store::ResultKind::train});
      if (!row) return row.error();
      if (!*row || !nothing_left(**row, options)) return false;
    } else if (!(*recorded)->there) {
      Result<bool> done = nothing_waits(context, options, i, (*recorded)->files);
      if (!done || !*done) return done;
    }
  }
  return true;
}

void cannot_begin(const RunContext& context, const plan::Cell& cell) {
  const plan::Cell& first = context.plan.trainings[*cell.training].cell;
  context.progress.note("train#" + cell.id.short_hex() + " " + cell.label +
                        ": not trained: train#" + first.id.short_hex() + " " + first.label +
                        ", which it begins with, is not complete, or its files are not those that "
                        "the store recorded");
}

/// What is known of a training, or else what training gives. `training`: the plan's, in which the
/// files that it begins with are named; without `may_begin` it is not trained.
Result<TrainingState> train_or_recall(const RunContext& context, const RunOptions& options,
                                      size_t index, const plan::Training& training,
                                      bool may_begin) {
  const plan::Cell& cell = training.cell;
  Result<plan::NumericsIdentity> numerics = training_numerics(training, context.launcher);
  if (!numerics) return numerics.error();
  auto known = result_state(context, options, cell, store::ResultKind::train, *numerics,
                            {.roles = cell.needs.artifacts});
  if (!known) return known.error();
  TrainingState state{.result = known->result, .outcome = {}, .files = {}};
  state.outcome.kind = store::ResultKind::train;
  auto recorded = recorded_training(context, options, cell, numerics->id);
  if (!recorded) return recorded.error();
  if (*recorded && !(*recorded)->there) {
    const Result<bool> done = nothing_waits(context, options, index, (*recorded)->files);
    if (!done) return done.error();
    if (!*done) recorded->reset();
  }
  if (*recorded) {
    if (const auto& result = (*recorded)->result) state.result = *result;
    state.files = std::move((*recorded)->files);
    state.usable = true;
    state.outcome.reused = state.outcome.complete = true;
  } else if (known->remembered_failure) {
    state.outcome.remembered = true;
    state.outcome.failure = known->remembered_failure->failure;
    state.outcome.message = known->remembered_failure->message;
  } else if (context.signals.received() != 0) {
    return state;  // it never began
  } else if (!may_begin) {
    cannot_begin(context, cell);
    return state;
  } else {
    const std::string& store_path = context.store.path();
    const std::string folder = artifact_folder(store_path, cell.id, numerics->id);
    auto outcome = train_cell(context, training, *known, folder, options.train_steps);
    if (!outcome) return outcome.error();
    state.outcome = *std::move(outcome);
    if (state.outcome.complete) {
      auto made = stored_training(context.reader, store_path, cell, numerics->id, false);
      if (!made) return made.error();
      if (*made) {
        state.usable = (*made)->there;
        state.files = std::move((*made)->files);
      }
    }
  }
  context.progress.cell_ended(cell, state.outcome);
  return state;
}

}  // namespace

void name_files(plan::Cell& cell, const TrainedFiles& files) {
  for (const auto& [role, file] : files) {
    if (cell.origins.contains(role)) cell.artifacts[role] = file;
  }
}

Result<plan::NumericsIdentity> training_numerics(const plan::Training& training,
                                                 HostLauncher& launcher) {
  Result<HostFacts> facts = launcher.facts(training.cell);
  if (!facts) return facts.error();
  return plan::numerics_identity(training.cell, facts->numerics, launcher.runtime(training.cell),
                                 Stage::train);
}

Result<std::optional<StoredTraining>> stored_training(store::Reader& reader,
                                                      const std::string& store_path,
                                                      const plan::Cell& cell,
                                                      const NumericsId& numerics, bool any_way) {
  auto results = reader.results(cell.id);
  if (!results) return results.error();
  std::optional<StoredTraining> found;
  for (const store::ResultRow& row : *results) {
    const bool asked = any_way || row.key.numerics == numerics;
    if (row.key.kind != store::ResultKind::train || !asked ||
        row.status != store::Completeness::complete) {
      continue;
    }
    auto artifacts = reader.artifacts(row.id);
    if (!artifacts) return artifacts.error();
    StoredTraining training{row.id, {}, true};
    for (const store::ArtifactRow& artifact : *artifacts) {
      const std::string path = beside(store_path, artifact.location);
      const Result<std::string> digest = sha256_file(path);
      training.there = training.there && digest && *digest == artifact.sha256;
      training.files[artifact.role] = {fs::path(path).filename().string(), path, artifact.sha256};
    }
    const bool own = row.key.numerics == numerics;
    const bool better =
        !found || training.there > found->there || (training.there == found->there && own);
    if (better) found = std::move(training);
  }
  return found;
}

bool is_begun(const std::string& store_path, const plan::Cell& cell, const NumericsId& numerics) {
  const fs::path folder = beside(store_path, artifact_folder(store_path, cell.id, numerics));
  std::error_code ignored;
  return fs::is_directory(folder, ignored) && !fs::is_empty(folder, ignored);
}

Result<std::vector<TrainingState>> train_all(const RunContext& context, const RunOptions& options) {
  std::vector<TrainingState> states;
  for (size_t i = 0; i < context.plan.trainings.size(); ++i) {
    plan::Training training = context.plan.trainings[i];
    bool may_begin = true;
    if (const std::optional<size_t>& index = training.cell.training) {
      const TrainingState& first = states[*index];
      if (!first.outcome.complete) {
        if (context.signals.received() == 0) cannot_begin(context, training.cell);
        states.emplace_back();
        continue;
      }
      name_files(training.cell, first.files);
      may_begin = first.usable;
    }
    auto state = train_or_recall(context, options, i, training, may_begin);
    if (!state) return state.error();
    states.push_back(*std::move(state));
  }
  return states;
}

}  // namespace qfs::run

#include "methods/models/training/trainer.h"

#include <c10/core/GradMode.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "harness/core/child_process.h"
#include "harness/core/clock.h"
#include "harness/core/failpoint.h"
#include "harness/core/files.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/training/checkpoint.h"

namespace qfs::training {

namespace {

Error not_a_number(const char* what, int64_t step) {
  return internal_error(std::string("the ") + what + " of training step " + std::to_string(step) +
                        " is not a finite number");
}

/// So many times what writing a checkpoint takes lies between those that time asks for.
constexpr int64_t kLeastPerWriting = 20;

class Trainer {
 public:
  Trainer(const Recipe& recipe, const TrainingTask& task, const TrainingRun& run,
          TrainedTensors& trained, TrainingProgress& progress)
      : recipe_(recipe), task_(task), run_(run), trained_(trained), progress_(progress) {}

  Result<TrainedModel> train() {
    if (task_.items.empty()) return data_error("there are no examples to train with");
    if (Status begun = begin(); !begun.ok()) return begun.error();
    int64_t left = run_.steps.value_or(recipe_.steps);
    while (!done() && left > 0) {
      if (Status status = step(); !status.ok()) return status.error();
      // Before the point is told: who stops the training then does not stop the writing.
      if (--left == 0 || done() || checkpoint_due()) {
        if (Status written = write(); !written.ok()) return written.error();
      }
      if (Status told = progress_.point(at_.state.curve.back()); !told.ok()) return told.error();
    }
    return TrainedModel{done(), at_.best, at_.state.cost};
  }

 private:
  bool ends_by_halving() const {
    return at_.state.halvings >= kHalvings && ends_epoch(recipe_, examples(), at_.state.step);
  }
  int64_t examples() const { return static_cast<int64_t>(task_.items.size()); }
  bool done() const { return at_.state.ended || at_.state.step >= recipe_.steps; }

  bool checkpoint_due() const {
    if (at_.state.step % recipe_.checkpoint_every == 0) return true;
    const int64_t since = monotonic_ns() - written_ns_;
    return since >= run_.checkpoint_after_ns && since >= kLeastPerWriting * writing_ns_;
  }

  Status begin() {
    remove_unfinished(run_.folder);
    auto found = read_checkpoint(run_.folder, run_.identity, trained_);
    if (!found.ok()) return found.error();
    if (*found) {
      at_ = **std::move(found);
      for (TrainingPoint& point : at_.state.curve) {
        point.steps = recipe_.steps;
        if (Status told = progress_.point(point); !told.ok()) return told;
      }
      return {};
    }
    at_.state.identity = run_.identity;
    at_.state.cost.trainable_parameters = trained_.count();
    at_.best = trained_.values().clone();
    return {};
  }

  Status step() {
    const int64_t begin_ns = monotonic_ns();
    TrainingState& state = at_.state;
    const std::vector<int64_t> batch = batch_of(recipe_, examples(), state.step);
    TrainingPoint point{.step = state.step + 1, .steps = recipe_.steps};
    if (Status moved = move(batch, point); !moved.ok()) return moved;
    ++state.step;
    ++state.cost.steps;
    point.values["tokens"] = static_cast<double>(state.cost.tokens);
    if (Status evaluated = evaluate(point); !evaluated.ok()) return evaluated;
    state.ended = state.ended || ends_by_halving();
    state.cost.seconds += static_cast<double>(monotonic_ns() - begin_ns) / 1e9;
    state.cost.peak_bytes = std::max(state.cost.peak_bytes, process_memory(getpid()).peak_bytes);
    state.curve.push_back(point);
    QFS_FAILPOINT_HERE("training.step");
    return {};
  }

  /// Gradients of a batch and the optimizer's step along them.
  Status move(const std::vector<int64_t>& batch, TrainingPoint& point) {
    std::vector<int64_t> tokens;
    int64_t labels = 0;
    for (const int64_t item : batch) {
      const TrainingItem& one = task_.items[static_cast<size_t>(item)];
      tokens.push_back(one.tokens);
      labels += one.labels;
      at_.state.cost.tokens += one.tokens;
      at_.state.cost.flops += one.flops;
    }
    trained_.zero_gradients();
    double sum = 0;
    for (const std::vector<size_t>& part : micro_batches(tokens, recipe_.micro_tokens)) {
      std::vector<int64_t> items;
      for (const size_t i : part) items.push_back(batch[i]);
      const c10::AutoGradMode with_gradients(true);
      const auto loss = task_.backward(items, 1 / static_cast<double>(labels), at_.state.step);
      if (!loss.ok()) return loss.error();
      sum += loss->loss;
      at_.state.cost.tokens += loss->tokens;
      at_.state.cost.flops += loss->flops;
    }
    const double loss = sum / static_cast<double>(labels);
    if (!std::isfinite(loss)) return not_a_number("loss", point.step);
    const double norm = trained_.gradient_norm();
    if (!std::isfinite(norm)) return not_a_number("gradient", point.step);
    // As torch.nn.utils.clip_grad_norm_.
    const double scale =
        recipe_.clip_norm ? std::min(1.0, *recipe_.clip_norm / (norm + 1e-6)) : 1.0;
    Recipe now = recipe_;
    now.learning_rate = std::ldexp(recipe_.learning_rate, -static_cast<int>(at_.state.halvings));
    trained_.step(now, at_.state.step, scale, task_.took_part);
    point.values["loss"] = loss;
    point.values["gradient_norm"] = norm;
    if (task_.observed) point.values.merge(task_.observed());
    point.values["learning_rate"] = learning_rate_at(now, at_.state.step);
    return {};
  }

  Status evaluate(TrainingPoint& point) {
    TrainingState& state = at_.state;
    const bool last = state.step >= recipe_.steps || ends_by_halving();
    if (!task_.development || recipe_.evaluate_every == 0) {
      if (last) at_.best = trained_.values().clone();
      return {};
    }
    if (!last && state.step % recipe_.evaluate_every != 0) return {};
    const auto sum = task_.development();
    if (!sum.ok()) return sum.error();
    const double loss = sum->loss / static_cast<double>(sum->labels);
    if (!std::isfinite(loss)) return not_a_number("development loss", state.step);
    point.values["development.loss"] = loss;
    double chooses = loss;
    if (task_.score.of) {
      const auto score = task_.score.of();
      if (!score.ok()) return score.error();
      point.values["development." + task_.score.name] = *score;
      chooses = -*score;
    }
    if (!state.best_loss || chooses < *state.best_loss) {
      state.best_loss = chooses;
      state.since_best = 0;
      at_.best = trained_.values().clone();
    } else {
      ++state.since_best;
      state.ended = recipe_.patience > 0 && state.since_best >= recipe_.patience;
      if (recipe_.halve_after > 0 && state.since_best >= recipe_.halve_after) {
        ++state.halvings;
        state.since_best = 0;
      }
    }
    return {};
  }

  Status write() {
    QFS_FAILPOINT_HERE("training.before_checkpoint");
    const int64_t begin_ns = monotonic_ns();
    Status written = write_checkpoint(run_.folder, at_, trained_);
    QFS_FAILPOINT_HERE("training.after_checkpoint");
    written_ns_ = monotonic_ns();
    writing_ns_ = written_ns_ - begin_ns;
    return written;
  }

  const Recipe& recipe_;
  const TrainingTask& task_;
  const TrainingRun& run_;
  TrainedTensors& trained_;
  TrainingProgress& progress_;
  TrainingCheckpoint at_;
  int64_t written_ns_ = monotonic_ns();
  int64_t writing_ns_ = 0;  ///< what it took
};

}  // namespace

Result<TrainedModel> train(const Recipe& recipe, const TrainingTask& task, const TrainingRun& run,
                           TrainedTensors& trained, TrainingProgress& progress) {
  return nn::guarded("training", [&]() -> Result<TrainedModel> {
    const c10::AutoGradMode without_gradients(false);
    return Trainer(recipe, task, run, trained, progress).train();
  });
}

}  // namespace qfs::training

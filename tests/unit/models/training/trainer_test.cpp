// The training loop on a parabola: the optimizer, clipping, choice of the best, early end, errors.
#include "methods/models/training/trainer.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "harness/core/files.h"
#include "tests/support/temporary_folder.h"

namespace qfs::training {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Silent final : TrainingProgress {
  Status point(const TrainingPoint& point) override {
    last = point;
    if (each) each(point);
    if (point.step == failing_at) return unavailable("the driver is gone");
    return {};
  }
  TrainingPoint last;
  int64_t failing_at = 0;
  std::function<void(const TrainingPoint& point)> each;
};

class TrainerTest : public ::testing::Test {
 protected:
  TrainerTest() {
    recipe_.steps = 4;
    recipe_.batch_size = 1;
    recipe_.schedule = Schedule::constant;
    recipe_.learning_rate = 0.1;
    task_.items = {{.tokens = 5, .labels = 2, .flops = 7}};
    task_.backward = [this](std::span<const int64_t>, double scale, int64_t) -> Result<LossSum> {
      const at::Tensor x = trained_.tensors().at("x");
      const at::Tensor loss = (x * x).sum();  // gradient 2 x
      (loss * scale).backward();
      return LossSum{loss.item<double>(), 2};
    };
  }
  Result<TrainedModel> train() {
    return training::train(recipe_, task_, {folder_.path(), "id", {}}, trained_, progress_);
  }

  qfs::test::TemporaryFolder folder_;
  Recipe recipe_;
  TrainedTensors trained_ = TrainedTensors({{"x", at::tensor({3.0F, -4.0F}).view({1, 2})}});
  TrainingTask task_;
  Silent progress_;
  std::vector<double> rates_;
};

TEST_F(TrainerTest, steps_are_those_of_adamw) {
  recipe_.weight_decay = 0.1;
  const auto model = train();
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  // torch.optim.AdamW, learning rate 0.1, decay 0.1, gradients x: by the update rule in doubles.
  for (const auto& [begin, index] : {std::pair(3.0, 0), std::pair(-4.0, 1)}) {
    double x = begin;
    double first = 0;
    double second = 0;
    for (int step = 1; step <= 4; ++step) {
      const double gradient = x;
      x *= 1 - 0.1 * 0.1;
      first = 0.9 * first + 0.1 * gradient;
      second = 0.999 * second + 0.001 * gradient * gradient;
      x -= 0.1 * (first / (1 - std::pow(0.9, step))) /
           (std::sqrt(second / (1 - std::pow(0.999, step))) + 1e-8);
    }
    EXPECT_NEAR(model->best[index].item<double>(), x, 1e-5);
  }
  EXPECT_TRUE(model->finished);
  EXPECT_EQ(model->cost.tokens, 20);
  EXPECT_EQ(model->cost.flops, 28);
  EXPECT_EQ(model->cost.trainable_parameters, 2);
}

TEST_F(TrainerTest, a_long_time_without_a_checkpoint_ends_with_one) {
  const auto steps_begun = [this](int64_t checkpoint_after_ns) {
    const qfs::test::TemporaryFolder folder;
    int64_t begun = 0;
    for (const int64_t killed_behind : {3, 4}) {
      progress_.failing_at = killed_behind;
      task_.observed = [&begun] {
        ++begun;
        std::this_thread::sleep_for(std::chrono::milliseconds(begun == 2 ? 2000 : 0));
        return std::map<std::string, double>();
      };
      const TrainingRun run{folder.path(), "id", {}, checkpoint_after_ns};
      EXPECT_FALSE(training::train(recipe_, task_, run, trained_, progress_).ok());
    }
    return begun;
  };
  EXPECT_EQ(steps_begun(0), 3 + 2);  // the third step's was not written yet
  EXPECT_EQ(steps_begun(TrainingRun().checkpoint_after_ns), 3 + 4);
}

TEST_F(TrainerTest, who_stops_it_at_a_step_finds_the_checkpoint_of_that_step) {
  recipe_.checkpoint_every = 1;
  int64_t begun = 0;
  task_.observed = [&begun] {
    ++begun;
    return std::map<std::string, double>();
  };
  progress_.failing_at = 3;
  EXPECT_FALSE(train().ok());
  folder_.write(".qfs-tmp-0123456789abcdef", "half of a checkpoint");
  progress_.failing_at = 0;
  EXPECT_TRUE(train().ok());
  EXPECT_EQ(begun, 3 + 1);
  EXPECT_FALSE(std::filesystem::exists(folder_ / ".qfs-tmp-0123456789abcdef"));
}

TEST_F(TrainerTest, vectors_do_not_decay) {
  TrainedTensors trained(
      {{"matrix", at::tensor({2.0F}).view({1, 1})}, {"vector", at::tensor({2.0F})}});
  recipe_.weight_decay = 0.5;
  trained.step(recipe_, 0, 1);
  EXPECT_FLOAT_EQ(trained.tensors().at("matrix").item<float>(), 2 * (1 - 0.1F * 0.5F));
  EXPECT_FLOAT_EQ(trained.tensors().at("vector").item<float>(), 2);
}

TEST_F(TrainerTest, gradients_are_clipped_together) {
  recipe_.steps = 1;
  recipe_.clip_norm = 1;
  recipe_.epsilon = 1;  // so that a step shows how long the gradient was
  const auto model = train();
  ASSERT_TRUE(model.ok());
  EXPECT_DOUBLE_EQ(progress_.last.values.at("gradient_norm"), 5);
  EXPECT_NEAR(model->best[0].item<double>(), 3 - 0.1 * 0.6 / 1.6, 1e-5);
  EXPECT_NEAR(model->best[1].item<double>(), -4 + 0.1 * 0.8 / 1.8, 1e-5);
}

TEST_F(TrainerTest, the_least_development_loss_chooses_and_patience_ends) {
  recipe_.steps = 10;
  recipe_.evaluate_every = 1;
  recipe_.patience = 2;
  std::vector<double> losses = {5, 3, 4, 3.5, 1};
  size_t next = 0;
  std::vector<at::Tensor> values;
  task_.development = [&]() -> Result<LossSum> {
    values.push_back(trained_.values().clone());
    return LossSum{losses[next++] * 6, 6};
  };
  const auto model = train();
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  EXPECT_TRUE(model->finished);
  EXPECT_EQ(model->cost.steps, 4);
  EXPECT_TRUE(at::equal(model->best, values[1]));
  EXPECT_DOUBLE_EQ(progress_.last.values.at("development.loss"), 3.5);
}

TEST_F(TrainerTest, evaluations_without_a_better_one_halve_the_rate_until_an_epoch_ends) {
  recipe_.steps = 40;
  recipe_.evaluate_every = 1;
  recipe_.halve_after = 2;
  for (int i = 0; i < 4; ++i) task_.items.push_back(task_.items.front());  // five steps an epoch
  // Better in steps 1, 4 and 9: halved after steps 3, 6, 8 and, if it were not over, more.
  const std::vector<double> losses = {5, 6, 6, 4, 4, 4, 9, 9, 3, 3};
  const auto run = [&](std::optional<int64_t> most) {
    task_.development = [&]() -> Result<LossSum> {
      return LossSum{losses.at(rates_.size()) * 6, 6};
    };
    return training::train(recipe_, task_, {folder_.path(), "id", most}, trained_, progress_);
  };
  progress_.each = [this](const TrainingPoint& point) {
    if (point.step > static_cast<int64_t>(rates_.size())) {
      rates_.push_back(point.values.at("learning_rate"));
    }
  };
  ASSERT_TRUE(run(4).ok());
  const auto model = run({});  // from its checkpoint
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  EXPECT_TRUE(model->finished);
  EXPECT_EQ(model->cost.steps, 10);  // the epoch of the third halving
  EXPECT_THAT(rates_, ElementsAre(0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.025, 0.025, 0.0125, 0.0125));
}

TEST_F(TrainerTest, the_end_of_the_epoch_of_the_last_halving_is_evaluated) {
  recipe_.steps = 40;
  recipe_.evaluate_every = 7;
  recipe_.halve_after = 1;
  for (int i = 0; i < 4; ++i) task_.items.push_back(task_.items.front());  // five steps an epoch
  int64_t evaluations = 0;
  task_.development = [&]() -> Result<LossSum> {
    return LossSum{static_cast<double>(++evaluations), 1};  // worse and worse
  };
  const auto model = train();
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  EXPECT_EQ(model->cost.steps, 30);  // halved after 14, 21 and 28
  EXPECT_EQ(evaluations, 5);
}

TEST_F(TrainerTest, counts_of_steps_go_on_with_a_checkpoint) {
  recipe_.steps = 6;
  recipe_.weight_decay = 0.1;
  const auto trained_in = [&](const std::string& folder, const std::vector<int64_t>& calls) {
    std::optional<TrainedTensors> trained;
    TrainingTask task = task_;
    int64_t at = 0;
    task.backward = [&](std::span<const int64_t>, double scale, int64_t step) -> Result<LossSum> {
      at = step;
      at::Tensor loss = trained->tensors().at("x").square().sum();
      if (step >= 2) loss = loss + (trained->tensors().at("y") - 7).square().sum();
      (loss * scale).backward();
      return LossSum{loss.item<double>(), 2};
    };
    task.took_part = [&](const std::string& name) { return name == "x" || at >= 2; };
    EXPECT_TRUE(make_directories(folder_ / folder).ok());
    at::Tensor best;
    for (const int64_t steps : calls) {
      trained.emplace(
          NamedTensors{{"x", at::tensor({3.0F, -4.0F})}, {"y", at::full({1, 3}, 1.0F)}});
      const auto model =
          training::train(recipe_, task, {folder_ / folder, "id", steps}, *trained, progress_);
      EXPECT_TRUE(model.ok()) << model.error().to_string();
      EXPECT_EQ(trained->steps_passed().at("y"), 2);
      best = model->best;
    }
    return best;
  };
  const at::Tensor whole = trained_in("whole", {6});
  EXPECT_TRUE(at::equal(trained_in("parts", {3, 1, 2}), whole));
  // Its first step is as long as a first one, after a decay of none that it had no part in.
  EXPECT_GT(whole[2].item<double>(), 1);
}

TEST_F(TrainerTest, a_score_chooses_where_there_is_one) {
  recipe_.evaluate_every = 1;
  const std::vector<double> scores = {0.2, 0.4, 0.3, 0.1};
  std::vector<at::Tensor> values;
  task_.development = [&]() -> Result<LossSum> {
    values.push_back(trained_.values().clone());
    return LossSum{1.0 / static_cast<double>(values.size()), 1};
  };
  task_.score = {"rouge1", [&]() -> Result<double> { return scores[values.size() - 1]; }};
  const auto model = train();
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  EXPECT_TRUE(at::equal(model->best, values[1]));
  EXPECT_DOUBLE_EQ(progress_.last.values.at("development.rouge1"), 0.1);
  EXPECT_DOUBLE_EQ(progress_.last.values.at("development.loss"), 0.25);
}

TEST_F(TrainerTest, a_loss_that_is_no_number_is_an_error_with_its_step) {
  int calls = 0;
  task_.backward = [&](std::span<const int64_t>, double, int64_t) -> Result<LossSum> {
    return LossSum{++calls == 3 ? std::numeric_limits<double>::quiet_NaN() : 1.0, 2};
  };
  const auto model = train();
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().message, "the loss of training step 3 is not a finite number");
}

TEST_F(TrainerTest, the_task_knows_the_step_and_adds_to_the_curve) {
  std::vector<int64_t> steps;
  const auto backward = task_.backward;
  task_.backward = [&](std::span<const int64_t> items, double scale, int64_t step) {
    steps.push_back(step);
    return backward(items, scale, step);
  };
  task_.observed = [&] {
    return std::map<std::string, double>{{"seen", 2.0 * static_cast<double>(steps.back())}};
  };
  ASSERT_TRUE(train().ok());
  EXPECT_EQ(steps, (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_DOUBLE_EQ(progress_.last.values.at("seen"), 6);
}

TEST_F(TrainerTest, a_checkpoint_of_another_training_is_refused) {
  ASSERT_TRUE(train().ok());
  const auto other =
      training::train(recipe_, task_, {folder_.path(), "other", {}}, trained_, progress_);
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.error().to_string(), HasSubstr("checkpoint of another training"));
  folder_.write("checkpoint.safetensors", "no");
  EXPECT_THAT(train().error().to_string(), HasSubstr("checkpoint.safetensors"));
}

}  // namespace
}  // namespace qfs::training

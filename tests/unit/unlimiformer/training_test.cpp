// Trainings of unlimiformer on a tiny BART: the modes, what is trained, what chooses, what a kill
// changes, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "methods/lora/session.h"
#include "methods/models/registry/artifacts.h"
#include "methods/models/registry/registry.h"
#include "methods/unlimiformer/session.h"
#include "methods/unlimiformer/spec.h"
#include "metrics/rouge/rouge_scorer.h"
#include "tests/support/tiny_seq2seq.h"
#include "tests/support/trained_session.h"

namespace qfs::unlimiformer {
namespace {

using ::qfs::test::Curve;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::array<const char*, 3> kModes = {"random_encoded", "retrieval", "alternating"};

const MethodSpec& trained_spec() {
  static const UnlimiformerSpec spec;
  return spec;
}

class UnlimiformerTrainingTest : public qfs::test::TrainedSessionTest {
 protected:
  UnlimiformerTrainingTest() : TrainedSessionTest(trained_spec(), session_factory()) {
    request_.backbone =
        *registry::resolve_backbone(qfs::test::TinySeq2Seq{.positions = 40}.write(model_));
    request_.params.set("adapter", std::string("lora"));
    request_.params.set("max_new_tokens", int64_t{12});
    request_.params.set("train_tokens", int64_t{150});
    request_.params.set("retrieved", int64_t{16});
    request_.params.set("evaluate_every", int64_t{2});
  }

  void in_mode(const char* mode) { request_.params.set("mode", std::string(mode)); }

  /// What the planner gives a training.
  static Params of_training(const Params& params) {
    Params kept;
    for (const ParamSpec& param : trained_spec().params()) {
      const auto value = params.values().find(param.name);
      const bool own =
          param.stage != Stage::predict && trained_spec().trains_with(params, param.name);
      if (own && value != params.values().end()) kept.set(param.name, value->second);
    }
    return kept;
  }

  Curve trained(const std::string& name) {
    Curve curve;
    const auto outcome = fit(name, curve);
    EXPECT_TRUE(outcome.ok()) << outcome.error().to_string();
    outcome_ = outcome.ok() ? *outcome : TrainingOutcome();
    return curve;
  }

  static std::vector<double> values(const Curve& curve, const std::string& name) {
    std::vector<double> found;
    for (const TrainingPoint& point : curve.points) {
      if (point.values.contains(name)) found.push_back(point.values.at(name));
    }
    return found;
  }

  qfs::test::TemporaryFolder model_;
  TrainingOutcome outcome_;
};

/// GoogleTest runs suites of this name before others, while this process has passed no failpoint.
using UnlimiformerTrainingDeathTest = UnlimiformerTrainingTest;

TEST_F(UnlimiformerTrainingDeathTest, a_kill_anywhere_is_continued_to_the_same_bytes) {
  request_.params.set("steps", int64_t{6});
  request_.params.set("checkpoint_every", int64_t{1});
  in_mode("alternating");
  expect_kills_change_nothing({"training.step:2", "training.after_checkpoint:1"},
                              "adapter_model.safetensors");
}

TEST_F(UnlimiformerTrainingTest, every_mode_learns) {
  request_.params.set("steps", int64_t{24});
  for (const char* mode : kModes) {
    SCOPED_TRACE(mode);
    in_mode(mode);
    const Curve curve = trained(mode);
    const std::vector<double> development = values(curve, "development.loss");
    ASSERT_EQ(development.size(), 12U);
    EXPECT_LT(development.back(), development.front() * 0.9);
    EXPECT_GT(outcome_.cost.flops, 0);
    EXPECT_EQ(values(trained(std::string(mode) + " again"), "development.loss"), development);
  }
}

TEST_F(UnlimiformerTrainingTest, all_weights_learn_too_and_are_a_backbone) {
  request_.params.set("trained", std::string("weights"));
  request_.params.set("learning_rate", 0.005);
  request_.params.set("steps", int64_t{60});
  in_mode("retrieval");
  const Curve curve = trained("a");
  EXPECT_LT(curve.last("development.loss"), curve.first("loss") / 2);
  const auto facts = registry::resolve_artifact(folder_ / "a");
  ASSERT_TRUE(facts.ok()) << facts.error().to_string();
  EXPECT_EQ(facts->method, "unlimiformer");
  request_.artifacts["adapter"] = facts->file;
  const std::vector<Prediction> written = predictions({example(12)});
  ASSERT_EQ(written.size(), 1U);
  EXPECT_THAT(written[0].text, HasSubstr("abc"));
  EXPECT_THAT(written[0].extra.text, HasSubstr("\"source_windows\":"));

  request_.artifacts.clear();
  request_.params.set("adapter", std::string("none"));
  request_.params.set("trained", std::string("lora"));
  in_mode("test_time");
  request_.backbone = *registry::resolve_backbone(folder_ / "a");
  EXPECT_EQ(outputs({example(12)}), std::vector<std::string>{written[0].text});
}

TEST_F(UnlimiformerTrainingTest, on_beginnings_it_is_a_training_of_lora) {
  const Curve own = trained("own");
  sessions_ = lora::session_factory();
  const Curve plain = trained("plain");
  EXPECT_EQ(own.points, plain.points);
  sessions_ = session_factory();
  for (const char* mode : kModes) {
    in_mode(mode);
    EXPECT_NE(values(trained(mode), "loss"), values(plain, "loss")) << mode;
  }
}

TEST_F(UnlimiformerTrainingTest, sources_that_fit_are_read_as_ever_in_all_modes) {
  request_.params.set("train_tokens", int64_t{40});
  request_.params.set("retrieved", int64_t{40});
  const Curve plain = trained("plain");
  for (const char* mode : kModes) {
    in_mode(mode);
    EXPECT_EQ(trained(mode).points, plain.points) << mode;
  }
}

TEST_F(UnlimiformerTrainingTest, a_development_loss_has_the_same_draws_each_time) {
  in_mode("random_encoded");
  request_.params.set("learning_rate", 0.0);
  request_.params.set("train_batch", int64_t{10});
  request_.params.set("steps", int64_t{4});
  const Curve curve = trained("a");
  const std::vector<double> development = values(curve, "development.loss");
  ASSERT_EQ(development.size(), 2U);
  EXPECT_EQ(development[0], development[1]);
  const std::vector<double> learnt = values(curve, "loss");
  EXPECT_GT(std::abs(learnt[0] - learnt[1]), 1e-4) << "all examples, of other states";
}

TEST_F(UnlimiformerTrainingTest, steps_take_turns) {
  request_.params.set("learning_rate", 0.0);
  request_.params.set("steps", int64_t{4});
  std::map<std::string, std::vector<double>> losses;
  for (const char* mode : kModes) {
    in_mode(mode);
    losses[mode] = values(trained(mode), "loss");
  }
  const auto& alternating = losses["alternating"];
  for (const size_t step : {0, 1, 2, 3}) {
    const char* const turn = step % 2 == 0 ? "retrieval" : "random_encoded";
    EXPECT_EQ(alternating[step], losses[turn][step]) << step;
    EXPECT_NE(losses["retrieval"][step], losses["random_encoded"][step]) << step;
  }
}

TEST_F(UnlimiformerTrainingTest, layers_that_are_computed_again_learn_the_same) {
  for (const char* mode : kModes) {
    SCOPED_TRACE(mode);
    in_mode(mode);
    const Curve kept = trained(std::string(mode) + " kept");
    request_.params.set("recompute", true);
    const Curve again = trained(std::string(mode) + " again");
    request_.params.set("recompute", false);
    EXPECT_NEAR(again.last("development.loss"), kept.last("development.loss"), 1e-3);
  }
}

TEST_F(UnlimiformerTrainingTest, what_it_writes_with_retrieval_may_choose) {
  request_.params.set("select_by", std::string("rouge1"));
  request_.params.set("select_tokens", int64_t{130});
  request_.params.set("train_tokens", int64_t{40});
  request_.params.set("steps", int64_t{60});
  request_.params.set("evaluate_every", int64_t{4});
  request_.params.set("learning_rate", 0.05);
  for (NumberedExample& one : data_.train) one.example.references = {"abc abc"};
  for (NumberedExample& one : data_.development) one.example.references = {"nothing", "abc abc"};
  const Params written = request_.params;
  request_.params = of_training(written);
  const std::vector<double> scores = values(trained("a"), "development.rouge1");
  ASSERT_EQ(scores.size(), 15U);
  const double best = std::ranges::max(scores);
  EXPECT_GT(best, 0) << "nothing is learned";

  // The kept file writes, of long documents, what was scored when it was chosen.
  request_.params = written;
  request_.artifacts["adapter"] = {"", folder_ / "a/adapter_model.safetensors", ""};
  request_.params.set("local_context", int64_t{130});
  double sum = 0;
  for (const NumberedExample& one : data_.development) {
    const std::vector<Prediction> made = predictions({one});
    ASSERT_EQ(made.size(), 1U);
    EXPECT_GT(made[0].tokens_in, 100);
    sum += metrics::RougeScorer().score_multi(one.example.references, made[0].text)->rouge1.f;
  }
  EXPECT_DOUBLE_EQ(best, sum / 3);

  // Of their first tokens it writes something else on the way.
  request_.artifacts.clear();
  request_.params = of_training(written);
  request_.params.set("select_tokens", int64_t{5});
  EXPECT_NE(values(trained("b"), "development.rouge1"), scores);
}

TEST_F(UnlimiformerTrainingTest, a_file_of_another_mode_is_refused) {
  in_mode("retrieval");
  static_cast<void>(trained("a"));
  request_.artifacts["adapter"] = {"", folder_ / "a/adapter_model.safetensors", ""};
  EXPECT_FALSE(outputs({example(3)}).empty());
  in_mode("alternating");
  ResourceCache cache;
  const auto session = sessions_.open(request_, cache);
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().message,
            R"(it was trained with "mode": "retrieval", not "alternating")");
}

TEST_F(UnlimiformerTrainingTest, other_devices_train_on_beginnings_alone) {
  in_mode("retrieval");
  request_.params.set("train_dtype", std::string("bfloat16"));
  EXPECT_THAT(refusal(), HasSubstr("retrieves on the CPU in float32, not on 'cpu' in bfloat16"));
  in_mode("test_time");
  EXPECT_EQ(refusal(), "trained");
}

class UnlimiformerTrainingSpec : public ::testing::Test {
 protected:
  UnlimiformerTrainingSpec() {
    for (const ParamSpec& param : trained_spec().params()) {
      if (param.default_value) params_.set(param.name, *param.default_value);
    }
    params_.set("adapter", std::string("lora"));
  }
  std::string refusal() const {
    const Status status = trained_spec().validate(params_);
    return status.ok() ? "" : status.error().message;
  }
  /// Those of its own that a training depends on.
  std::vector<std::string> trains_with() const {
    std::vector<std::string> names;
    for (const char* name : {"mode", "overlap", "retrieved"}) {
      if (trained_spec().trains_with(params_, name)) names.emplace_back(name);
    }
    return names;
  }

  Params params_;
};

TEST_F(UnlimiformerTrainingSpec, rules_between_parameters) {
  EXPECT_EQ(refusal(), "");
  params_.set("select_tokens", int64_t{100});
  EXPECT_THAT(refusal(), HasSubstr("'select_tokens' is of outputs that choose"));
  params_.set("select_by", std::string("rougeL"));
  params_.set("mode", std::string("retrieval"));
  EXPECT_EQ(refusal(), "");
  params_.set("train_dtype", std::string("bfloat16"));
  EXPECT_THAT(refusal(), HasSubstr("retrieves in float32"));
  params_.set("train_dtype", std::string("float32"));
  params_.set("trained", std::string("weights"));
  EXPECT_EQ(refusal(), "");
  EXPECT_THAT(trained_spec().check_init(params_, {}).error().message,
              HasSubstr("begins with those of its backbone"));
  EXPECT_THAT(trained_spec().needs(params_).reads_files_of, IsEmpty());
  params_.set("alpha", 2.0);
  EXPECT_THAT(refusal(), HasSubstr("'alpha' is of low-rank matrices"));
  params_.set("adapter", std::string("none"));
  EXPECT_THAT(refusal(), HasSubstr("'mode' is 'retrieval', a way to train"));
}

TEST_F(UnlimiformerTrainingSpec, a_training_is_of_what_it_depends_on) {
  EXPECT_THAT(trains_with(), IsEmpty());
  EXPECT_TRUE(trained_spec().trains_with(params_, "train_tokens"));
  params_.set("select_by", std::string("loss"));
  EXPECT_THAT(trains_with(), IsEmpty());
  params_.set("select_by", std::string("rouge1"));
  EXPECT_THAT(trains_with(), ElementsAre("overlap", "retrieved"));
  params_.set("mode", std::string("alternating"));
  EXPECT_THAT(trains_with(), ElementsAre("mode", "overlap", "retrieved"));
}

}  // namespace
}  // namespace qfs::unlimiformer

// What a plan holds besides its cells' parameters: resources, units, hosts, order, notes,
// estimates.
#include "harness/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/config/load.h"
#include "harness/plan/estimate.h"
#include "tests/support/plan_fakes.h"

namespace qfs::plan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string model(const std::string& rest = "") {
  return R"({"method": "zero_shot", "backbone": "small")" + rest + "}";
}

/// The catalogues of a test outlive its plans, whose cells refer to their methods.
class Planned : public testing::Test {
 protected:
  Plan planned(const std::string& sweep) {
    Result<Plan> plan = planning_(sweep);
    if (!plan.ok()) ADD_FAILURE() << plan.error().to_string();
    return plan.ok() ? *std::move(plan) : Plan{};
  }

  test::Planning planning_;
};

using Tokenizer = Planned;
using Host = Planned;
using Units = Planned;
using Measure = Planned;
using Order = Planned;
using Notes = Planned;
using External = Planned;
using BatchSize = Planned;
using Estimate = Planned;

std::vector<std::string> order(const Plan& plan) {
  std::vector<std::string> lines;
  for (const Cell& cell : plan.cells) {
    const auto context = cell.params.find<int64_t>("local_context");
    lines.push_back(cell.label + (context ? " " + std::to_string(*context) : ""));
  }
  return lines;
}

TEST_F(Tokenizer, IsTheMethodsOwnThenItsBackbonesThenTheSweeps) {
  const Plan plan = planned(test::sweep_text(
      R"({"method": "lead"}, {"method": "lead", "label": "l", "tokenizer": "large"}, )" + model() +
      "," + model(R"(, "label": "z", "tokenizer": "words")")));
  std::map<std::string, std::string> tokenizers;
  for (const Cell& cell : plan.cells) tokenizers[cell.label] = cell.tokenizer->name;
  EXPECT_EQ(tokenizers["lead"], "words");
  EXPECT_EQ(tokenizers["l"], "large");
  EXPECT_EQ(tokenizers["zero_shot"], "small");
  EXPECT_EQ(tokenizers["z"], "words");
}

TEST_F(Tokenizer, IsNotGivenToMethodsThatCountNothing) {
  EXPECT_FALSE(planned(test::sweep_text(R"({"method": "random"})")).cells[0].tokenizer);
}

TEST_F(Host, FollowsTheNeeds) {
  const Plan plan = planned(test::sweep_text(R"({"method": "lead"}, )" + model()));
  EXPECT_EQ(plan.cells[0].host, HostKind::light);
  EXPECT_EQ(plan.cells[1].host, HostKind::tensor);
}

TEST_F(Units, HoldBatchesOfTheSelectedExamples) {
  const Plan plan = planned(
      test::sweep_text(model(R"(, "batch_size": 2)"), "", R"({"name": "tiny", "sample": 5})"));
  // The sample of 5 is e0 e1 e3 e4 e9: see select_test.cpp.
  EXPECT_THAT(plan.cells[0].units, ElementsAre(Unit{{0, 1}}, Unit{{3, 4}}, Unit{{9}}));
}

TEST_F(Units, ThatLoseAnExampleAreADefectOfTheMethod) {
  struct Lossy : test::FakeSpec {
    std::vector<Unit> units(const Params&, std::span<const NumberedExample>) const override {
      return {Unit{{0, 1}}};
    }
  };
  struct OneMethod : test::FakeMethods {
    Lossy lossy;
    Result<const MethodSpec*> find(std::string_view) const override {
      return static_cast<const MethodSpec*>(&lossy);
    }
  } methods;
  methods.lossy.id = "lossy";
  test::FakeDatasets datasets;
  test::FakeMetrics metrics;
  const auto experiment =
      config::decode_experiment(test::sweep_text(R"({"method": "lossy"})"), "s.json");
  ASSERT_TRUE(experiment.ok());
  const Result<Plan> plan = make_plan(*experiment, {methods, datasets, metrics});
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().kind, ErrorKind::internal);
}

TEST_F(Measure, HasExamplesOnlyWhenAskedFor) {
  EXPECT_THAT(planned(test::sweep_text(R"({"method": "lead"})")).datasets[0].measure_ordinals,
              IsEmpty());
  EXPECT_THAT(planned(test::sweep_text(R"({"method": "lead"})", R"("measure": {"examples": 2})"))
                  .datasets[0]
                  .measure_ordinals,
              ElementsAre(3, 9));  // the two smallest hashes, see select_test.cpp
}

TEST_F(Order, LightBeforeTensorAndLongestFirstAmongEqualWeights) {
  const std::string methods = model() + R"(, {"method": "lead"}, )" +
                              R"({"method": "zero_shot", "label": "big", "backbone": "large"})";
  const Plan plan =
      planned(test::sweep_text(methods, R"("grid": {"local_context": [256, 1024, 512]})"));
  EXPECT_THAT(order(plan),
              ElementsAre("lead 1024", "lead 512", "lead 256", "zero_shot 1024", "zero_shot 512",
                          "zero_shot 256", "big 1024", "big 512", "big 256"));
  EXPECT_EQ(plan.cells[3].weights_key, plan.cells[5].weights_key);
  EXPECT_NE(plan.cells[3].weights_key, plan.cells[6].weights_key);
}

TEST_F(Order, PutsTheGroupWithMoreWorkFirst) {
  const std::string methods =
      model() + R"(, {"method": "zero_shot", "label": "big", "backbone": "large"})";
  const Plan plan = planned(test::sweep_text(
      methods, R"("grid": {"local_context": [256, 512]}, "exclude": [{"label": "zero_shot",
                  "local_context": 512}])"));
  EXPECT_THAT(order(plan), ElementsAre("big 512", "big 256", "zero_shot 256"));
}

TEST_F(Notes, SayThatASampleIsLargerThanTheData) {
  const Plan plan =
      planned(test::sweep_text(R"({"method": "lead"})", "", R"({"name": "other", "sample": 5})"));
  EXPECT_THAT(plan.notes,
              ElementsAre("data set 'other' has 3 examples, fewer than the sample of 5: "
                          "all are used"));
  EXPECT_EQ(plan.datasets[0].selection.text, "{}");
}

TEST_F(Notes, SayThatASeedDoesNotMatterAndTheCellRunsOnce) {
  planning_.methods.spec("lead").draws = false;
  const Plan plan = planned(
      test::sweep_text(R"({"method": "lead"}, {"method": "random"})", R"("seeds": [3, 5])"));
  ASSERT_EQ(plan.cells.size(), 3u);
  EXPECT_THAT(
      plan.notes,
      ElementsAre("the seed does not matter to 'lead': computed once, shown for each seed"));
  for (const Cell& cell : plan.cells) {
    if (cell.label == "lead") {
      EXPECT_EQ(cell.seed, 0u);
      EXPECT_THAT(cell.shown_seeds, ElementsAre(3, 5));
    } else {
      EXPECT_THAT(cell.shown_seeds, ElementsAre(cell.seed));
    }
  }
}

TEST_F(Notes, SayWhoReadsWholeDocumentsBesideCellsThatAreCut) {
  const Plan plan = planned(test::sweep_text(R"({"method": "lead"}, {"method": "random"})",
                                             R"("grid": {"local_context": [128, 256]})"));
  EXPECT_THAT(plan.notes, ElementsAre("'random' has no local_context: whole documents are read"));
}

TEST_F(Notes, AreNotOfCellsThatACutOfTheWholeInputReads) {
  test::Planning planning;
  ParamSpec total;
  total.name = "total_tokens";
  planning.methods.spec("random").declared.push_back(total);
  const Result<Plan> plan =
      planning(test::sweep_text(R"({"method": "lead"}, {"method": "random", "total_tokens": 300})",
                                R"("grid": {"local_context": [128, 256]})"),
               "sweep.json");
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  EXPECT_THAT(plan->notes, testing::IsEmpty());
}

TEST_F(External, IsDescribedOnceAndOnlyWithConsent) {
  test::Planning planning;
  planning.allow_external = true;
  const std::string sweep = test::sweep_text(
      R"({"method": "external", "command": ["python3"], "fingerprint": ["lc_sweep.json"]})",
      R"("grid": {"beams": [1, 2, 4]})");
  const Result<Plan> plan = planning(sweep, "experiments/s.json");
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  EXPECT_EQ(plan->cells.size(), 3u);
  EXPECT_EQ(planning.describer.calls, 1);
  EXPECT_EQ(plan->cells[0].external->command, std::vector<std::string>{"python3"});

  planning.allow_external = false;
  EXPECT_FALSE(planning(sweep, "experiments/s.json").ok());
  EXPECT_EQ(planning.describer.calls, 1);
}

TEST_F(External, ThatDoesNotDescribeItselfLeavesTheOthersTheirCells) {
  test::Planning planning;
  planning.allow_external = true;
  const std::string mute =
      R"({"method": "external", "command": ["missing"], "fingerprint": ["lc_sweep.json"]})";
  const std::string both = mute + R"(, {"method": "lead", "local_context": 512})";
  const Result<Plan> plan = planning(test::sweep_text(both), "experiments/s.json");
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  ASSERT_EQ(plan->cells.size(), 1u);
  EXPECT_EQ(plan->cells[0].label, "lead");
  ASSERT_EQ(plan->undescribed.size(), 1u);
  EXPECT_THAT(plan->undescribed[0].to_string(), testing::HasSubstr("'missing' cannot be started"));

  const Result<Plan> filtered =
      planning(test::sweep_text(both, R"("exclude": [{"method": "mine"}])"), "experiments/s.json");
  ASSERT_FALSE(filtered.ok());
  EXPECT_THAT(filtered.error().message, testing::HasSubstr("'missing' cannot be started"));
  const Result<Plan> alone = planning(test::sweep_text(mute), "experiments/s.json");
  ASSERT_FALSE(alone.ok());
  EXPECT_EQ(alone.error().kind, ErrorKind::unavailable);
}

TEST_F(BatchSize, OfAProgramThatDeclaresNoRangeMustBePositive) {
  test::Planning planning;
  planning.methods.spec("zero_shot").declared[2].minimum.reset();
  const Result<Plan> plan = planning(test::sweep_text(model(R"(, "batch_size": 0)")));
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().to_string(),
            "s.json#/methods/0: 'batch_size' is 0, but must be an integer of at least 1");
}

// The fake model costs 1e9 flops a word: 256 words x 12 examples.
TEST_F(Estimate, AddsComputeTrafficAndUnits) {
  const Plan plan = planned(test::sweep_text(model(R"(, "local_context": 256)")));
  Cell cell = plan.cells[0];
  cell.cost.bytes = 5e9;
  const Estimator estimator({1e12, 1e9, 0.5});
  EXPECT_DOUBLE_EQ(estimator.seconds(cell), 256 * 12 * 1e9 / 1e12 + 5.0 + 12 * 0.5);
  EXPECT_DOUBLE_EQ(estimator.remaining_seconds(cell, 3), estimator.seconds(cell) / 4);
}

TEST_F(Estimate, TimingRepeatsTheSubSampleAfterAWarmUp) {
  const Plan plan = planned(test::sweep_text(model(R"(, "local_context": 256)")));
  Cell cell = plan.cells[0];
  const Estimator estimator({1e12, 1e9, 0, 0.25});
  const MeasureSettings settings{.examples = 4, .warmup = 1, .repetitions = 3};
  const double example = estimator.seconds(cell) / 12;
  cell.host = HostKind::tensor;
  EXPECT_DOUBLE_EQ(estimator.measure_seconds(cell, 12, settings), 0.25 + (3 * 4 + 1) * example);
  cell.host = HostKind::light;
  EXPECT_DOUBLE_EQ(estimator.measure_seconds(cell, 12, settings), (3 * 4 + 1) * example);
  EXPECT_EQ(estimator.measure_seconds(cell, 0, settings), 0);
}

}  // namespace
}  // namespace qfs::plan

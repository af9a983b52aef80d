// What trainings learn from: never what is scored, and drawn as the sweep says.
#include <algorithm>

#include "tests/unit/plan/planned_training.h"

namespace qfs::plan {
namespace {

TEST(Training, NeverLearnsFromWhatItIsScoredOn) {
  EXPECT_NE(
      training_error(
          test::sweep_text(kLearner + R"(, "training": {"train": {"name": "tiny", "sample": 4}}})"))
          .find("4 of the 12 examples of 'tiny' that the cell is scored on are in the data "
                "that it learns from"),
      std::string::npos);
}

TEST(Training, NeverLearnsFromAnotherFormOfWhatItIsScoredOn) {
  const std::string error = training_error(test::sweep_text(
      kLearner +
          R"(, "training": {"train": {"name": "split", "split": "test", "text_form": "ideal"}}})",
      "", R"({"name": "split", "split": "test"})"));
  EXPECT_NE(error.find("3 of the 3 examples of 'split' that the cell is scored on are in the data"),
            std::string::npos)
      << error;
}

TEST(Training, IsJudgedByItsDataAndWhatItBeginsWith) {
  test::Planning planning;
  std::vector<TrainingFacts> told;
  planning.methods.spec("learner").judges_training = [&](const Params& params,
                                                         const TrainingFacts& facts) {
    EXPECT_TRUE(params.has("max_words")) << "of predicting alone";
    told.push_back(facts);
    return facts.development ? Status() : invalid_argument("needs development examples");
  };
  const auto learning = [](const std::string& data) {
    return test::sweep_text(kLearner + R"(, "max_words": 5, "training": {"train": )" + data + "}}",
                            "", R"({"name": "tiny"})");
  };
  EXPECT_NE(training_error(learning(R"({"name": "other"})"), planning)
                .find("/methods/0: needs development examples"),
            std::string::npos);
  planned_training(
      learning(
          R"({"name": "other", "sample": 2}, "development": {"name": "split", "split": "dev"})"),
      planning);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_FALSE(told[0].development);
  EXPECT_FALSE(told[0].begins);
  EXPECT_GT(told[0].examples, 2);
  EXPECT_TRUE(told[1].development);
  EXPECT_EQ(told[1].examples, 2);
}

TEST(Training, IsOnlyMadeWhereItsFileCanBeReadAsTheRowAsks) {
  test::Planning planning;
  planning.methods.spec("learner").refuses_file = "of another kind";
  const std::string sweep = test::sweep_text(
      kLearner + R"(, "training": {"train": {"name": "other"}}})", "", R"({"name": "tiny"})");
  EXPECT_NE(training_error(sweep, planning).find("/methods/0: of another kind"), std::string::npos);
}

TEST(Training, WhatAPublishedSplitLeaksIsNoted) {
  const auto learning_from = [](const std::string& split) {
    return test::sweep_text(
        kLearner + R"(, "training": {"train": {"name": "leaking", "split": ")" + split + R"("}}})",
        "", R"({"name": "leaking"})");
  };
  const Plan plan = planned_training(learning_from("train"));
  ASSERT_FALSE(plan.notes.empty());
  EXPECT_NE(
      plan.notes.front().find("3 of the 3 examples of 'leaking' that the cell is scored on are "
                              "in its split 'train' as well"),
      std::string::npos);
  EXPECT_NE(training_error(learning_from("dev")).find("are in the data that it learns from"),
            std::string::npos);
}

TEST(Training, EachSampleOfADataSetIsCompared) {
  const std::string few = R"({"train": {"name": "tiny", "sample": 1}})";
  const std::string all = R"({"train": {"name": "tiny"}})";
  test::Planning planning;
  planning.limit = 1;  // scored and learnt from: the first; of the sample of one: the tenth
  const std::string sweep =
      test::sweep_text(kLearner + R"(, "label": "a", "training": )" + few + "}, " + kLearner +
                           R"(, "label": "b", "training": )" + all + "}",
                       "", R"({"name": "tiny"})");
  EXPECT_NE(training_error(sweep, planning).find("that the cell is scored on are in the data"),
            std::string::npos);
}

TEST(Training, EachSeedLearnsFromADrawOfItsOwnThatAllMethodsShare) {
  const auto sweep = [](const std::string& drawn) {
    const std::string data =
        R"(, "training": {"train": {"name": "tiny", "sample": 4)" + drawn + "}}}";
    return test::sweep_text(kLearner + R"(, "label": "a")" + data + ", " + kLearner +
                                R"(, "label": "b", "rank": 16)" + data,
                            R"("seeds": [0, 1, 2])", R"({"name": "other"})");
  };
  const Plan plan = planned_training(sweep(R"(, "drawn_by": "seed")"));
  ASSERT_EQ(plan.trainings.size(), 6u);
  ASSERT_EQ(plan.training_data.size(), 3u);
  EXPECT_NE(plan.training_data[0].ordinals, plan.training_data[1].ordinals);
  for (const Training& training : plan.trainings) {
    EXPECT_EQ(plan.training_data[training.cell.dataset].draw, training.cell.seed);
    EXPECT_NE(training.cell.identity.text.find(R"("draw":)"), std::string::npos);
  }
  EXPECT_EQ(planned_training(sweep("")).training_data.size(), 1u) << "one draw, three seeds";
}

TEST(Training, DocumentsThatBothHaveAreNoted) {
  const Plan plan = planned_training(test::sweep_text(
      kLearner + R"(, "training": {"train": {"name": "other"}}})", "", R"({"name": "tiny"})"));
  ASSERT_FALSE(plan.notes.empty());
  EXPECT_NE(plan.notes.front().find("3 of the 12 examples of 'tiny'"), std::string::npos);
}

}  // namespace
}  // namespace qfs::plan

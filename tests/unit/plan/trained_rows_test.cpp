// Cells that predict with what another method trained: a file, or what a row of the sweep trains.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/plan/plan.h"
#include "tests/support/plan_fakes.h"

namespace qfs::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kFinder = R"({"method": "finder", "backbones": {"finder": "small"})";
const std::string kReader = R"({"method": "reader", "backbones": {"finder": "small"})";

std::string sweep(const std::string& methods, const std::string& rest = "") {
  return test::sweep_text(methods, rest, R"({"name": "split"})");
}

struct TrainedRows : testing::Test {
  TrainedRows() {
    facts.file = {"f.safetensors", "f.safetensors", std::string(64, 'f')};
    facts.method = "finder";
    facts.backbone = std::string(64, '5');
    facts.recipe.set("rank", int64_t{4});
    facts.training_cell = std::string(64, 'c');
    keep();
  }
  void keep() { planning.methods.artifacts["f.safetensors"] = facts; }

  Plan planned(const std::string& text) {
    Result<Plan> plan = planning(text);
    EXPECT_TRUE(plan.ok()) << plan.error().to_string();
    return plan.ok() ? *std::move(plan) : Plan();
  }
  std::string error_of(const std::string& text) {
    const Result<Plan> plan = planning(text);
    return plan.ok() ? "no error" : plan.error().to_string();
  }

  ArtifactFacts facts;
  test::Planning planning;
};

const Cell& cell_of(const Plan& plan, const std::string& label) {
  for (const Cell& cell : plan.cells) {
    if (cell.label == label) return cell;
  }
  return plan.cells.front();
}

const std::string kByRow = kReader + R"(, "artifact": {"finder": {"row": "finder"}}})";

TEST_F(TrainedRows, ARowsTrainingServesTheRowThatNamesIt) {
  // The order of the rows does not matter.
  for (const std::string& text : {kFinder + "}, " + kByRow, kByRow + ", " + kFinder + "}"}) {
    const Plan plan = planned(sweep(text));
    ASSERT_EQ(plan.trainings.size(), 1U);
    const Cell& reader = cell_of(plan, "reader");
    EXPECT_EQ(reader.training, cell_of(plan, "finder").training);
    EXPECT_TRUE(reader.waits());
    EXPECT_THAT(reader.artifacts, IsEmpty());
    EXPECT_EQ(reader.origins.at("finder"), plan.trainings[0].cell.id.hex());
    EXPECT_THAT(reader.identity.text,
                HasSubstr(R"({"finder":{"training":")" + plan.trainings[0].cell.id.hex()));
  }
}

TEST_F(TrainedRows, EachSeedReadsWithItsOwnTraining) {
  const Plan plan = planned(sweep(kFinder + "}, " + kByRow, R"("seeds": [0, 1])"));
  EXPECT_EQ(plan.trainings.size(), 2U);
  for (const Cell& cell : plan.cells) {
    EXPECT_EQ(plan.trainings[cell.training.value()].cell.seed, cell.shown_seeds.front());
  }
}

TEST_F(TrainedRows, AFilterOfTheRowAloneBringsWhatTrainsForIt) {
  planning.filter = *parse_filter("label=reader,seed=1");
  const Plan plan = planned(sweep(kFinder + "}, " + kByRow, R"("seeds": [0, 1])"));
  ASSERT_EQ(plan.cells.size(), 1U) << "the other row is neither asked for nor computed";
  ASSERT_EQ(plan.trainings.size(), 1U);
  EXPECT_EQ(plan.cells[0].label, "reader");
  EXPECT_EQ(plan.cells[0].origins.at("finder"), plan.trainings[0].cell.id.hex());
  EXPECT_EQ(plan.trainings[0].cell.seed, 1U);
}

TEST_F(TrainedRows, WhatAFilterSaysOfParametersHoldsForWhatTrains) {
  const std::string text = sweep(kFinder + "}, " + kByRow, R"("grid": {"rank": [4, 8]})");
  planning.filter = *parse_filter("label=reader,rank=4");
  const Plan plan = planned(text);
  ASSERT_EQ(plan.trainings.size(), 1U);
  EXPECT_EQ(plan.trainings[0].cell.params.get<int64_t>("rank"), 4);
  planning.filter = *parse_filter("label=reader");
  EXPECT_THAT(error_of(text), HasSubstr("several trainings")) << "of which none was meant";
}

TEST_F(TrainedRows, AFileStandsForIt) {
  const Plan plan = planned(sweep(kReader + R"(, "artifact": {"finder": "f.safetensors"}})"));
  EXPECT_THAT(plan.trainings, IsEmpty());
  const Cell& cell = plan.cells.front();
  EXPECT_FALSE(cell.waits());
  EXPECT_EQ(cell.artifacts.at("finder").digest, std::string(64, 'f'));
  EXPECT_EQ(cell.origins.at("finder"), std::string(64, 'c'));
  EXPECT_EQ(cell.params.get<int64_t>("rank"), 8) << "the file's recipe is of another method";
  // As well as through the row that names the file.
  const Plan through = planned(sweep(kFinder + R"(, "artifact": "f.safetensors"}, )" + kByRow));
  EXPECT_EQ(cell_of(through, "reader").id, cell.id);
  EXPECT_EQ(cell_of(through, "reader").artifacts.at("finder").digest, std::string(64, 'f'));
}

TEST_F(TrainedRows, WhatNoOneNamesIsAskedFor) {
  EXPECT_THAT(error_of(sweep(kReader + "}")),
              HasSubstr(R"(reads with what 'finder' trained: name the file, "artifact": )"));
  EXPECT_THAT(error_of(sweep(kReader + R"(, "artifact": {"finder": {"row": "fnder"}}})")),
              HasSubstr("no cell is of a row 'fnder' that trains 'finder' on this data set"));
  EXPECT_THAT(
      error_of(sweep(kFinder + "}, " + kReader + R"(, "artifact": {"finder": {"row": "fnder"}}})")),
      HasSubstr("on this data set (did you mean 'finder'?)"));
  EXPECT_THAT(error_of(sweep(kFinder +
                             R"(, "artifact": {"finder": {"row": "lead"}}}, {"method": "lead"})")),
              HasSubstr("takes no 'finder' that another row trains"));
  EXPECT_THAT(
      error_of(sweep(R"({"method": "lead"}, )" + kReader +
                     R"(, "artifact": {"finder": {"row": "lead"}}})")),
      HasSubstr("the row 'lead' is of the method 'lead'; 'finder' is what 'finder' trains"));
  EXPECT_THAT(error_of(sweep(kReader + R"(, "artifact": {"finder": "f.safetensors"},)" +
                             R"( "training": {"train": {"name": "other"}}})")),
              HasSubstr("trains nothing with these parameters"));
}

TEST_F(TrainedRows, WhatDoesNotFitIsRefused) {
  const std::string by_file = sweep(kReader + R"(, "artifact": {"finder": "f.safetensors"}})");
  facts.method = "learner";
  keep();
  EXPECT_THAT(error_of(by_file), HasSubstr("trained by the method 'learner', not by 'finder'"));
  facts.method = "";
  keep();
  EXPECT_THAT(error_of(by_file), HasSubstr("does not say that 'finder' trained it"));
  facts.method = "finder";
  facts.backbone = std::string(64, '6');
  keep();
  EXPECT_THAT(error_of(by_file), HasSubstr("trained for another backbone than 'small'"));
  facts.backbone = "";
  facts.backbones = {{"finder", std::string(64, '6')}, {"another", std::string(64, '5')}};
  keep();
  EXPECT_THAT(error_of(by_file),
              HasSubstr("trained for another finder than 'small' (666666666666"));
  facts.backbones.clear();
  EXPECT_THAT(
      error_of(sweep(R"({"method": "finder", "backbones": {"finder": "large"}}, )" + kByRow)),
      HasSubstr("the row 'finder' trains 'finder' over 'large', not over 'small'"));
  EXPECT_THAT(error_of(sweep(kFinder + "}, " + kByRow, R"("grid": {"rank": [4, 8]})")),
              HasSubstr("the row 'finder' has several trainings here"));
}

TEST_F(TrainedRows, ATrainingMayReadWithAFileAndNotWithWhatIsNotThereYet) {
  planning.methods.spec("reader").needed.artifacts = {"adapter", "finder"};
  const Plan plan = planned(sweep(kReader + R"(, "artifact": {"finder": "f.safetensors"}})"));
  ASSERT_EQ(plan.trainings.size(), 1U);
  const Cell& training = plan.trainings[0].cell;
  EXPECT_THAT(training.needs.artifacts, ElementsAre("adapter"));
  EXPECT_EQ(training.artifacts.at("finder").digest, std::string(64, 'f'));
  EXPECT_THAT(training.identity.text, HasSubstr(R"("init":{"finder":")" + std::string(64, 'f')));
  const Cell& cell = plan.cells.front();
  EXPECT_TRUE(cell.waits());
  EXPECT_EQ(cell.origins.at("adapter"), training.id.hex());
  EXPECT_EQ(cell.origins.at("finder"), std::string(64, 'c'));
  EXPECT_THAT(error_of(sweep(kFinder + "}, " + kByRow)),
              HasSubstr("a training cannot read with what another row trains"));
}

TEST_F(TrainedRows, AModelOfAnotherKindIsRefusedWhenAPlanIsMade) {
  planning.methods.large_type = "llama";
  EXPECT_THAT(error_of(sweep(R"({"method": "finder", "backbones": {"finder": "large"}})")),
              HasSubstr("is of type llama; 'finder' may be of bert"));
}

TEST_F(TrainedRows, AMethodMayRefuseAFurtherModelByTheParametersThatHold) {
  planning.methods.spec("finder").refuses_model = "is too small";
  const std::string by_file = sweep(
      R"({"method": "finder", "backbones": {"finder": "small"}, "artifact": "f.safetensors"})");
  EXPECT_EQ(error_of(by_file), "no error");
  EXPECT_THAT(error_of(sweep(kFinder + R"(, "rank": 9})")), HasSubstr("finder small is too small"));
  facts.recipe.set("rank", int64_t{9});  // which the file replaces the default by
  keep();
  EXPECT_THAT(error_of(by_file), HasSubstr("finder small is too small"));
}

}  // namespace
}  // namespace qfs::plan

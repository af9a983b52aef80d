// Cells that train, and the cells that wait for them.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/plan/identity.h"
#include "tests/unit/plan/planned_training.h"

namespace qfs::plan {
namespace {

TEST(Training, OneFeedsTheCellsThatDifferInPredictingOnly) {
  const Plan plan = planned_training(test::sweep_text(
      kLearner + "}", R"("grid": {"max_words": [10, 20], "rank": [4, 8]}, "seeds": [0, 1])",
      kSplit));
  EXPECT_EQ(plan.cells.size(), 8u);
  ASSERT_EQ(plan.trainings.size(), 4u);
  for (const Training& training : plan.trainings) {
    EXPECT_FALSE(training.cell.params.has("max_words"));
    EXPECT_TRUE(training.cell.params.has("prompt"));
    EXPECT_EQ(plan.training_data[training.cell.dataset].data->manifest.split, "train");
    EXPECT_EQ(plan.training_data[training.development.value()].data->manifest.split, "validation");
  }
  for (const Cell& cell : plan.cells) {
    const Cell& training = plan.trainings[cell.training.value()].cell;
    EXPECT_EQ(cell.origins.at("adapter"), training.id.hex());
    EXPECT_EQ(cell.params.get<int64_t>("rank"), training.params.get<int64_t>("rank"));
    EXPECT_EQ(cell.shown_seeds.front(), training.seed);
    EXPECT_EQ(cell.seed, 0u) << "predicting draws nothing";
  }
}

TEST(Training, WhatIsScoredDoesNotChoose) {
  const Plan plan = planned_training(
      test::sweep_text(kLearner + "}", "", R"({"name": "split", "split": "validation"})"));
  EXPECT_FALSE(plan.trainings.at(0).development.has_value());
  EXPECT_EQ(
      std::ranges::count(plan.notes, "'learner': 'validation' is scored, so it does not choose"),
      1);
}

TEST(Training, ItsIdIsOfItsParametersItsSeedAndItsData) {
  const auto id = [](const std::string& params, const std::string& rest = "") {
    return planned_training(test::sweep_text(kLearner + params + "}", rest, kSplit))
        .trainings.at(0)
        .cell.id;
  };
  const CellId plain = id("");
  EXPECT_EQ(id(R"(, "max_words": 7)"), plain) << "of predicting";
  EXPECT_EQ(id(R"(, "micro_batch": 4)"), plain) << "of how it is computed";
  EXPECT_NE(id(R"(, "rank": 4)"), plain);
  EXPECT_NE(id(R"(, "prompt": "{query}{document}")"), plain);
  EXPECT_NE(id("", R"("seeds": [1])"), plain);
  EXPECT_NE(id(R"(, "training": {"train": {"name": "split", "split": "train"}})"), plain)
      << "nothing chooses";
  EXPECT_NE(id(R"(, "training": {"train": {"name": "tiny"}})"), plain);
}

TEST(Training, WhatItDoesNotDependOnIsNotItsOwn) {
  test::Planning planning;
  planning.methods.spec("learner").passed_over = "prompt";
  const auto with = [&](const std::string& prompt) {
    return planned_training(
        test::sweep_text(kLearner + R"(, "prompt": ")" + prompt + R"("})", "", kSplit), planning);
  };
  const Plan plan = with("{document}");
  EXPECT_FALSE(plan.trainings.at(0).cell.params.has("prompt"));
  EXPECT_TRUE(plan.cells.at(0).params.has("prompt"));
  EXPECT_EQ(with("{query}{document}").trainings.at(0).cell.id, plan.trainings.at(0).cell.id);
  EXPECT_NE(with("{query}{document}").cells.at(0).id, plan.cells.at(0).id);
}

TEST(Training, TheIdOfAPredictingCellNamesTheTrainingAndNotItsParameters) {
  const Plan plan = planned_training(test::sweep_text(kLearner + "}", "", kSplit));
  const std::string& identity = plan.cells.at(0).identity.text;
  EXPECT_NE(
      identity.find(R"("artifacts":{"adapter":{"training":")" + plan.trainings.at(0).cell.id.hex()),
      std::string::npos);
  EXPECT_EQ(identity.find("rank"), std::string::npos);
  EXPECT_NE(identity.find("prompt"), std::string::npos) << "of both stages";
}

struct TrainedElsewhere : testing::Test {
  TrainedElsewhere() {
    facts.file = {"a.safetensors", "a.safetensors", std::string(64, 'f')};
    facts.method = "learner";
    facts.backbone = std::string(64, '5');
    facts.recipe.set("rank", int64_t{4});
    planning.methods.artifacts["a.safetensors"] = facts;
  }

  static std::string sweep(const std::string& params = "") {
    return test::sweep_text(kLearner + R"(, "artifact": "a.safetensors")" + params + "}", "",
                            R"({"name": "tiny"})");
  }

  ArtifactFacts facts;
  test::Planning planning;
};

TEST_F(TrainedElsewhere, AFileStandsInPlaceOfTraining) {
  const Plan plan = planned_training(sweep(), planning);
  EXPECT_TRUE(plan.trainings.empty());
  const Cell& cell = plan.cells.at(0);
  EXPECT_EQ(cell.artifacts.at("adapter").digest, std::string(64, 'f'));
  EXPECT_EQ(cell.params.get<int64_t>("rank"), 4) << "as the file says";
  EXPECT_NE(cell.identity.text.find(R"({"sha256":")" + std::string(64, 'f')), std::string::npos);
}

TEST_F(TrainedElsewhere, ARecipeThatReadsAnswersMakesAnOracle) {
  planning.methods.spec("learner").answers_at_rank = 4;
  EXPECT_TRUE(planned_training(sweep(), planning).cells.at(0).needs.references);
  planning.methods.spec("learner").answers_at_rank = 8;  // the default, which the file replaces
  EXPECT_FALSE(planned_training(sweep(), planning).cells.at(0).needs.references);
}

TEST_F(TrainedElsewhere, WhoseMemoryIsReadGoesByTheFilesRecipe) {
  const std::string other = sweep(R"(, "documents": "other_memory")");
  planning.methods.spec("learner").memory_at_rank = 4;
  EXPECT_EQ(planned_training(other, planning).cells.at(0).documents, Documents::other_memory);
  planning.methods.spec("learner").memory_at_rank = 8;  // the default, which the file replaces
  EXPECT_NE(training_error(other, planning).find("no part of a document as memory"),
            std::string::npos);
}

TEST_F(TrainedElsewhere, OneThatNamesItsTrainingGivesTheIdOfACellTrainedHere) {
  const std::string split = test::sweep_text(kLearner + R"(, "rank": 4})", "", kSplit);
  const Plan here = planned_training(split);
  planning.methods.artifacts["a.safetensors"].training_cell = here.trainings.at(0).cell.id.hex();
  const Plan there = planned_training(
      test::sweep_text(kLearner + R"(, "artifact": {"adapter": "a.safetensors"}})", "", kSplit),
      planning);
  EXPECT_EQ(there.cells.at(0).id, here.cells.at(0).id);
}

TEST_F(TrainedElsewhere, RealNumbersOfARecipeAreTexts) {
  Params& recipe = planning.methods.artifacts["a.safetensors"].recipe;
  recipe.set("rate", std::string("0.001"));
  EXPECT_EQ(planned_training(sweep(), planning).cells.at(0).params.get<double>("rate"), 0.001);
  EXPECT_EQ(planned_training(sweep(R"(, "rate": 0.001)"), planning).cells.size(), 1u);
  EXPECT_NE(training_error(sweep(R"(, "rate": 0.25)"), planning)
                .find("'rate' is 0.25, but 'a.safetensors' was trained with 0.001"),
            std::string::npos);
  planning.methods.spec("learner").least_rate = 0.01;
  EXPECT_NE(training_error(sweep(), planning).find("learned too slowly"), std::string::npos)
      << "a method's own rule reads the number, too";
  for (const char* wrong : {"quick", "1e400", "nan", "0.5 "}) {
    recipe.set("rate", std::string(wrong));
    EXPECT_NE(training_error(sweep(), planning).find("as 'rate'"), std::string::npos) << wrong;
  }
}

TEST_F(TrainedElsewhere, WhatContradictsItsRecipeIsRefused) {
  EXPECT_NE(training_error(sweep(R"(, "rank": 16)"), planning)
                .find("'rank' is 16, but 'a.safetensors' was trained with 4"),
            std::string::npos);
  EXPECT_NE(training_error(sweep(R"(, "rank": 8)"), planning).find("'rank' is 8, but"),
            std::string::npos)
      << "a default that somebody wrote is a wish like any other";
  planning.methods.artifacts["a.safetensors"].method = "other";
  EXPECT_NE(training_error(sweep(), planning).find("trained by the method 'other'"),
            std::string::npos);
  planning.methods.artifacts["a.safetensors"].method = "";
  planning.methods.artifacts["a.safetensors"].backbone = std::string(64, '6');
  EXPECT_NE(training_error(sweep(), planning).find("another backbone than 'small'"),
            std::string::npos);
}

TEST_F(TrainedElsewhere, AFileThatDoesNotNameItsBackboneIsNoted) {
  EXPECT_TRUE(planned_training(sweep(), planning).notes.empty());
  planning.methods.artifacts["a.safetensors"].backbone = "";
  EXPECT_EQ(planned_training(sweep(), planning).notes,
            std::vector<std::string>{"'a.safetensors' does not say which backbone it was trained "
                                     "for; its shapes decide"});
}

TEST_F(TrainedElsewhere, WhatItsTrainingLeftOutCannotBeAskedOfAFile) {
  const std::string asked = sweep(R"(, "rate": 0.25)");
  EXPECT_NE(training_error(asked, planning)
                .find("'rate' is 0.25, but 'a.safetensors' was trained without it"),
            std::string::npos)
      << training_error(asked, planning);
  planning.methods.spec("learner").passed_over = "rate";  // no matter of training
  EXPECT_EQ(planned_training(asked, planning).cells.size(), 1u);
  planning.methods.spec("learner").passed_over = "";
  // A file of another program, or of a method that this one reads files of, need not say it.
  for (const char* method : {"", "relative"}) {
    planning.methods.artifacts["a.safetensors"].method = method;
    const Plan plan = planned_training(asked, planning);
    EXPECT_EQ(plan.cells.size(), 1u);
    EXPECT_EQ(std::ranges::count(plan.notes,
                                 "'learner': 'rate' has no effect: 'a.safetensors' does not say "
                                 "how it was trained, its tensors do"),
              *method == 0 ? 1 : 0);
  }
  // Of both stages the method says what it needs.
  planning.methods.artifacts["a.safetensors"].method = "learner";
  const Plan plan = planned_training(sweep(R"(, "prompt": "{document}?")"), planning);
  EXPECT_EQ(plan.cells.at(0).params.get<std::string>("prompt"), "{document}?");
}

TEST_F(TrainedElsewhere, ACellMayDifferFromItsFileWhereTheMethodSaysSo) {
  planning.methods.artifacts["a.safetensors"].recipe.set("prompt", std::string("{document}?"));
  const std::string words =
      "'prompt' is {query}{document}, but 'a.safetensors' was trained with {document}?";
  const std::string asked = test::sweep_text(
      kLearner + R"(, "artifact": "a.safetensors", "prompt": "{query}{document}"})", "",
      R"({"name": "tiny"}, {"name": "other"})");
  EXPECT_NE(training_error(asked, planning).find(words), std::string::npos)
      << training_error(asked, planning);
  planning.methods.spec("learner").differs = "prompt";
  const Plan plan = planned_training(asked, planning);
  ASSERT_EQ(plan.cells.size(), 2u);
  EXPECT_EQ(plan.cells.at(0).params.get<std::string>("prompt"), "{query}{document}");
  EXPECT_EQ(std::count(plan.notes.begin(), plan.notes.end(), "'learner': " + words), 1);
  // What nobody asked for is the file's.
  const Plan plain = planned_training(sweep(), planning);
  EXPECT_EQ(plain.cells.at(0).params.get<std::string>("prompt"), "{document}?");
  for (const std::string& note : plain.notes)
    EXPECT_EQ(note.find("was trained"), std::string::npos);
  EXPECT_NE(plain.cells.at(0).id, plan.cells.at(0).id);
}

TEST_F(TrainedElsewhere, AMethodMayRefuseTheFileByItsRecipe) {
  planning.methods.spec("learner").refuses_file = "of another kind";
  EXPECT_NE(training_error(sweep(), planning).find("of another kind"), std::string::npos);
}

TEST_F(TrainedElsewhere, FilesOfOtherMethodsServeWhereTheMethodNamesThem) {
  const std::string begun =
      test::sweep_text(kLearner + R"(, "training": {"train": {"name": "tiny", "split": "train"},)" +
                           R"( "init": "a.safetensors"}})",
                       "", kSplit);
  std::string& method = planning.methods.artifacts["a.safetensors"].method;
  method = "relative";
  EXPECT_EQ(planned_training(sweep(), planning).cells.size(), 1u);
  EXPECT_NE(training_error(begun, planning).find("trained by the method 'relative'"),
            std::string::npos);
  method = "elder";
  EXPECT_NE(training_error(sweep(), planning).find("trained by the method 'elder'"),
            std::string::npos);
  EXPECT_EQ(planned_training(begun, planning).trainings.size(), 1u);
}

TEST_F(TrainedElsewhere, ATrainingBeginsWithWhatTheMethodCanGoOnFrom) {
  bool begins = false;
  planning.methods.spec("learner").judges_training = [&](const Params&,
                                                         const TrainingFacts& facts) {
    begins = facts.begins;
    return Status();
  };
  planning.methods.spec("learner").refuses_init = "its rank is 4, the training's 8";
  const std::string begun =
      test::sweep_text(kLearner + R"(, "training": {"train": {"name": "tiny", "split": "train"},)" +
                           R"( "init": "a.safetensors"}})",
                       "", kSplit);
  EXPECT_NE(training_error(begun, planning)
                .find("cannot begin with 'a.safetensors': its rank is 4, the training's 8"),
            std::string::npos);
  EXPECT_TRUE(begins);
  EXPECT_EQ(planned_training(sweep(), planning).cells.size(), 1u)
      << "to write with it is another matter";
}

/// A row that begins with what the row `label` trains.
std::string begun(const std::string& label, const std::string& first,
                  const std::string& more = "") {
  return kLearner + R"(, "label": ")" + label + R"(", )" + more +
         R"("training": {"train": {"name": "split", "split": "train"}, "init": {"adapter": {"row": ")" +
         first + R"("}}}})";
}

TEST(BegunTraining, FollowsTheRowThatItBeginsWith) {
  // The order of the rows does not matter.
  const Plan plan = planned_training(test::sweep_text(
      begun("third", "second") + "," + begun("second", "learner") + "," + kLearner + "}",
      R"("seeds": [0, 1])", kSplit));
  ASSERT_EQ(plan.trainings.size(), 6u);
  std::map<std::string, size_t> depths;
  for (size_t i = 0; i < plan.trainings.size(); ++i) {
    const Cell& cell = plan.trainings[i].cell;
    size_t& depth = depths[cell.label];
    depth = 0;
    for (auto first = cell.training; first; first = plan.trainings[*first].cell.training) {
      EXPECT_LT(*first, i);
      EXPECT_EQ(plan.trainings[*first].cell.seed, cell.seed);
      ++depth;
    }
    if (!cell.training) continue;
    const std::string& made_by = plan.trainings[*cell.training].cell.id.hex();
    EXPECT_EQ(cell.origins.at("adapter"), made_by);
    EXPECT_NE(cell.identity.text.find(R"("init":{"adapter":{"training":")" + made_by),
              std::string::npos);
  }
  EXPECT_EQ(depths, (std::map<std::string, size_t>{{"learner", 0}, {"second", 1}, {"third", 2}}));
  for (const Cell& cell : plan.cells) {
    EXPECT_EQ(plan.trainings[*cell.training].cell.label, cell.label) << "it reads with its own";
  }
}

TEST(BegunTraining, RowsWhoseTrainingsDifferInNumericsAloneStayApart) {
  const std::string two = kLearner + "}, " + kLearner + R"(, "label": "slow", "micro_batch": 4}, )";
  const Plan plan = planned_training(
      test::sweep_text(two + begun("b", "slow") + "," + begun("a", "learner"), "", kSplit));
  EXPECT_EQ(plan.cells.size(), 4u);
  std::map<std::string, std::string> firsts;
  for (const auto& [cell, development] : plan.trainings) {
    if (cell.training) firsts[cell.label] = plan.trainings[*cell.training].cell.label;
  }
  EXPECT_EQ(firsts, (std::map<std::string, std::string>{{"a", "learner"}, {"b", "slow"}}));
}

TEST(BegunTraining, AFilterOfTheLastRowAloneBringsTheWholeChain) {
  test::Planning planning;
  planning.filter = *parse_filter("label=third");
  const Plan plan =
      planned_training(test::sweep_text(begun("third", "second") + "," +
                                            begun("second", "learner") + "," + kLearner + "}",
                                        "", kSplit),
                       planning);
  ASSERT_EQ(plan.cells.size(), 1u);
  EXPECT_EQ(plan.cells[0].label, "third");
  EXPECT_EQ(trainings_behind(plan, plan.cells[0]).size(), 3u);
}

TEST_F(TrainedElsewhere, AFilterBringsNoTrainingThatNothingRestsOn) {
  const auto sweep_with = [](const std::string& first) {
    return test::sweep_text(begun("second", "first") + R"(, {"label": "first", "method": )" + first,
                            "", kSplit);
  };
  const std::string learner = R"("learner", "backbone": "small")";
  planning.filter = *parse_filter("label=second");
  EXPECT_EQ(planned_training(sweep_with(learner + "}"), planning).trainings.size(), 2u);
  EXPECT_EQ(planned_training(sweep_with(learner + R"(, "artifact": "a.safetensors"})"), planning)
                .trainings.size(),
            1u);
  // What --init names stands for the row, which is not looked at.
  const std::string absent = sweep_with(R"("learner", "backbone": "nowhere"})");
  EXPECT_NE(training_error(absent, planning), "no error");
  planning.init = "a.safetensors";
  EXPECT_EQ(planned_training(absent, planning).trainings.size(), 1u);
}

TEST(BegunTraining, WhatItsTrainerWouldReadDoesNotMatter) {
  test::Planning planning;
  planning.limit = 1;
  planning.filter = *parse_filter("label=second");
  const std::string other = kLearner + R"(, "documents": "other"})";
  EXPECT_EQ(
      planned_training(
          test::sweep_text(begun("second", "learner", R"("documents": "own", )") + "," + other, "",
                           kSplit),
          planning)
          .cells.size(),
      1u);
}

TEST(BegunTraining, WhatCannotBeBegunWithIsRefused) {
  const auto error = [](const std::string& methods, test::Planning planning = {}) {
    return training_error(test::sweep_text(methods, "", kSplit), std::move(planning));
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  const std::string learner = kLearner + "},";
  EXPECT_TRUE(has(error(begun("second", "lerner") + "," + kLearner + "}"),
                  "no cell is of a row 'lerner' that trains 'adapter' on this data set (did you "
                  "mean 'learner'?)"));
  EXPECT_TRUE(has(error(begun("a", "b") + "," + begun("b", "a")), "in a circle are 'a', 'b'"));
  EXPECT_TRUE(has(error(begun("c", "b") + "," + begun("a", "b") + "," + begun("b", "a")),
                  "methods/2: what a row rests on is trained before it; in a circle are 'b', 'a'"));
  EXPECT_TRUE(has(error(begun("a", "a")), "in a circle are 'a'"));
  EXPECT_TRUE(has(error(R"({"method": "lead"},)" + begun("second", "lead")),
                  "the row 'lead' is of the method 'lead'; 'adapter' is what 'learner' trains"));
  EXPECT_TRUE(has(error(R"({"method": "learner", "backbone": "large"},)" + begun("b", "learner")),
                  "the row 'learner' trains over 'large', not over 'small'"));
  test::Planning planning;
  planning.methods.spec("learner").refuses_init = "its rank is 8";
  EXPECT_TRUE(has(error(learner + begun("second", "learner"), std::move(planning)),
                  "cannot begin with what the row 'learner' trains: its rank is 8"));
  const std::string row = begun("second", "learner");
  EXPECT_TRUE(has(error(learner + row.substr(0, row.find("adapter")) + "bank" +
                        row.substr(row.find("adapter") + 7)),
                  "trains no 'bank' that another row could begin"));
}

TEST_F(TrainedElsewhere, ARowThatNamesAFileStandsForIt) {
  const std::string file = test::sweep_text(
      kLearner +
          R"(, "label": "second", "training": {"train": {"name": "split", "split": "train"},)"
          R"( "init": "a.safetensors"}})",
      "", kSplit);
  const std::string row = test::sweep_text(
      kLearner + R"(, "artifact": "a.safetensors"},)" + begun("second", "learner"), "", kSplit);
  const Plan by_file = planned_training(file, planning);
  const Plan by_row = planned_training(row, planning);
  ASSERT_EQ(by_row.trainings.size(), 1u);
  EXPECT_EQ(by_row.trainings[0].cell.id, by_file.trainings[0].cell.id);
  EXPECT_FALSE(by_row.trainings[0].cell.training);
}

TEST_F(TrainedElsewhere, FilesOfSeveralRolesComeFromOneTraining) {
  planning.methods.spec("learner").needed.artifacts = {"adapter", "bank"};
  facts.training_cell = std::string(64, 'a');
  planning.methods.artifacts["a.safetensors"] = facts;
  facts.file.path = "b.safetensors";
  planning.methods.artifacts["b.safetensors"] = facts;
  const std::string both = test::sweep_text(
      kLearner + R"(, "artifact": {"adapter": "a.safetensors", "bank": "b.safetensors"}})", "",
      kSplit);
  EXPECT_EQ(planned_training(both, planning).cells.size(), 1u);
  std::string& training = planning.methods.artifacts["b.safetensors"].training_cell;
  training = std::string(64, 'b');
  EXPECT_NE(training_error(both, planning)
                .find("'b.safetensors' ('bank') was not made by the training of 'a.safetensors'"),
            std::string::npos);
  training = "";
  EXPECT_EQ(planned_training(both, planning).cells.size(), 1u) << "it does not say";
  std::string& adapter = planning.methods.artifacts["b.safetensors"].backbones["adapter"];
  adapter = facts.file.digest;
  EXPECT_EQ(planned_training(both, planning).cells.size(), 1u);
  adapter = std::string(64, '0');
  EXPECT_NE(training_error(both, planning)
                .find("'b.safetensors' ('bank') was made with the 'adapter' 000000000000, not "
                      "with 'a.safetensors'"),
            std::string::npos);
}

TEST_F(TrainedElsewhere, HowAForeignFileWasTrainedIsNotMadeUp) {
  planning.methods.artifacts["a.safetensors"].recipe = {};
  const Cell cell = planned_training(sweep(), planning).cells.at(0);
  EXPECT_FALSE(cell.params.has("rank"));
  EXPECT_TRUE(cell.params.has("prompt"));
}

TEST(Training, ErrorsSayWhatIsMissing) {
  EXPECT_NE(training_error(test::sweep_text(kLearner + "}")).find("has no split 'train'"),
            std::string::npos);
  EXPECT_NE(training_error(test::sweep_text(R"({"method": "lead", "artifact": "a"})"))
                .find("s.json#/methods/0/artifact"),
            std::string::npos);
  EXPECT_NE(training_error(test::sweep_text(kLearner + R"(, "artifact": {"extractor": "a"}})"))
                .find("by role: 'adapter'"),
            std::string::npos);
  EXPECT_NE(training_error(test::sweep_text(kLearner + R"(, "artifact": "absent"})"))
                .find("there is no trained file 'absent'"),
            std::string::npos);
}

}  // namespace
}  // namespace qfs::plan

// Cutting a plan into shards: balance, what stays together, the manifest between plan and workers,
// and the scripts that run them.
#include "harness/plan/shards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/plan/emit.h"
#include "tests/support/golden.h"
#include "tests/support/plan_fakes.h"

namespace qfs::plan {
namespace {

using testing::HasSubstr;

Plan planned_shards(const std::string& text) {
  test::Planning planning;
  Result<Plan> plan = planning(text);
  if (!plan.ok()) {
    ADD_FAILURE() << plan.error().to_string();
    return {};
  }
  return *std::move(plan);
}

/// Eight cells of four lengths and two seeds.
Plan grid_plan() {
  return planned_shards(
      test::sweep_text(R"({"method": "zero_shot", "backbone": "small"})",
                       R"("grid": {"local_context": [8, 16, 32, 64]}, "seeds": [0, 1])"));
}

/// Two trainings; two cells wait for each.
Plan training_plan() {
  return planned_shards(test::sweep_text(R"({"method": "learner", "backbone": "small"})",
                                         R"("grid": {"max_words": [10, 20], "rank": [4, 8]})",
                                         R"({"name": "split"})"));
}

RemainingSeconds seconds(const Plan& plan, const std::vector<double>& of_cells) {
  RemainingSeconds left;
  for (double s : of_cells) left.cells.emplace_back(s);
  left.trainings.resize(plan.trainings.size());
  return left;
}

std::vector<double> loads(const std::vector<Shard>& shards) {
  std::vector<double> all;
  for (const Shard& shard : shards) all.push_back(shard.seconds);
  return all;
}

TEST(Shards, TheLongestCellsGoFirstToTheLeastLoaded) {
  const Plan plan = grid_plan();
  ASSERT_EQ(plan.cells.size(), 8u);
  const auto shards = cut_shards(plan, seconds(plan, {1, 9, 2, 7, 3, 5, 4, 5}), 3);
  EXPECT_THAT(loads(shards), testing::ElementsAre(12, 12, 12));
  EXPECT_THAT(shards.at(0).cells, testing::ElementsAre(1, 4));
}

TEST(Shards, WhatIsDoneIsInNone) {
  const Plan plan = grid_plan();
  RemainingSeconds left = seconds(plan, {1, 1, 1, 1, 1, 1, 1, 1});
  left.cells[2] = left.cells[5] = std::nullopt;
  std::multiset<size_t> all;
  for (const Shard& shard : cut_shards(plan, left, 4)) {
    all.insert(shard.cells.begin(), shard.cells.end());
  }
  EXPECT_THAT(all, testing::ElementsAre(0, 1, 3, 4, 6, 7));
}

TEST(Shards, NoneIsEmpty) {
  const Plan plan = grid_plan();
  EXPECT_EQ(cut_shards(plan, all_seconds(plan), 100).size(), 8u);
  RemainingSeconds left = all_seconds(plan);
  left.cells.assign(8, std::nullopt);
  EXPECT_TRUE(cut_shards(plan, left, 3).empty());
}

TEST(Shards, CellsGoWithTheTrainingThatTheyWaitFor) {
  const Plan plan = training_plan();
  ASSERT_EQ(plan.trainings.size(), 2u);
  const auto shards = cut_shards(plan, all_seconds(plan), 4);
  ASSERT_EQ(shards.size(), 2u);
  for (const Shard& shard : shards) {
    ASSERT_EQ(shard.trainings.size(), 1u);
    ASSERT_EQ(shard.cells.size(), 2u);
    for (size_t i : shard.cells) EXPECT_EQ(plan.cells[i].training, shard.trainings.front());
  }
}

TEST(Shards, TrainingsGoWithTheOneThatTheyBeginWith) {
  const Plan plan = planned_shards(test::sweep_text(
      R"({"method": "learner", "backbone": "small"},
         {"method": "learner", "backbone": "small", "label": "second",
          "training": {"train": {"name": "split", "split": "train"},
                       "init": {"adapter": {"row": "learner"}}}})",
      R"("seeds": [0, 1])", R"({"name": "split"})"));
  ASSERT_EQ(plan.trainings.size(), 4u);
  RemainingSeconds left = all_seconds(plan);
  const auto shards = cut_shards(plan, left, 4);
  ASSERT_EQ(shards.size(), 2u);
  for (const Shard& shard : shards) {
    EXPECT_EQ(shard.trainings.size(), 2u);
    EXPECT_EQ(shard.cells.size(), 2u);
  }
  // What it begins with is named in a part that has no cell of it.
  for (size_t i = 0; i < plan.cells.size(); ++i) {
    if (plan.cells[i].label != "second") continue;
    const Plan part = plan_of_cells(plan, std::vector{i});
    ASSERT_EQ(part.trainings.size(), 2u);
    const Cell& training = part.trainings.at(*part.cells[0].training).cell;
    EXPECT_EQ(part.trainings.at(*training.training).cell.id.hex(), training.origins.at("adapter"));
  }
}

TEST(Shards, CellsWhoseTrainingIsDoneAreFree) {
  const Plan plan = training_plan();
  RemainingSeconds left = all_seconds(plan);
  left.trainings[0] = std::nullopt;
  EXPECT_EQ(cut_shards(plan, left, 4).size(), 3u);
}

TEST(Shards, CellsOfOneIdStayTogether) {
  const Plan plan = planned_shards(test::sweep_text(
      R"({"method": "zero_shot", "backbone": "small"})", R"("grid": {"batch_size": [1, 2, 4]})"));
  ASSERT_EQ(plan.cells.size(), 3u);
  ASSERT_EQ(plan.cells[0].id, plan.cells[1].id) << "they differ in how they are computed only";
  EXPECT_EQ(cut_shards(plan, all_seconds(plan), 3).size(), 1u);
}

TEST(Shards, TheShardsPlanHasItsCellsAndTheTrainingsTheyRestOn) {
  const Plan plan = training_plan();
  const Shard shard{.cells = {1, 3}, .trainings = {}, .seconds = 0};
  const Plan part = plan_of_cells(plan, shard.cells);
  ASSERT_EQ(part.cells.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const Cell& cell = plan.cells[shard.cells[i]];
    EXPECT_EQ(part.cells[i].id, cell.id);
    EXPECT_EQ(part.cells[i].position, cell.position);
    EXPECT_EQ(part.trainings.at(*part.cells[i].training).cell.id,
              plan.trainings.at(*cell.training).cell.id);
  }
  EXPECT_EQ(part.datasets.size(), plan.datasets.size());
}

TEST(Shards, AManifestGivesEachWorkerItsShard) {
  const Plan plan = training_plan();
  const auto shards = cut_shards(plan, all_seconds(plan), 2);
  const std::string manifest = shard_manifest(plan, shards);
  EXPECT_EQ(shard_manifest(plan, cut_shards(plan, all_seconds(plan), 2)), manifest);
  for (size_t i = 0; i < 2; ++i) {
    const auto shard = shard_in_manifest(manifest, "m.json", plan, {i, 2});
    ASSERT_TRUE(shard.ok()) << shard.error().to_string();
    EXPECT_EQ(shard->cells, shards[i].cells);
    EXPECT_EQ(shard->trainings, shards[i].trainings);
  }
}

TEST(Shards, AManifestOfAnotherPlanIsRefused) {
  const Plan plan = grid_plan();
  const std::string manifest = shard_manifest(plan, cut_shards(plan, all_seconds(plan), 2));
  const auto error_of = [](const Result<Shard>& shard) {
    return shard.ok() ? "no error" : shard.error().to_string();
  };
  EXPECT_THAT(error_of(shard_in_manifest(manifest, "m.json", plan, {0, 3})),
              HasSubstr("m.json: the manifest has 2 shards, not 3"));
  Plan less = plan;
  less.cells.erase(less.cells.begin());
  EXPECT_THAT(error_of(shard_in_manifest(manifest, "m.json", less, {0, 2})) +
                  error_of(shard_in_manifest(manifest, "m.json", less, {1, 2})),
              HasSubstr("is none of this sweep as it is planned here"));
  Plan other = plan;
  other.experiment.name = "other";
  EXPECT_THAT(error_of(shard_in_manifest(manifest, "m.json", other, {0, 2})),
              HasSubstr("another sweep than 'other'"));
  for (const char* const text :
       {"", "[]", "{}", R"({"schema": 1})", R"({"schema": "qfs-bench/shards/2"})"}) {
    EXPECT_FALSE(shard_in_manifest(text, "m.json", plan, {0, 2}).ok()) << text;
  }
  for (const char* const list :
       {"[7, 7]", "[[], []]", R"([{}, {}])", R"([{"cells": 1}, {}])", R"([{"cells": [1]}, {}])"}) {
    const std::string text = R"({"schema": "qfs-bench/shards/1", "sweep": ")" +
                             plan.experiment.name + R"(", "shards": )" + list + "}";
    EXPECT_FALSE(shard_in_manifest(text, "m.json", plan, {0, 2}).ok()) << list;
  }
}

TEST(Shards, AShardIsWrittenAsItsNumberOfAll) {
  const auto number = parse_shard_number("2/8");
  ASSERT_TRUE(number.ok());
  EXPECT_EQ(number->index, 1u);
  EXPECT_EQ(number->count, 8u);
  for (const char* const text : {"", "2", "0/8", "9/8", "2/", "/8", "-1/8", "2/8x", "2/100001",
                                 "99999999999999999999/99999999999999999999"}) {
    EXPECT_FALSE(parse_shard_number(text).ok()) << text;
  }
}

EmitRequest sample_request(EmitKind kind) {
  EmitRequest request;
  request.kind = kind;
  request.sweep = "lc sweep";
  request.file = "experiments/lc sweep.json";
  request.options = {"--set", "backbone=it's", "--limit", "20"};
  request.manifest = "lc.sh.json";
  request.store = "stores/lc.sqlite";
  request.shards = {{.cells = {0, 2, 3}, .trainings = {0}, .seconds = 61},
                    {.cells = {1}, .trainings = {}, .seconds = 40}};
  request.measured = request.trained = true;
  return request;
}

TEST(Emit, ScriptsAreTheGoldenOnes) {
  const std::pair<EmitKind, const char*> kinds[] = {
      {EmitKind::shell, "shell"}, {EmitKind::parallel, "parallel"}, {EmitKind::slurm, "slurm"}};
  for (const auto& [kind, name] : kinds) {
    test::expect_golden(std::string("tests/golden/plan/") + name + ".txt",
                        emitted_script(sample_request(kind)));
  }
}

TEST(Emit, NoNameEndsACommentOrAWord) {
  EmitRequest request = sample_request(EmitKind::shell);
  request.sweep = "a\nrm -rf /";
  request.file = "$(rm -rf /)`rm`.json";
  const std::string script = emitted_script(request);
  EXPECT_THAT(script, testing::Not(HasSubstr("\nrm")));
  EXPECT_THAT(script, HasSubstr("'$(rm -rf /)`rm`.json'"));
}

}  // namespace
}  // namespace qfs::plan

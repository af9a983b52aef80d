// Which cells a sweep has: grid, zip, include, exclude, seeds, data sets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/plan/param_values.h"
#include "tests/support/plan_fakes.h"

namespace qfs::plan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// "label name=value …" of every cell for the parameters named, sorted.
std::vector<std::string> cells(const std::string& sweep, const std::vector<std::string>& names) {
  test::Planning planning;
  const Result<Plan> plan = planning(sweep);
  if (!plan.ok()) {
    ADD_FAILURE() << plan.error().to_string();
    return {};
  }
  std::vector<std::string> lines;
  for (const Cell& cell : plan->cells) {
    std::string line = cell.label;
    for (const std::string& name : names) {
      if (name == "seed") {
        line.append(" ").append(std::to_string(cell.seed));
      } else if (name == "dataset") {
        line.append(" ").append(plan->datasets[cell.dataset].name);
      } else if (cell.params.has(name)) {
        line.append(" ").append(value_text(cell.params.values().find(name)->second));
      }
    }
    lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

const std::string kLead = R"({"method": "lead"})";
const std::string kRandom = R"({"method": "random"})";

TEST(Expansion, GridKeyAppliesToTheMethodsThatHaveIt) {
  EXPECT_THAT(
      cells(test::sweep_text(kLead + "," + kRandom, R"("grid": {"local_context": [128, 256]})"),
            {"local_context"}),
      ElementsAre("lead 128", "lead 256", "random"));
}

TEST(Expansion, TwoAxesMultiply) {
  EXPECT_THAT(cells(test::sweep_text(
                        kLead, R"("grid": {"local_context": [128, 256], "max_words": [5, 9]})"),
                    {"local_context", "max_words"}),
              ElementsAre("lead 128 5", "lead 128 9", "lead 256 5", "lead 256 9"));
}

TEST(Expansion, ZippedAxesAdvanceTogether) {
  EXPECT_THAT(
      cells(test::sweep_text(kLead + "," + kRandom,
                             R"("zip": [{"local_context": [128, 256], "max_words": [5, 9]}])"),
            {"local_context", "max_words"}),
      ElementsAre("lead 128 5", "lead 256 9", "random 5", "random 9"));
}

TEST(Expansion, SeedsAndDataSetsMultiply) {
  EXPECT_THAT(cells(test::sweep_text(kRandom, R"("seeds": [1, 2])",
                                     R"({"name": "tiny"}, {"name": "other"})"),
                    {"dataset", "seed"}),
              ElementsAre("random other 1", "random other 2", "random tiny 1", "random tiny 2"));
}

TEST(Expansion, DefaultsAreWrittenOut) {
  EXPECT_THAT(cells(test::sweep_text(kRandom), {"max_words"}), ElementsAre("random 100"));
}

TEST(Expansion, ParameterWithoutValueAndDefaultIsLeftOut) {
  test::Planning planning;
  const Result<Plan> plan = planning(test::sweep_text(kLead));
  ASSERT_TRUE(plan.ok());
  EXPECT_FALSE(plan->cells[0].params.has("local_context"));
}

TEST(Expansion, IntegerIsARealNumberWhereOneIsWanted) {
  test::Planning planning;
  const Result<Plan> plan = planning(
      test::sweep_text(R"({"method": "zero_shot", "backbone": "small", "temperature": 1})"));
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  EXPECT_EQ(plan->cells[0].params.get<double>("temperature"), 1.0);
}

TEST(Exclude, RemovesCellsThatMeetEveryCondition) {
  const std::string grid = R"("grid": {"local_context": [128, 256]}, "seeds": [0, 1], )";
  EXPECT_THAT(
      cells(test::sweep_text(kLead, grid + R"("exclude": [{"local_context": 256, "seed": 1}])"),
            {"local_context", "seed"}),
      ElementsAre("lead 128 0", "lead 128 1", "lead 256 0"));
}

TEST(Exclude, SeesMethodsLabelsDataSetsAndDefaults) {
  const std::string methods = kLead + R"(, {"method": "lead", "label": "short", "max_words": 5})";
  const std::string both = R"({"name": "tiny"}, {"name": "other"})";
  EXPECT_THAT(cells(test::sweep_text(
                        methods, R"("exclude": [{"label": "short", "dataset": "other"}])", both),
                    {"dataset"}),
              ElementsAre("lead other", "lead tiny", "short tiny"));
  EXPECT_THAT(
      cells(test::sweep_text(methods, R"("exclude": [{"method": "lead", "max_words": 100}])", both),
            {"dataset"}),
      ElementsAre("short other", "short tiny"));
}

TEST(Include, AddsACombinationOutsideTheGrid) {
  EXPECT_THAT(cells(test::sweep_text(kLead + "," + kRandom, R"("grid": {"local_context": [128]},
                        "include": [{"method": "lead", "local_context": 4096, "max_words": 7}])"),
                    {"local_context", "max_words"}),
              ElementsAre("lead 128 100", "lead 4096 7", "random 100"));
}

TEST(Include, WithoutAMethodIsForThoseThatHaveItsParameters) {
  EXPECT_THAT(
      cells(test::sweep_text(kLead + "," + kRandom, R"("include": [{"local_context": 500}])"),
            {"local_context"}),
      ElementsAre("lead", "lead 500", "random"));
}

TEST(Include, TakesSeedAndDataSetOfTheRule) {
  EXPECT_THAT(cells(test::sweep_text(kRandom, R"("include": [{"dataset": "other", "seed": 7}])",
                                     R"({"name": "tiny"}, {"name": "other"})"),
                    {"dataset", "seed"}),
              ElementsAre("random other 0", "random other 7", "random tiny 0"));
}

TEST(Include, IsNeverExcluded) {
  EXPECT_THAT(cells(test::sweep_text(kLead, R"("grid": {"local_context": [128, 256]},
                        "exclude": [{"local_context": 256}],
                        "include": [{"local_context": 256, "max_words": 3}])"),
                    {"local_context", "max_words"}),
              ElementsAre("lead 128 100", "lead 256 3"));
}

TEST(Duplicates, RunOnceAndAreNoted) {
  test::Planning planning;
  const Result<Plan> plan =
      planning(test::sweep_text(kLead + R"(, {"method": "lead", "label": "again"})"));
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->cells.size(), 1u);
  EXPECT_THAT(plan->notes,
              ElementsAre("1 cell of 'again' would repeat cells of 'lead' and is left out"));
}

TEST(Duplicates, CellsThatDifferInHowTheyAreComputedStayApart) {
  test::Planning planning;
  const Result<Plan> plan = planning(test::sweep_text(
      R"({"method": "zero_shot", "backbone": "small"})", R"("grid": {"batch_size": [1, 4]})"));
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan->cells.size(), 2u);
  EXPECT_EQ(plan->cells[0].id, plan->cells[1].id);
  EXPECT_THAT(plan->notes, IsEmpty());
}

}  // namespace
}  // namespace qfs::plan

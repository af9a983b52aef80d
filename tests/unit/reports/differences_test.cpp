// What the picture of paired differences says, and its bytes.
#include "reports/figures/differences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/writers/svg.h"
#include "tests/support/golden.h"
#include "tests/unit/store/sample_rows.h"

namespace qfs::reports {
namespace {

using compare::ComparedColumn;
using compare::Comparison;
using test::value_of;

ComparedColumn column(const std::string& name, Better better, double difference, double p) {
  ComparedColumn column;
  column.name = name;
  column.better = better;
  column.difference = {difference, {difference - 0.01, difference + 0.015, 24}};
  column.p_holm = p;
  column.higher = 14;
  column.equal = 3;
  column.lower = 7;
  return column;
}

Comparison comparison(const std::string& cell) {
  Comparison comparison;
  comparison.cell = cell;
  comparison.a = "before.sqlite";
  comparison.b = "after.sqlite";
  comparison.signature = "rouge|stem:porter";
  return comparison;
}

compare::Outcome outcome() {
  compare::Outcome outcome;
  Comparison first = comparison("method=lead, local_context=256");
  first.columns = {column("rouge1.f", Better::higher, 0.021, 0.003),
                   column("length", Better::unknown, -1.5, 0.01)};
  Comparison second =
      comparison("method=<b>&bm25, local_context=256, and a name beyond the margin");
  second.columns = {column("rouge1.f", Better::higher, -0.034, 0.02),
                    column("length", Better::unknown, 0.25, 0.4)};
  second.columns[0].decision.emplace();
  second.columns[0].decision->margin.size = 0.01;
  Comparison third = comparison("method=oracle");
  third.unit = "item";
  third.columns = {column("rouge1.f", Better::higher, 0.004, 0.3)};
  third.columns[0].difference.interval.clusters = 4;
  outcome.comparisons = {first, second, third};
  return outcome;
}

TEST(Differences, OfADescriptionAreNeitherBetterNorWorse) {
  compare::Outcome one = outcome();
  one.comparisons.resize(1);
  one.comparisons[0].columns[1].better = Better::neither;
  one.comparisons[0].columns[1].decision.emplace();
  const Differences differences = value_of(differences_of(one));
  EXPECT_EQ(differences.panels.at(1).lines[0].kind, DifferenceKind::differs);
  EXPECT_FALSE(differences.panels.at(1).lines[0].margin);
}

TEST(Differences, OfTwoMetricsWithOneColumnHavePanelsOfTheirOwn) {
  compare::Outcome two = outcome();
  two.comparisons[0].metric = "rouge";
  two.comparisons[1].metric = two.comparisons[2].metric = "rouge:stem=off";
  const Differences differences = value_of(differences_of(two));
  EXPECT_EQ(differences.panels.at(0).title, "rouge1.f × 100, rouge");
  EXPECT_EQ(differences.panels.at(0).lines.size(), 1U);
  EXPECT_EQ(differences.panels.at(2).title, "rouge1.f × 100, rouge:stem=off");
}

TEST(Differences, AreOnTheScaleOfTablesByColumn) {
  const Differences differences = value_of(differences_of(outcome()));
  EXPECT_EQ(differences.title, "after.sqlite minus before.sqlite");
  ASSERT_EQ(differences.panels.size(), 2U);
  EXPECT_EQ(differences.panels[0].title, "rouge1.f × 100");
  ASSERT_EQ(differences.panels[0].lines.size(), 3U);
  const DifferenceLine& loss = differences.panels[0].lines[1];
  EXPECT_DOUBLE_EQ(loss.difference, -3.4);
  EXPECT_DOUBLE_EQ(loss.interval->low, -4.4);
  EXPECT_DOUBLE_EQ(*loss.margin, -1);
  EXPECT_EQ(loss.kind, DifferenceKind::worse);
  EXPECT_EQ(differences.panels[0].lines[0].kind, DifferenceKind::better);
  EXPECT_EQ(differences.panels[0].lines[2].kind, DifferenceKind::not_shown);
  EXPECT_FALSE(differences.panels[0].lines[2].interval) << "four clusters have none";
  EXPECT_EQ(differences.panels[1].title, "length");
  EXPECT_DOUBLE_EQ(differences.panels[1].lines[0].difference, -1.5);
  EXPECT_EQ(differences.panels[1].lines[0].kind, DifferenceKind::differs);
  EXPECT_THAT(differences.notes, testing::Contains(testing::StartsWith("No bar: fewer than 10 ")));
  EXPECT_THAT(differences.signature, testing::HasSubstr("rouge|stem:porter"));
}

TEST(Differences, LessIsBetterTurnsLossAndMargin) {
  compare::Outcome one;
  one.comparisons = {comparison("")};
  one.comparisons[0].columns = {column("repetition", Better::lower, 0.05, 0.001)};
  one.comparisons[0].columns[0].decision.emplace();
  one.comparisons[0].columns[0].decision->margin.size = 0.02;
  const Differences differences = value_of(differences_of(one));
  const DifferenceLine& line = differences.panels.at(0).lines.at(0);
  EXPECT_EQ(line.name, "after.sqlite");
  EXPECT_EQ(line.kind, DifferenceKind::worse);
  EXPECT_GT(*line.margin, 0);
}

TEST(Differences, NothingAndTooManyAreRefused) {
  EXPECT_THAT(differences_of({}).error().message, testing::HasSubstr("nothing was compared"));
  compare::Outcome many;
  for (size_t i = 0; i <= kMostDifferences; ++i) {
    many.comparisons.push_back(comparison("cell " + std::to_string(i)));
    many.comparisons.back().columns = {column("rouge1.f", Better::higher, 0, 1)};
  }
  const auto refused = differences_of(many);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::invalid_argument);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("401 differences"));
}

TEST(Differences, SvgIsTheSameBytes) {
  const std::string svg = write_svg(value_of(differences_of(outcome())));
  test::expect_golden("tests/golden/reports/differences.svg", svg);
  EXPECT_EQ(svg, write_svg(value_of(differences_of(outcome()))));
  EXPECT_EQ(svg.find("<b>"), std::string::npos) << "names are text";
}

}  // namespace
}  // namespace qfs::reports

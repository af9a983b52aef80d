// What nothing else beats: which cells are on a front, and how it is drawn.
#include "reports/figures/front.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>
#include <utility>
#include <vector>

#include "reports/writers/svg.h"
#include "tests/unit/store/sample_rows.h"

namespace qfs::reports {
namespace {

using test::value_of;

struct Made {
  std::string method;
  double score = 0;
  double memory = 0;
  bool oracle = false;
};

Table table_of(const std::vector<Made>& made) {
  Table table;
  table.name = "demo";
  table.row_axes = {"method"};
  table.columns = {{}};
  table.values = {{"rouge1.f", "rouge1.f × 100", ValueGroup::quality, 100},
                  {"peak_memory", "MiB", ValueGroup::performance, 1, 0}};
  table.values[0].better = Better::higher;
  table.values[1].better = Better::lower;
  for (const Made& row : made) {
    table.rows.push_back({{row.method}});
    for (const double number : {row.score, row.memory}) {
      TableCell& cell = table.cells.emplace_back();
      cell.status = CellStatus::ok;
      cell.value = number;
      cell.oracle = row.oracle;
      cell.comparable = "one machine";
    }
  }
  return table;
}

std::vector<std::string> best_of(const Front& front) {
  std::vector<std::string> names;
  for (const FrontPoint& point : front.panels.at(0).points) {
    if (point.best) names.push_back(front.series.at(point.series));
  }
  return names;
}

TEST(Front, HasWhatNothingElseBeatsInBoth) {
  const Front front = value_of(fronts_of(table_of(
      {{"small", 0.2, 10}, {"wasteful", 0.2, 20}, {"worse", 0.1, 10}, {"large", 0.4, 50}})));
  ASSERT_EQ(front.panels.size(), 1U);
  EXPECT_EQ(front.panels[0].x_title, "MiB");
  EXPECT_EQ(front.panels[0].y_title, "rouge1.f × 100");
  EXPECT_EQ(best_of(front), (std::vector<std::string>{"small", "large"}));
}

TEST(Front, EqualsAreBothOnIt) {
  EXPECT_EQ(best_of(value_of(fronts_of(table_of({{"a", 0.2, 10}, {"b", 0.2, 10}})))),
            (std::vector<std::string>{"a", "b"}));
}

TEST(Front, OraclesAreDrawnAndDoNotCompete) {
  const Front front = value_of(fronts_of(table_of({{"oracle", 0.9, 5, true}, {"lead", 0.2, 10}})));
  EXPECT_EQ(front.panels[0].points.size(), 2U);
  EXPECT_EQ(best_of(front), std::vector<std::string>{"lead"});
}

TEST(Front, NumbersThatAreNotComparableDoNotCompete) {
  Table table = table_of({{"here", 0.2, 10}, {"there", 0.4, 5}, {"nowhere", 0.9, 1}});
  table.cells[3].comparable = "another machine";
  table.cells[5].comparable = "";
  const Front front = value_of(fronts_of(table));
  EXPECT_EQ(best_of(front), (std::vector<std::string>{"here", "there"}));
  EXPECT_NE(front.notes[1].find("do not compete"), std::string::npos) << front.notes[1];
  EXPECT_EQ(write_svg(front).find("stroke-dasharray=\"4 3\""), std::string::npos)
      << "no line joins the two";
}

TEST(Front, BarsSayWhatTheyAre) {
  Table table = table_of({{"lead", 0.2, 10}, {"random", 0.1, 10}});
  EXPECT_EQ(value_of(fronts_of(table)).notes.size(), 1U);
  table.cells[2].seeds = {{"0", 0.05, {}}, {"1", 0.15, {}}};
  table.cells[2].deviation = 0.05;
  table.cells[1].spread = Spread{9, 12, SpreadKind::repetitions};
  const Front front = value_of(fronts_of(table));
  EXPECT_EQ(front.notes.at(1),
            "bars: mean ± standard deviation of the seeds; smallest to largest of the repetitions");
  EXPECT_DOUBLE_EQ(front.panels[0].points[1].y_spread->low, 5);
}

TEST(Front, MoreIsBetterWhereTheValueSaysSo) {
  Table table = table_of({{"slow", 0.4, 10}, {"fast", 0.2, 90}, {"neither", 0.2, 50}});
  table.values[1].better = Better::higher;
  EXPECT_EQ(best_of(value_of(fronts_of(table))), (std::vector<std::string>{"slow", "fast"}));
}

TEST(Front, CellsWithoutOneOfTheTwoAreLeftOut) {
  Table table = table_of({{"lead", 0.2, 10}, {"oom", 0.9, 1}});
  table.cells[3] = {.status = CellStatus::oom};
  EXPECT_EQ(value_of(fronts_of(table)).panels[0].points.size(), 1U);
}

TEST(Front, RowsWithoutPointsAreNamedAndOraclesWhereTheyAreDrawn) {
  Table table = table_of({{"lead", 0.2, 10}, {"oracle", 0.9, 1, true}, {"oom", 0.9, 1}});
  table.cells[3] = {.status = CellStatus::not_reported};
  table.cells[5] = {.status = CellStatus::oom};
  const Front front = value_of(fronts_of(table));
  ASSERT_EQ(front.notes.size(), 2U);
  EXPECT_EQ(front.notes[1].find("not drawn, for want of a value: oracle"), 0U) << front.notes[1];
  EXPECT_NE(front.notes[1].find("; oom"), std::string::npos);
}

TEST(Front, ATableOfScoresAloneIsRefusedWithWhatItNeeds) {
  Table table = table_of({{"lead", 0.2, 10}});
  table.values[1].group = ValueGroup::quality;
  const Result<Front> front = fronts_of(table);
  ASSERT_FALSE(front.ok());
  EXPECT_NE(front.error().message.find("--values rouge1.f,peak_memory"), std::string::npos);
}

TEST(FrontSvg, EveryRowHasAMarkerOfItsOwn) {
  std::vector<Made> made;
  for (int i = 0; i < 24; ++i) made.push_back({"row " + std::to_string(i), 0.01 * i, 10.0 + i});
  const std::string svg = write_svg(value_of(fronts_of(table_of(made))));
  // A legend's marker: its shape and its colour.
  std::set<std::string> markers;
  const std::regex drawn(
      "\n<(circle|rect|polygon points=\"([^ ]+ ){2,3}[^ \"]*\")[^>]*class=\"(f\\d)\"/>");
  for (std::sregex_iterator it(svg.begin(), svg.end(), drawn), end; it != end; ++it) {
    const std::string shape = (*it)[1].str();
    const auto corners = std::count(shape.begin(), shape.end(), ',');
    markers.insert(shape.substr(0, 4) + std::to_string(corners) + (*it)[3].str());
  }
  EXPECT_EQ(markers.size(), 24U);
}

TEST(FrontSvg, TheLineGoesInStepsThatSomethingReaches) {
  const auto path = [](Better better) {
    Table table = table_of({{"a", 0.2, 10}, {"b", 0.4, 50}});
    if (better == Better::higher) std::swap(table.cells[0], table.cells[2]);
    table.values[1].better = better;
    const std::string svg = write_svg(value_of(fronts_of(table)));
    std::smatch found;
    std::regex_search(svg, found, std::regex("stroke-dasharray=\"4 3\" d=\"([^\"]+)\""));
    return std::regex_replace(found[1].str(), std::regex("[0-9. ]"), "");
  };
  EXPECT_EQ(path(Better::lower), "MHV");   // with more memory nothing better until the next
  EXPECT_EQ(path(Better::higher), "MVH");  // at more speed no more than the next
}

TEST(FrontSvg, LabelsAreDrawnAndDoNotLieOnOneAnother) {
  Front front = value_of(fronts_of(
      table_of({{"a", 0.2, 10}, {"b", 0.201, 10.1}, {"c", 0.202, 10.2}, {"d", 0.4, 50}})));
  for (FrontPoint& point : front.panels.at(0).points) point.label = "label";
  const std::string svg = write_svg(front);
  std::vector<std::pair<double, double>> middles;
  const std::regex drawn("<text x=\"([^\"]+)\" y=\"([^\"]+)\"[^>]*>label</text>");
  for (std::sregex_iterator it(svg.begin(), svg.end(), drawn), end; it != end; ++it) {
    middles.emplace_back(std::stod((*it)[1].str()), std::stod((*it)[2].str()));
  }
  ASSERT_GE(middles.size(), 2U) << "one that has no room is left out, never all";
  for (size_t i = 0; i < middles.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const bool beside = std::abs(middles[i].first - middles[j].first) > 30;
      const bool below = std::abs(middles[i].second - middles[j].second) > 11;
      EXPECT_TRUE(beside || below) << i << " and " << j;
    }
  }
}

}  // namespace
}  // namespace qfs::reports

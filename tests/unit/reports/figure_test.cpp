// Which axis of a table a figure has, what becomes a line, and how it is drawn.
#include "reports/figures/figure.h"

#include <gtest/gtest.h>

#include <regex>

#include "reports/writers/svg.h"
#include "tests/unit/store/sample_rows.h"

namespace qfs::reports {
namespace {

using test::value_of;

TableCell number(double value) {
  TableCell cell;
  cell.status = CellStatus::ok;
  cell.value = value;
  return cell;
}

/// Methods by local_context; cells are 0.1, 0.2, … in reading order.
Table table_of(const std::vector<std::string>& methods, const std::vector<std::string>& contexts) {
  Table table;
  table.name = "demo";
  table.row_axes = {"method"};
  table.column_axes = {"local_context"};
  for (const std::string& method : methods) table.rows.push_back({{method}, false});
  for (const std::string& context : contexts) table.columns.push_back({{context}, false});
  table.values = {{"rouge1.f", "rouge1.f × 100", ValueGroup::quality, 100}};
  for (size_t i = 0; i < methods.size() * contexts.size(); ++i) {
    table.cells.push_back(number(0.1 * static_cast<double>(i + 1)));
  }
  return table;
}

size_t count(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  return static_cast<size_t>(std::distance(
      std::sregex_iterator(text.begin(), text.end(), expression), std::sregex_iterator()));
}

TEST(Figure, HasALineARowOverTheNumbersOfAnAxis) {
  const Figure figure = value_of(curves_of(table_of({"lead", "bm25"}, {"256", "1024"})));
  EXPECT_EQ(figure.axis, "local_context");
  EXPECT_EQ(figure.xs, (std::vector<double>{256, 1024}));
  ASSERT_EQ(figure.series.size(), 2U);
  EXPECT_EQ(figure.series[1].name, "bm25");
  ASSERT_EQ(figure.panels.size(), 1U);
  const FigureLine& line = figure.panels[0].lines.at(1);
  ASSERT_EQ(line.points.size(), 2U);
  EXPECT_EQ(line.points[0].x, 256);
  EXPECT_DOUBLE_EQ(*line.points[0].y, 30);
}

TEST(Figure, ARowWithoutTheAxisIsAConstant) {
  Table table = table_of({"256", "512", ""}, {"a"});
  table.row_axes = {"local_context"};
  table.column_axes = {"method"};
  const Figure figure = value_of(curves_of(table));
  ASSERT_EQ(figure.panels.at(0).lines.size(), 1U);
  EXPECT_EQ(figure.panels[0].lines[0].points.size(), 2U);
  EXPECT_DOUBLE_EQ(*figure.panels[0].lines[0].constant, 30);
}

TEST(Figure, ARowWithoutTheAxisAndWithoutANumberSaysWhy) {
  Table table = table_of({"256", "512", ""}, {"a"});
  table.row_axes = {"local_context"};
  table.column_axes = {"method"};
  table.cells[2] = {.status = CellStatus::failed, .detail = "method error"};
  const Figure figure = value_of(curves_of(table));
  EXPECT_EQ(figure.panels[0].lines.at(0).trouble, "failed (method error)");
  EXPECT_NE(write_svg(figure).find("× a: failed (method error)"), std::string::npos);
}

TEST(Figure, DataSetsHavePanelsOfTheirOwn) {
  Table table = table_of({"mini", "full"}, {"1", "2"});
  table.row_axes = {"dataset"};
  const Figure figure = value_of(curves_of(table));
  ASSERT_EQ(figure.panels.size(), 2U);
  EXPECT_EQ(figure.panels[1].title, "rouge1.f × 100, full");
}

TEST(Figure, SeedsAreNoAxis) {
  Table table = table_of({"lead"}, {"1", "2"});
  table.column_axes = {"seed"};
  const Result<Figure> figure = curves_of(table);
  ASSERT_FALSE(figure.ok());
  EXPECT_EQ(figure.error().kind, ErrorKind::invalid_argument);
  EXPECT_NE(figure.error().message.find("method, seed"), std::string::npos);
}

TEST(Figure, MoreLinesThanCanBeToldApartAreRefused) {
  std::vector<std::string> methods;
  for (size_t i = 0; i <= kMostLines; ++i) methods.push_back("m" + std::to_string(i));
  EXPECT_FALSE(curves_of(table_of(methods, {"1", "2"})).ok());
  methods.pop_back();
  EXPECT_TRUE(curves_of(table_of(methods, {"1", "2"})).ok());
}

TEST(Svg, ALineBreaksWhereACellHasNoNumber) {
  Table table = table_of({"lead"}, {"1", "2", "3", "4", "5"});
  table.cells[2] = {.status = CellStatus::oom};
  const std::string svg = write_svg(value_of(curves_of(table)));
  EXPECT_EQ(count(svg, "class=\"line c0\" d=\"M[0-9. ]+L[0-9. ]+M[0-9. ]+L[0-9. ]+\""), 1U);
  EXPECT_EQ(count(svg, "× lead at 3: OOM"), 1U);
}

TEST(Svg, NumbersThatSpanAFactorOfEightAreLogarithmic) {
  const auto ticks = [](const std::vector<std::string>& contexts) {
    const std::string svg = write_svg(value_of(curves_of(table_of({"lead"}, contexts))));
    std::vector<double> places;
    const std::regex tick("<path class=\"rule\" d=\"M([0-9.]+) [0-9.]+v4\"/>");
    for (std::sregex_iterator i(svg.begin(), svg.end(), tick), end; i != end; ++i) {
      places.push_back(std::stod((*i)[1]));
    }
    return places;
  };
  const std::vector<double> far = ticks({"256", "512", "4096"});
  EXPECT_NEAR((far.at(1) - far.at(0)) / (far.at(2) - far.at(0)), 0.25, 1e-3);
  const std::vector<double> near = ticks({"1", "2", "7"});
  EXPECT_NEAR((near.at(1) - near.at(0)) / (near.at(2) - near.at(0)), 1.0 / 6, 1e-3);
  const std::vector<double> zero = ticks({"0", "2", "64"});  // has no logarithm
  EXPECT_NEAR((zero.at(1) - zero.at(0)) / (zero.at(2) - zero.at(0)), 1.0 / 32, 1e-3);
}

TEST(Svg, LongNamesAreCutAtWholeCharacters) {
  std::string name;
  for (int i = 0; i < 40; ++i) name += "会";
  const std::string svg = write_svg(value_of(curves_of(table_of({name}, {"1", "2"}))));
  EXPECT_EQ(count(svg, "(会){31}…<"), 1U);
  EXPECT_EQ(count(svg, "<title>" + name + "</title>"), 1U);
}

TEST(Svg, EqualValuesAndNoValuesAreDrawn) {
  Table table = table_of({"lead"}, {"1", "2"});
  table.cells[1] = table.cells[0];
  EXPECT_EQ(write_svg(value_of(curves_of(table))).find("nan"), std::string::npos);
  for (TableCell& cell : table.cells) cell = {.status = CellStatus::failed};
  EXPECT_EQ(write_svg(value_of(curves_of(table))).find("nan"), std::string::npos);
}

}  // namespace
}  // namespace qfs::reports

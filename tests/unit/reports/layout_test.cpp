// Where cells go: order of labels, and no two cells in one place.
#include "reports/layout.h"

#include <gtest/gtest.h>

namespace qfs::reports {
namespace {

PlaceFacts place(std::map<std::string, std::string, std::less<>> dimensions) {
  PlaceFacts facts;
  facts.dimensions = std::move(dimensions);
  facts.dimensions.try_emplace("method", "lead");
  facts.dimensions.try_emplace("dataset", "demo");
  facts.dimensions.try_emplace("seed", "0");
  return facts;
}

TableSettings settings(std::vector<std::string> rows, std::vector<std::string> columns = {}) {
  TableSettings settings;
  settings.rows = std::move(rows);
  settings.columns = std::move(columns);
  return settings;
}

using Labels = std::vector<std::vector<std::string>>;

TEST(Layout, NumbersAscendAndNamesKeepTheSweepsOrder) {
  const std::vector<PlaceFacts> places = {
      place({{"method", "zebra"}, {"size", "1024"}}), place({{"method", "ant"}, {"size", "128"}}),
      place({{"method", "zebra"}, {"size", "128"}}), place({{"method", "ant"}, {"size", "1024"}})};
  const auto layout = arrange(places, settings({"method"}, {"size"}));
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->rows, (Labels{{"zebra"}, {"ant"}}));
  EXPECT_EQ(layout->columns, (Labels{{"128"}, {"1024"}}));
  EXPECT_EQ(layout->slots[0].column, 1U);
  EXPECT_EQ(layout->slots[1].row, 1U);
}

TEST(Layout, OnlyTheSeedIsNoRowAxisUnlessItIsAskedFor) {
  const std::vector<PlaceFacts> places = {place({{"seed", "0"}, {"size", "1"}}),
                                          place({{"seed", "1"}, {"size", "1"}}),
                                          place({{"seed", "1"}, {"size", "2"}})};
  const auto layout = arrange(places, settings({"method"}));
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->row_axes, (std::vector<std::string>{"method", "size"}));
  EXPECT_EQ(layout->slots[0], layout->slots[1]);
  EXPECT_EQ(layout->slots[2].row, 1U);
  EXPECT_EQ(arrange(places, settings({"method", "seed"}))->rows.size(), places.size());
}

TEST(Layout, TwoCellsOfOneSeedAreNeverAveraged) {
  const std::vector<PlaceFacts> places = {place({{"seed", "0"}, {"cell", "a"}}),
                                          place({{"seed", "0"}, {"cell", "b"}}),
                                          place({{"seed", "1"}, {"cell", "c"}})};
  EXPECT_EQ(arrange(places, settings({"method"}))->row_axes,
            (std::vector<std::string>{"method", "cell"}));
}

TEST(Layout, ValuesStandSideBySideWhereTheyAreNamedOrNoAxisIs) {
  const std::vector<PlaceFacts> places = {place({{"size", "5"}})};
  EXPECT_EQ(arrange(places, settings({"method"}, {"size"}))->values_level, std::nullopt);
  EXPECT_EQ(arrange(places, settings({"method"}))->values_level, 0U);
  EXPECT_EQ(arrange(places, settings({"method"}, {"values"}))->values_level, 0U);
  const auto below = arrange(places, settings({"method"}, {"size", "values"}));
  EXPECT_EQ(below->values_level, 1U);
  EXPECT_EQ(below->column_axes, std::vector<std::string>{"size"});
  EXPECT_FALSE(arrange(places, settings({"values"})));
}

TEST(Layout, ADimensionThatDiffersBetweenRowsOnlyIsNotAdded) {
  const std::vector<PlaceFacts> places = {place({{"method", "a"}, {"words", "100"}}),
                                          place({{"method", "b"}, {"words", "200"}})};
  EXPECT_EQ(arrange(places, settings({"method"}))->row_axes, std::vector<std::string>{"method"});
}

TEST(Layout, ACellWithoutTheColumnAxisComesFirst) {
  const std::vector<PlaceFacts> places = {place({{"method", "a"}, {"size", "5"}}),
                                          place({{"method", "b"}})};
  EXPECT_EQ(arrange(places, settings({"method"}, {"size"}))->columns, (Labels{{""}, {"5"}}));
}

TEST(Layout, AnUnknownAxisNamesTheNearest) {
  const std::vector<PlaceFacts> places = {place({{"local_context", "5"}})};
  const auto layout = arrange(places, settings({"method"}, {"local_contxt"}));
  ASSERT_FALSE(layout);
  EXPECT_EQ(layout.error().kind, ErrorKind::invalid_argument);
  EXPECT_NE(layout.error().message.find("did you mean 'local_context'?"), std::string::npos);
}

TEST(Layout, AnAxisNamedTwiceIsRefused) {
  const std::vector<PlaceFacts> places = {place({})};
  EXPECT_FALSE(arrange(places, settings({"method"}, {"method"})));
}

}  // namespace
}  // namespace qfs::reports

// read_options: types, precedence and messages, on a declaration made for the test.
#include "metrics/option_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace qfs::metrics {
namespace {

using testing::HasSubstr;

std::vector<MetricOption> declared() {
  MetricOption order{"order", MetricOption::Type::integer, {}, "6", "n-gram length", 1, 9};
  MetricOption beta{"beta", MetricOption::Type::real, {}, "2", "weight of recall"};
  MetricOption words{"words", MetricOption::Type::text, {"FILE"}, "", "word list"};
  return {flag_option("fold", false, "case"), order, beta, words};
}

std::string error_of(std::string_view given) {
  const auto values = read_options(declared(), "", given, "m:" + std::string(given));
  return values.ok() ? "no error" : values.error().message;
}

TEST(OptionParser, DefaultsThenPresetThenUser) {
  const auto values = read_options(declared(), "order=3,fold=on", "order=4", "m");
  ASSERT_TRUE(values.ok());
  EXPECT_EQ(values->integer("order"), 4);
  EXPECT_TRUE(values->on("fold"));
  EXPECT_EQ(values->real("beta"), 2.0);
  EXPECT_EQ(values->text("words"), "");
}

TEST(OptionParser, AnEscapedCommaBelongsToTheValue) {
  const auto values = read_options(declared(), "", R"(words=a\,b.txt,order=2)", "m");
  ASSERT_TRUE(values.ok());
  EXPECT_EQ(values->text("words"), "a,b.txt");
  EXPECT_EQ(values->integer("order"), 2);
}

TEST(OptionParser, ValuesAreCheckedAgainstTheirType) {
  EXPECT_THAT(error_of("order=10"),
              HasSubstr("order is '10', expected a whole number from 1 to 9"));
  EXPECT_THAT(error_of("order=2x"), HasSubstr("expected a whole number"));
  EXPECT_THAT(error_of("beta=nan"), HasSubstr("expected a number"));
  EXPECT_THAT(error_of("fold=onn"), HasSubstr("expected on or off (did you mean 'on'?)"));
  EXPECT_THAT(error_of("odrer=2"), HasSubstr("unknown option 'odrer' (did you mean 'order'?)"));
}

TEST(OptionParser, AMetricWithoutOptionsSaysSo) {
  const auto values = read_options({}, "", "a=b", "m:a=b");
  ASSERT_FALSE(values.ok());
  EXPECT_THAT(values.error().message, HasSubstr("unknown option 'a' (it has none)"));
}

}  // namespace
}  // namespace qfs::metrics

// Printed numbers, and verdicts that never round in the paper's favour.
#include "harness/claims/printed.h"

#include <gtest/gtest.h>

#include "harness/claims/verdict.h"

namespace qfs::claims {
namespace {

Printed printed(const std::string& text) {
  const Result<Printed> number = parse_printed(text);
  EXPECT_TRUE(number.ok()) << text;
  return number.ok() ? *number : Printed{};
}

Measured measured(double value) { return {.value = value}; }

Measured measured(double value, double low, double high) {
  Measured own = measured(value);
  own.interval = Bounds{low, high};
  return own;
}

TEST(Printed, ReadsDigitsAsPapersWriteThem) {
  EXPECT_DOUBLE_EQ(printed("22.17").value, 22.17);
  EXPECT_DOUBLE_EQ(printed("22.17").half_unit, 0.005);
  EXPECT_DOUBLE_EQ(printed("26.70").half_unit, 0.005);
  EXPECT_DOUBLE_EQ(printed("31,664").value, 31664);
  EXPECT_DOUBLE_EQ(printed("1,234,567.8").value, 1234567.8);
  EXPECT_DOUBLE_EQ(printed("<1,600").value, 1600);
  EXPECT_DOUBLE_EQ(parse_printed("86,20", Commas::anywhere)->value, 8620);
  EXPECT_DOUBLE_EQ(printed("17M").value, 17e6);
  EXPECT_DOUBLE_EQ(printed("17M").half_unit, 0.5e6);
  EXPECT_DOUBLE_EQ(printed("5e-05").half_unit, 0.5e-5);
  EXPECT_TRUE(printed("<1.6K").bound);
  EXPECT_DOUBLE_EQ(printed("<1.6K").value, 1600);
  EXPECT_FALSE(printed("Adam").number);
}

TEST(Printed, RefusesWhatIsNoNumber) {
  for (const char* text : {"", "12.3.4", "1 2", "**", "nan", "inf", "+1", "12%", "A1"}) {
    const Result<Printed> number = parse_printed(text);
    EXPECT_TRUE(!number.ok() || !number->number) << text;
  }
  EXPECT_FALSE(parse_printed("12.3.4").ok());
  EXPECT_FALSE(parse_printed("A1").ok());
}

TEST(Printed, RefusesADecimalComma) {
  for (const char* text : {"52,25", "5,2.25", "1,234,56", ",123", "1234,567", "1.2,345", "1,"}) {
    const Result<Printed> number = parse_printed(text);
    ASSERT_FALSE(number.ok()) << text;
    EXPECT_NE(number.error().message.find("between thousands"), std::string::npos) << text;
  }
}

TEST(Verdict, IsReproducedWhenItPrintsTheSame) {
  EXPECT_EQ(compare(printed("22.17"), 0, measured(22.1749)), State::reproduced);
  EXPECT_EQ(compare(printed("22.17"), 0, measured(22.1751)), State::differs);
  EXPECT_EQ(compare(printed("281"), 0, measured(281)), State::reproduced);
  EXPECT_EQ(compare(printed("279"), 0, measured(281)), State::differs);
}

TEST(Verdict, TakesTheBorderOfTwoPrintedNumbersForTheOther) {
  // 15.15 may be rounded to either.
  EXPECT_EQ(compare(printed("15.1"), 0, measured(15.15)), State::differs);
  EXPECT_EQ(compare(printed("15.2"), 0, measured(15.15)), State::differs);
}

TEST(Verdict, HonoursAToleranceInPrintedUnits) {
  EXPECT_EQ(compare(printed("36.51"), 0.1, measured(36.41)), State::reproduced);
  EXPECT_EQ(compare(printed("36.51"), 0.1, measured(36.40)), State::differs);
}

TEST(Verdict, IsWithinAnIntervalThatHoldsEveryNumberThatPrintsSo) {
  EXPECT_EQ(compare(printed("22.2"), 0, measured(23, 22.15, 24)), State::within_interval);
  EXPECT_EQ(compare(printed("22.2"), 0, measured(23, 22.16, 24)), State::differs);
  EXPECT_EQ(compare(printed("22.2"), 0, measured(21, 20, 22.25)), State::within_interval);
  EXPECT_EQ(compare(printed("22.2"), 0, measured(21, 20, 22.24)), State::differs);
}

TEST(Verdict, OfABoundIsWhetherItHolds) {
  EXPECT_EQ(compare(printed("<1K"), 0, measured(900)), State::reproduced);
  EXPECT_EQ(compare(printed("<1K"), 0, measured(1000)), State::differs);
}

TEST(Verdict, ShowsOneDigitMoreThanPrintedAndTwoNearABorder) {
  EXPECT_EQ(measured_text(printed("15.2"), 15.149328), "15.149");
  EXPECT_EQ(measured_text(printed("15.2"), 15.3), "15.30");
  EXPECT_EQ(measured_text(printed("279"), 281), "281");
  EXPECT_EQ(measured_text(printed("8071"), 8071.24), "8071.2");
  EXPECT_EQ(measured_text(printed("17M"), 16793600), "16793600");
}

TEST(Verdict, NamesAreReadBack) {
  for (const State state : {State::reproduced, State::within_interval, State::differs,
                            State::not_run, State::not_runnable}) {
    EXPECT_EQ(state_named(to_string(state)), state);
  }
  EXPECT_FALSE(state_named("ok").has_value());
}

}  // namespace
}  // namespace qfs::claims

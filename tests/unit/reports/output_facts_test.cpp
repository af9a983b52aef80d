// What methods say of their outputs, and what a server's answers took and cost.
#include "reports/output_facts.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/core/json_dom.h"

namespace qfs::reports {
namespace {

store::OutputRow output(std::string extra, FinishReason finish = FinishReason::stop) {
  store::OutputRow row;
  row.prediction.extra = Json{std::move(extra)};
  row.prediction.finish = finish;
  return row;
}

TEST(SaidNumbers, AreOfTheOutputsThatSayThem) {
  std::vector<store::OutputRow> outputs = {
      output(R"({"ratio":4})"),
      output(canonical_json(nlohmann::json{{"observed", {{"ratio", 5.5}}}})->text),
      output(R"({"ratio":"six"})"),
      output(R"({"ratio":"inf"})"),
      output("[1]"),
      output("")};
  outputs[1].ordinal = 7;
  const std::vector<SaidNumber> said = said_numbers(outputs, "ratio");
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0].value, 4);
  EXPECT_EQ(said[1].ordinal, 7);
  EXPECT_EQ(said[1].value, 5.5);
  EXPECT_TRUE(said_numbers(outputs, "observed").empty());
  const std::vector<store::OutputRow> nested = {output(R"({"a":{"b/c~d":2,"e":8}})")};
  EXPECT_EQ(said_numbers(nested, "a.e").at(0).value, 8);
  EXPECT_TRUE(said_numbers(nested, "a.b~").empty());
}

TEST(ServedLatencies, AreThoseOfTheOutputsThatSayThem) {
  const std::vector<store::OutputRow> outputs = {output(R"({"observed":{"latency_ms":30}})"),
                                                 output("{}"),
                                                 output(R"({"observed":7})"),
                                                 output("not JSON"),
                                                 output(R"({"observed":{"latency_ms":"10"}})"),
                                                 output(R"({"observed":{"latency_ms":20}})")};
  EXPECT_EQ(served_latencies_ms(outputs), (std::vector<int64_t>{20, 30}));
}

TEST(Percentile, IsTheNearestRank) {
  const std::vector<int64_t> values = {10, 20, 30, 40};
  EXPECT_EQ(percentile(values, 50), 20);
  EXPECT_EQ(percentile(values, 75), 30);
  EXPECT_EQ(percentile(values, 76), 40);
  EXPECT_EQ(percentile(values, 99), 40);
  EXPECT_EQ(percentile(std::vector<int64_t>{7}, 1), 7);
}

TEST(Prices, NeedBothDirections) {
  EXPECT_FALSE(prices_in(Json{R"({"price_in":"0.5"})"}));
  EXPECT_FALSE(prices_in(Json{R"({"price_in":"cheap","price_out":2})"}));
  const auto prices = prices_in(Json{R"({"price_in":"0.5","price_out":2})"});
  ASSERT_TRUE(prices);
  EXPECT_EQ(prices->in, 0.5);
  EXPECT_EQ(prices->cached, 0.5);
  EXPECT_EQ(prices->out, 2);
}

TEST(ServedCost, CountsCachedTokensAtTheirPrice) {
  const std::vector<store::OutputRow> outputs = {
      output(R"({"observed":{"usage":{"cached_tokens":400000,"completion_tokens":100000,)"
             R"("prompt_tokens":1000000}}})"),
      output(R"({"observed":{}})", FinishReason::overlength)};
  // 0.6 x 1 + 0.4 x 0.25 + 0.1 x 4
  EXPECT_DOUBLE_EQ(*served_cost(outputs, {1, 0.25, 4}), 1.1);
}

TEST(ServedCost, IsUnknownWhereAnOutputDoesNotSayItsTokens) {
  const std::vector<store::OutputRow> outputs = {output(R"({"observed":{}})")};
  EXPECT_FALSE(served_cost(outputs, {1, 1, 1}));
}

}  // namespace
}  // namespace qfs::reports

// What a policy file says, and that its mistakes are named with their place.
#include "harness/gate/policy.h"

#include <gtest/gtest.h>

namespace qfs::gate {
namespace {

Policy decoded(const std::string& text) {
  Result<Policy> policy = decode_policy(text, "gate.json");
  EXPECT_TRUE(policy.ok()) << policy.error().to_string();
  return policy ? *policy : Policy();
}

TEST(DecodePolicy, EverythingThatCanBeSaid) {
  const Policy policy = decoded(R"({
    "$schema": "schema/gate.schema.json", "description": "ours", "level": 0.01, "rule": "max_drop",
    "minimum_examples": 20, "pair_by": ["method"], "filter": "method=lead", "noise": "off",
    "repeats": 3, "power_at": [0.5, 2],
    "metrics": { "rougeL.f": "0.5pt",
                 "align": { "margin": "2pt", "rule": "non_inferior", "noise": "0.1pt", "better": "lower" } },
    "bands": { "tokens_per_second": { "at_least": 0.8, "minimum_repetitions": 5 },
               "peak_memory": { "at_most": 1.1 } },
    "limits": { "rougeL.f": { "at_least": "20pt" }, "peak_memory": { "at_most": "600MiB" } } })");
  EXPECT_EQ(policy.request.level, 0.01);
  EXPECT_EQ(policy.request.minimum_examples, 20);
  EXPECT_EQ(policy.request.pair_by, std::vector<std::string>{"method"});
  EXPECT_EQ(policy.filter, "method=lead");
  EXPECT_FALSE(policy.request.noise_floor);
  EXPECT_EQ(policy.repeats, 3);
  EXPECT_EQ(policy.power_at, (std::vector<double>{0.5, 2}));
  const compare::Margin& share = policy.request.margins.at("rougeL.f");
  EXPECT_EQ(share.rule, compare::Rule::max_drop);
  EXPECT_DOUBLE_EQ(share.size, 0.005);
  const compare::Margin& own = policy.request.margins.at("align");
  EXPECT_EQ(own.rule, compare::Rule::non_inferior);
  EXPECT_DOUBLE_EQ(own.size, 2);
  EXPECT_DOUBLE_EQ(own.noise, 0.1);
  EXPECT_EQ(policy.request.better.at("align"), Better::lower);
  ASSERT_EQ(policy.bands.size(), 2U);
  EXPECT_EQ(policy.bands[1].value, "tokens_per_second");
  EXPECT_DOUBLE_EQ(policy.bands[1].ratio, 0.8);
  EXPECT_EQ(policy.bands[1].minimum_repetitions, 5);
  ASSERT_EQ(policy.limits.size(), 2U);
  EXPECT_EQ(policy.limits[0].bound, 600);
  EXPECT_FALSE(policy.limits[0].at_least);
  EXPECT_EQ(policy.limits[1].bound, 20);
}

TEST(DecodePolicy, AnEmptyOneIsTheDefault) {
  const Policy policy = decoded("{}");
  EXPECT_TRUE(policy.request.margins.empty());
  EXPECT_TRUE(policy.request.noise_floor);
  EXPECT_TRUE(policy.request.unchanged_passes);
  EXPECT_EQ(policy.request.level, 0.05);
}

TEST(DecodePolicy, MistakesAreNamedWithTheirPlace) {
  const struct {
    const char* text;
    const char* where;
    const char* message;
  } cases[] = {
      {R"({"metric": {}})", "gate.json#/metric", "unknown key 'metric' (did you mean 'metrics'?)"},
      {R"({"metrics": {"rougeL.f": "0.5"}})", "gate.json#/metrics/rougeL.f", "the unit is missing"},
      {R"({"metrics": {"rougeL.f": {"rule": "max_drop"}}})", "gate.json#/metrics/rougeL.f",
       "missing key 'margin'"},
      {R"({"metrics": {"rougeL.f": 1}})", "gate.json#/metrics/rougeL.f", "expected points"},
      {R"({"bands": {"peak_memroy": {"at_most": 1.1}}})", "gate.json#/bands/peak_memroy",
       "did you mean 'peak_memory'?"},
      {R"({"bands": {"peak_memory": {"at_least": 1.1}}})", "gate.json#/bands/peak_memory/at_least",
       "a band says at_most"},
      {R"({"limits": {"peak_memory": {"at_most": "600"}}})",
       "gate.json#/limits/peak_memory/at_most", "peak_memory=600MiB"},
      {R"({"level": 0})", "gate.json#/level", "between 0 and 0.5"},
      {R"([])", "gate.json#", "a policy as one object"},
      {R"({"rule": "drop"})", "gate.json#/rule", "not a valid value"},
  };
  for (const auto& one : cases) {
    const Result<Policy> policy = decode_policy(one.text, "gate.json");
    ASSERT_FALSE(policy.ok()) << one.text;
    EXPECT_EQ(policy.error().kind, ErrorKind::invalid_argument);
    EXPECT_EQ(policy.error().where, one.where) << one.text;
    EXPECT_NE(policy.error().message.find(one.message), std::string::npos)
        << policy.error().message;
  }
}

}  // namespace
}  // namespace qfs::gate

// score --explain-diff: signatures read back, differences named, contributions that add up.
#include "harness/score/explain_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metrics/catalog.h"

namespace qfs::score {
namespace {

using testing::HasSubstr;

const metrics::BuiltinMetrics kCatalog;

SignatureFields signature(const std::string& name, const std::string& more = "") {
  return *read_signature((*kCatalog.make(name))->signature() + more, kCatalog);
}

std::vector<ScoreItem> items() {
  std::vector<ScoreItem> items(2);
  items[0].candidate = "the cats were running home <q>";
  items[0].references = {"a cat ran home", "the cats were running all day"};
  items[1].candidate = "dogs barking at cats";
  items[1].references = {"the dogs barked at cats", "cats and a dog"};
  return items;
}

ExplainedDifference explain(const SignatureFields& a, const SignatureFields& b) {
  const auto texts = items();
  auto explained = explain_difference(a, b, texts, kCatalog);
  EXPECT_TRUE(explained.ok()) << explained.error().to_string();
  return explained.ok() ? *std::move(explained) : ExplainedDifference();
}

TEST(Signatures, AreReadBack) {
  const SignatureFields fields =
      signature("rouge", "|n:2|post:[\"replace:pattern=a|b\"]|unit:item");
  EXPECT_EQ(fields.metric, "rouge");
  EXPECT_EQ(fields.value("stem"), "porter-nltk");
  EXPECT_EQ(fields.value("post"), "[\"replace:pattern=a|b\"]");
  EXPECT_EQ(fields.value("unit"), "item");
  EXPECT_EQ(read_signature("rouge:stem=off", kCatalog)->value("stem"), "none");
}

TEST(Signatures, WrongOnesNameTheNearestKey) {
  const auto message = [](const std::string& text) {
    const auto read = read_signature(text, kCatalog);
    return read.ok() ? "" : read.error().message;
  };
  EXPECT_THAT(message("rouge|stm:none"), HasSubstr("did you mean 'stem'?"));
  EXPECT_THAT(message("rogue|stem:none"), HasSubstr("did you mean 'rouge'?"));
  EXPECT_THAT(message("rouge|stem:none|stem:none"), HasSubstr("twice"));
  EXPECT_THAT(message("rouge|stem"), HasSubstr("key:value"));
  EXPECT_THAT(message("rouge|nrefs:1|#12ab34cd"), HasSubstr("--signature long"));
}

TEST(ExplainDiff, NamesDifferencesInWords) {
  const auto explained =
      *explain_difference(signature("rouge", "|n:2"), signature("covidet", "|n:3"), {}, kCatalog);
  EXPECT_FALSE(explained.with_texts);
  std::vector<std::string> keys;
  for (const SignatureDifference& difference : explained.differences)
    keys.push_back(difference.key);
  EXPECT_THAT(keys, testing::ElementsAre("stem", "agg", "n"));
}

TEST(ExplainDiff, ContributionsAddUp) {
  const auto explained = explain(signature("rouge"), signature("rouge:stem=off,multi=pooled",
                                                               "|post:[\"cut_at:text=running\"]"));
  ASSERT_EQ(explained.contributions.size(), 3U);
  EXPECT_EQ(explained.contributions[0].key, "stem");
  EXPECT_EQ(explained.contributions[1].key, "multi");
  EXPECT_EQ(explained.contributions[2].key, "post");
  for (const auto& [column, a] : explained.a) {
    double alone = 0;
    double in_order = 0;
    for (const Contribution& part : explained.contributions) {
      alone += part.alone.at(column);
      in_order += part.in_order.at(column);
    }
    EXPECT_NEAR(explained.b.at(column), a + in_order, 1e-12) << column;
    EXPECT_NEAR(explained.b.at(column), a + alone + explained.interaction.at(column), 1e-12)
        << column;
  }
  EXPECT_EQ(explained.contributions[0].alone, explained.contributions[0].in_order);
  EXPECT_NE(explained.interaction.at("rouge1.f"), 0.0) << "stemming matters less for pooled counts";
}

TEST(ExplainDiff, EachContributionIsTheMetricWithThatOptionSwitched) {
  const auto explained =
      explain(signature("rouge"), signature("rouge:stem=off,multi=mean,agg=boot-median"));
  const auto value = [](const std::string& name) {
    const auto metric = *kCatalog.make(name);
    const auto texts = items();
    return metric->aggregate(*metric->measure(texts))[2].value;
  };
  ASSERT_EQ(explained.contributions.size(), 3U);
  EXPECT_EQ(explained.contributions[1].alone.at("rouge1.f"),
            value("rouge:multi=mean") - value("rouge"));
  EXPECT_EQ(explained.contributions[1].in_order.at("rouge1.f"),
            value("rouge:stem=off,multi=mean") - value("rouge:stem=off"));
  EXPECT_EQ(explained.b.at("rouge1.f"), value("rouge:stem=off,multi=mean,agg=boot-median"));
}

TEST(ExplainDiff, DifferentMetricsAreOneSwitch) {
  const auto explained =
      explain(signature("rouge:multi=first"), *read_signature("rouge-1.5.5:stem=off", kCatalog));
  ASSERT_EQ(explained.contributions.size(), 1U);
  EXPECT_EQ(explained.contributions[0].key, "metric");
  EXPECT_EQ(explained.interaction.at("rouge1.f"), 0.0);
}

TEST(ExplainDiff, WhatCannotBeComputedIsSaid) {
  const auto texts = items();
  const auto message = [&](const SignatureFields& b) {
    const auto explained = explain_difference(signature("rouge"), b, texts, kCatalog);
    return explained.ok() ? "" : explained.error().message;
  };
  SignatureFields other_version = signature("rouge");
  other_version.fields.back().second = "0";
  EXPECT_THAT(message(other_version), HasSubstr("this machine and version have '1'"));
  SignatureFields stem = signature("rouge");
  for (auto& [key, value] : stem.fields) {
    if (key == "stem") value = "snowball";
  }
  EXPECT_THAT(message(stem), HasSubstr("expected porter-nltk or none"));
  const std::string script = (*kCatalog.make("rouge-1.5.5:stem=off"))->signature();
  EXPECT_THAT(message(*read_signature(script, kCatalog)), HasSubstr("give its name with options"));
}

}  // namespace
}  // namespace qfs::score

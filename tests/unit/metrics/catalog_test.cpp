// BuiltinMetrics: names with options, and messages for wrong ones.
#include "metrics/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace qfs::metrics {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

std::string signature(std::string_view name) {
  const auto metric = BuiltinMetrics().make(name);
  return metric.ok() ? (*metric)->signature() : metric.error().to_string();
}

TEST(MetricCatalog, ListsRougeWithItsDefaults) {
  const std::vector<MetricInfo> list = BuiltinMetrics().list();
  ASSERT_FALSE(list.empty());
  EXPECT_EQ(list[0].entry.name, "rouge");
  ASSERT_NE(list[0].metric, nullptr);
  EXPECT_EQ(list[0].metric->name(), "rouge");
}

TEST(MetricCatalog, EveryEntryHasADocumentedDefaultAndAUniqueName) {
  std::set<std::string> names;
  for (const MetricInfo& info : BuiltinMetrics().list()) {
    // Punkt's data may be absent; whatever else a default needs is here.
    EXPECT_TRUE(info.metric != nullptr || info.entry.name == "ideal") << info.entry.name;
    EXPECT_TRUE(names.insert(info.entry.name).second) << info.entry.name;
    for (const MetricAlias& alias : info.entry.aliases) {
      EXPECT_TRUE(names.insert(alias.name).second) << alias.name;
      const auto metric = BuiltinMetrics().make(alias.name);
      if (metric.ok()) continue;  // a profile may need data that this machine lacks, and says so
      EXPECT_THAT(metric.error().kind, AnyOf(ErrorKind::not_found, ErrorKind::unavailable));
      EXPECT_THAT(metric.error().message, AnyOf(HasSubstr("not found in"), HasSubstr("to score")))
          << alias.name;
    }
    for (const MetricOption& option : info.entry.options) {
      EXPECT_FALSE(option.doc.empty()) << info.entry.name << ":" << option.name;
    }
  }
}

TEST(MetricCatalog, AnAliasIsTheSameMetric) {
  EXPECT_EQ(signature("rouge_score"), signature("rouge"));
  EXPECT_EQ(signature("rouge_score-0.1.2:stem=off"), signature("rouge:stem=off"));
}

TEST(MetricCatalog, OptionsSelectAVariant) {
  EXPECT_THAT(signature("rouge"), HasSubstr("stem:porter-nltk"));
  EXPECT_EQ(signature("rouge:stem=on"), signature("rouge"));
  EXPECT_THAT(signature("rouge:stem=off"), HasSubstr("stem:none"));
  EXPECT_EQ((*BuiltinMetrics().make("rouge:stem=off"))->name(), "rouge:stem=off");
}

TEST(MetricCatalog, UnknownNamesSuggestTheNearest) {
  const auto metric = BuiltinMetrics().make("rogue");
  ASSERT_FALSE(metric.ok());
  EXPECT_EQ(metric.error().kind, ErrorKind::not_found);
  EXPECT_THAT(metric.error().message, HasSubstr("unknown metric 'rogue' (did you mean 'rouge'?)"));
}

TEST(MetricCatalog, WrongOptionsAreErrors) {
  EXPECT_THAT(signature("rouge:stm=on"), HasSubstr("unknown option 'stm' (did you mean 'stem'?)"));
  EXPECT_THAT(signature("rouge:stem=yes"), HasSubstr("option stem is 'yes', expected on or off"));
  EXPECT_THAT(signature("rouge:stem"), HasSubstr("'stem' is not of the form option=value"));
  EXPECT_THAT(signature("rouge:stem="), HasSubstr("is not of the form option=value"));
  EXPECT_THAT(signature("rouge:"), HasSubstr("no option follows ':'"));
  EXPECT_THAT(signature("rouge:stem=on,"), HasSubstr("nothing follows the last ','"));
  EXPECT_THAT(signature("rouge:stem=on,stem=off"), HasSubstr("option 'stem' is given twice"));
}

}  // namespace
}  // namespace qfs::metrics

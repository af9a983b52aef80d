// The bundled stories as delivered: counts, lengths, references, and ids pinned for identity
// version 1 (values by recompute_ids.py).
#include <gtest/gtest.h>

#include <set>

#include "datasets/check.h"
#include "datasets/readers/catalog.h"
#include "tests/unit/datasets/requests.h"

namespace qfs::datasets {
namespace {

TEST(MiniStories, SplitsHaveTwoTwoAndSixStoriesWithFiveQuestionsOfFourReferencesEach) {
  std::set<std::string> stories;
  for (const auto& [split, count] :
       {std::pair{"train", 2u}, std::pair{"val", 2u}, std::pair{"test", 6u}}) {
    const auto dataset = load_bundled(named("mini-stories", {.split = split}));
    EXPECT_EQ(dataset->examples.size(), 5 * count);
    std::set<std::string> here;
    for (const Example& example : dataset->examples) {
      here.insert(example.document_id);
      EXPECT_EQ(example.references.size(), 4u) << example.key;
      EXPECT_EQ(example.language, "en");
    }
    EXPECT_EQ(here.size(), count);
    stories.merge(here);
    EXPECT_TRUE(here.empty()) << "a story is in two splits";
  }
  EXPECT_EQ(stories.size(), 10u);
}

TEST(MiniStories, StoriesHave1500To3000WordsAndReferences60To200) {
  for (const char* split : {"train", "val", "test"}) {
    const auto dataset = load_bundled(named("mini-stories", {.split = split}));
    const CheckReport report = check(*dataset);
    EXPECT_TRUE(report.ok());
    EXPECT_GE(report.words_per_document.minimum, 1500) << split;
    EXPECT_LE(report.words_per_document.maximum, 3000) << split;
    EXPECT_GE(report.words_per_reference.minimum, 60) << split;
    EXPECT_LE(report.words_per_reference.maximum, 200) << split;
  }
}

TEST(MiniStories, TheFirstQuestionAsksForThePlotAndNoTextIsThereTwice) {
  std::set<std::string> references;
  size_t count = 0;
  for (const char* split : {"train", "val", "test"}) {
    const auto dataset = load_bundled(named("mini-stories", {.split = split}));
    for (const Example& example : dataset->examples) {
      EXPECT_EQ(example.query == "What is the plot of the story?", example.key.ends_with("/q1"))
          << example.key;
      references.insert(example.references.begin(), example.references.end());
      count += example.references.size();
    }
  }
  EXPECT_EQ(references.size(), count);
  EXPECT_EQ(count, 200u);
}

TEST(MiniStories, PerReferenceMakesOneGroupOfTheFourRowsOfAQuestion) {
  const auto dataset = load_bundled(named("mini-stories", {.view = "per_reference"}));
  EXPECT_EQ(dataset->examples.size(), 6u * 5 * 4);
  std::set<std::string> groups;
  for (const Example& example : dataset->examples) groups.insert(example.group);
  EXPECT_EQ(groups.size(), 6u * 5);
}

TEST(MiniStories, IdsArePinned) {
  EXPECT_EQ(load_bundled(named("mini-stories"))->id.hex(),
            "1083a3f2c943ce595ae98ed73aac9922907165ab9480048cf3e8bc49128c5e8d");
  EXPECT_EQ(load_bundled(named("mini-stories", {.view = "per_reference"}))->id.hex(),
            "160639727e81c4777db2853b224e3cfd41865e8565615b7f4e443177111a2445");
  EXPECT_EQ(load_bundled(named("mini-stories", {.split = "train"}))->id.hex(),
            "ea95b248aeaabe860a53daad012095155288c7b63f2eb330fd718ed4066d0bcb");
}

}  // namespace
}  // namespace qfs::datasets

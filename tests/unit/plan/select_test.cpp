// Which examples are run and measured: a fixed choice by hash.
#include "harness/plan/select.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/support/plan_fakes.h"

namespace qfs::plan {
namespace {

using testing::ElementsAre;

std::shared_ptr<const Dataset> tiny() {
  DatasetRequest request;
  request.name = "tiny";
  return *test::FakeDatasets().load(request);
}

// printf 'aaaa…(64)e0' | sha256sum, for e0 to e11; the order of the digests is
// e9 e3 e4 e0 e1 e7 e11 e2 e6 e5 e10 e8.
TEST(Sample, TakesTheSmallestHashesInTheOrderOfTheData) {
  EXPECT_THAT(select_examples(*tiny(), {.sample = 3, .limit = {}}), ElementsAre(3, 4, 9));
  EXPECT_THAT(select_examples(*tiny(), {.sample = 5, .limit = {}}), ElementsAre(0, 1, 3, 4, 9));
}

TEST(Sample, LargerOneHoldsTheSmaller) {
  for (int64_t k = 1; k < 12; ++k) {
    const auto smaller = select_examples(*tiny(), {.sample = k, .limit = {}});
    const auto larger = select_examples(*tiny(), {.sample = k + 1, .limit = {}});
    EXPECT_EQ(smaller.size(), static_cast<size_t>(k));
    EXPECT_TRUE(std::includes(larger.begin(), larger.end(), smaller.begin(), smaller.end()));
  }
}

TEST(Sample, OfMoreThanThereAreIsEverything) {
  const auto all = select_examples(*tiny(), {});
  EXPECT_EQ(all.size(), 12u);
  EXPECT_EQ(select_examples(*tiny(), {.sample = 12, .limit = {}}), all);
  EXPECT_EQ(select_examples(*tiny(), {.sample = 999, .limit = {}}), all);
}

TEST(Limit, TakesTheFirstOfTheSample) {
  EXPECT_THAT(select_examples(*tiny(), {.sample = 5, .limit = 2}), ElementsAre(0, 1));
  EXPECT_THAT(select_examples(*tiny(), {.sample = {}, .limit = 3}), ElementsAre(0, 1, 2));
}

TEST(OtherExamples, AreNeverTheOwnAndEachIsUsed) {
  Dataset data = *tiny();
  for (size_t i = 0; i < data.examples.size(); ++i) {
    data.examples[i].document_id = "d" + std::to_string(i % 4);
  }
  const auto all = select_examples(data, {});
  const auto others = other_examples(data, all, &Example::document_id);
  std::set<std::string> used;
  for (const int64_t ordinal : all) {
    const std::string& own = data.examples[static_cast<size_t>(ordinal)].document_id;
    const std::string& other = data.examples[static_cast<size_t>(others.at(ordinal))].document_id;
    EXPECT_NE(own, other);
    used.insert(other);
  }
  EXPECT_EQ(used.size(), 4u);
  EXPECT_EQ(other_examples(data, all, &Example::document_id), others);
}

TEST(OtherExamples, HaveAnotherQueryWhereThatIsAskedFor) {
  Dataset data = *tiny();
  for (size_t i = 0; i < data.examples.size(); ++i) {
    data.examples[i].document_id = "d";
    data.examples[i].query = i % 3 == 0 ? "Why?" : "Who " + std::to_string(i) + "?";
  }
  const auto all = select_examples(data, {});
  EXPECT_EQ(other_examples(data, all, &Example::query).size(), all.size());
  for (const auto& [own, other] :
       other_examples(data, select_examples(data, {}), &Example::query)) {
    EXPECT_NE(data.examples[static_cast<size_t>(own)].query,
              data.examples[static_cast<size_t>(other)].query);
  }
}

TEST(OtherExamples, AreNoneWithoutAWord) {
  Dataset data = *tiny();
  for (size_t i = 0; i < data.examples.size(); ++i) {
    data.examples[i].document_id = "d" + std::to_string(i % 3);
    if (i % 3 == 1 || i == 0) data.examples[i].document = {{" \n", "ann"}};
  }
  const auto all = select_examples(data, {});
  const auto others = other_examples(data, all, &Example::document_id, true);
  EXPECT_EQ(others.size(), all.size()) << "an empty document may have another's";
  for (const auto& [own, other] : others) {
    EXPECT_NE(other % 3, 1);
    EXPECT_NE(other, 0) << "of one document an example may have none";
    EXPECT_NE(own % 3, other % 3);
  }
  EXPECT_NE(other_examples(data, all, &Example::document_id), others) << "asked for by few";
  for (size_t i = 0; i < data.examples.size(); ++i) {
    if (i % 3 == 0) data.examples[i].document.clear();
  }
  EXPECT_TRUE(other_examples(data, all, &Example::document_id, true).empty()) << "d2 has no other";
}

TEST(OtherExamples, OfOneDocumentThereAreNone) {
  Dataset data = *tiny();
  for (Example& example : data.examples) example.document_id = "d";
  EXPECT_TRUE(other_examples(data, select_examples(data, {}), &Example::document_id).empty());
}

TEST(Selection, IsWrittenAsFarAsItLeavesSomethingOut) {
  EXPECT_EQ(selection_json(*tiny(), {})->text, "{}");
  EXPECT_EQ(selection_json(*tiny(), {.sample = 12, .limit = 12})->text, "{}");
  EXPECT_EQ(selection_json(*tiny(), {.sample = 5, .limit = 5})->text, R"({"sample":5})");
  EXPECT_EQ(selection_json(*tiny(), {.sample = 5, .limit = 4})->text, R"({"limit":4,"sample":5})");
}

TEST(Draws, AreOtherExamplesEachAndOneOfThemIsInTheLarger) {
  const auto drawn = [](int64_t sample, uint64_t draw) {
    return select_examples(*tiny(), {.sample = sample, .limit = {}, .draw = draw});
  };
  std::set<std::vector<int64_t>> different = {select_examples(*tiny(), {.sample = 4, .limit = {}})};
  for (uint64_t draw = 0; draw < 5; ++draw) {
    const auto few = drawn(4, draw);
    const auto more = drawn(8, draw);
    EXPECT_EQ(few, drawn(4, draw));
    EXPECT_TRUE(std::includes(more.begin(), more.end(), few.begin(), few.end()));
    different.insert(few);
  }
  EXPECT_EQ(different.size(), 6u);
  EXPECT_EQ(drawn(12, 3), select_examples(*tiny(), {})) << "all there are";
  EXPECT_EQ(selection_json(*tiny(), {.sample = 5, .limit = {}, .draw = 3})->text,
            R"({"draw":3,"sample":5})");
  EXPECT_EQ(selection_json(*tiny(), {.sample = 12, .limit = {}, .draw = 3})->text, "{}");
}

TEST(Measured, IsTheSamePartWhateverTheSample) {
  const auto of_all = select_measured(*tiny(), select_examples(*tiny(), {}), 3);
  const auto of_sample =
      select_measured(*tiny(), select_examples(*tiny(), {.sample = 6, .limit = {}}), 3);
  EXPECT_EQ(of_all, of_sample);
  EXPECT_THAT(of_all, ElementsAre(3, 4, 9));
}

TEST(Measured, IsPartOfWhatIsRun) {
  const std::vector<int64_t> selected = {1, 3, 4};
  EXPECT_EQ(select_measured(*tiny(), selected, 100), selected);
  EXPECT_THAT(select_measured(*tiny(), selected, 1), ElementsAre(3));
}

// Documents have 10, 11, … words and the speaker's name "Ann:" before them.
TEST(Stats, CountWordsOfTheSelectedExamples) {
  const std::vector<int64_t> selected = {0, 2};
  const DatasetStats stats = dataset_stats(*tiny(), selected);
  EXPECT_EQ(stats.examples, 2);
  EXPECT_DOUBLE_EQ(stats.mean_document_words, 12.0);  // (11 + 13) / 2
  EXPECT_DOUBLE_EQ(stats.mean_query_words, 3.0);      // "What is e3?"
}

}  // namespace
}  // namespace qfs::plan

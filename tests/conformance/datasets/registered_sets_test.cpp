// The readers on the published files: counts and word statistics as their descriptions give them.
// Sources: the QMSum repository at 83d7768 (README, SOURCE of the copy used) and SQuALITY v1.3 at
// dc08d4f; words are separated by white space, a turn is counted as "speaker: content".
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "datasets/check.h"
#include "datasets/fetch/fetch.h"
#include "datasets/readers/catalog.h"
#include "datasets/statistics.h"
#include "datasets/text_lines.h"
#include "harness/core/files.h"
#include "tests/support/shared_data.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/datasets/requests.h"

namespace qfs::datasets {
namespace {

struct Expected {
  std::string split;
  int64_t documents;
  int64_t queries;
  int64_t words_per_document;  ///< rounded
  double words_per_query;      ///< one decimal
  double words_per_reference;  ///< one decimal
};

class PublishedSet : public ::testing::Test {
 protected:
  std::shared_ptr<const Dataset> load(const DatasetRequest& request) {
    auto loaded = catalog_->load(request);
    EXPECT_TRUE(loaded.ok()) << loaded.error().to_string();
    return loaded ? *loaded : std::make_shared<const Dataset>();
  }

  // One catalog for all tests: a set is read once.
  static void SetUpTestSuite() {
    catalog_ = make_catalog({"datasets", {test::shared_data("").string()}});
  }
  static void TearDownTestSuite() { catalog_.reset(); }

  inline static std::unique_ptr<DatasetCatalog> catalog_;
};

double words_per_document(const Dataset& dataset) {
  std::map<std::string, int64_t> words;
  for (const Example& example : dataset.examples) {
    if (words.contains(example.document_id)) continue;
    for (const Segment& segment : example.document) {
      words[example.document_id] += count_words(rendered(segment));
    }
  }
  double sum = 0;
  for (const auto& [id, count] : words) sum += static_cast<double>(count);
  return sum / static_cast<double>(words.size());
}

void expect_statistics(const Dataset& dataset, const Expected& expected) {
  CheckReport report = check(dataset);
  EXPECT_EQ(report.documents, expected.documents) << expected.split;
  EXPECT_EQ(report.groups, expected.queries) << expected.split;
  EXPECT_NEAR(words_per_document(dataset), static_cast<double>(expected.words_per_document), 0.5)
      << expected.split;
  EXPECT_NEAR(report.words_per_query.mean, expected.words_per_query, 0.05) << expected.split;
  EXPECT_NEAR(report.words_per_reference.mean, expected.words_per_reference, 0.05)
      << expected.split;
}

TEST_F(PublishedSet, QmsumHasThePublishedSizes) {
  QFS_SKIP_WITHOUT_DATA(test::shared_data("qmsum"));
  for (const Expected& expected :
       {Expected{"train", 162, 1257, 9980, 11.7, 70.6}, Expected{"val", 35, 272, 10422, 11.4, 70.6},
        Expected{"test", 35, 281, 10642, 11.5, 64.7}}) {
    expect_statistics(*load(named("qmsum", {.split = expected.split})), expected);
  }
}

// Table 1 of the paper; the test set was revised since (academic: 58 pairs instead of 56).
TEST_F(PublishedSet, QmsumDomainsHaveThePublishedSizes) {
  QFS_SKIP_WITHOUT_DATA(test::shared_data("qmsum"));
  struct Domain {
    const char* name;
    double meetings, turns, words, speakers;
    int64_t pairs[3];
  };
  for (const Domain& domain :
       {Domain{"qmsum-product", 137, 535.6, 6007.7, 4.0, {690, 145, 151}},
        Domain{"qmsum-academic", 59, 819.0, 13317.3, 6.3, {259, 54, 58}},
        Domain{"qmsum-committee", 36, 207.7, 13761.9, 34.1, {308, 73, 72}}}) {
    std::vector<std::shared_ptr<const Dataset>> splits;
    for (const char* split : {"train", "val", "test"}) {
      splits.push_back(load(named(domain.name, {.split = split})));
      EXPECT_EQ(std::ssize(splits.back()->examples), domain.pairs[splits.size() - 1])
          << domain.name << " " << split;
    }
    EXPECT_EQ(*statistic("documents", splits), domain.meetings) << domain.name;
    EXPECT_NEAR(*statistic("segments", splits), domain.turns, 0.051) << domain.name;
    EXPECT_NEAR(*statistic("document_words_without_speakers", splits), domain.words, 0.051);
    EXPECT_NEAR(*statistic("speakers", splits), domain.speakers, 0.051) << domain.name;
  }
}

TEST_F(PublishedSet, QmsumGoldenKeepsGeneralQueriesWholeAndCutsSpecificOnes) {
  QFS_SKIP_WITHOUT_DATA(test::shared_data("qmsum"));
  auto whole = load(named("qmsum", {.split = "test"}));
  auto golden = load(named("qmsum", {.split = "test", .view = "golden"}));
  ASSERT_EQ(whole->examples.size(), golden->examples.size());
  int64_t general = 0;
  int64_t several_spans = 0;
  for (size_t i = 0; i < whole->examples.size(); ++i) {
    const Example& example = golden->examples[i];
    if (example.key.find("/g") != std::string::npos) {
      ++general;
      EXPECT_EQ(example.document, whole->examples[i].document) << example.key;
      continue;
    }
    if (example.evidence.size() > 1) ++several_spans;
    size_t turns = 0;
    for (const SegmentSpan& span : whole->examples[i].evidence) {
      turns += static_cast<size_t>(span.last - span.first + 1);
    }
    EXPECT_EQ(example.document.size(), turns) << example.key;
  }
  EXPECT_EQ(general, 37);
  EXPECT_EQ(several_spans, 38);
  EXPECT_NE(whole->id, golden->id);
}

TEST_F(PublishedSet, QmsumIdealFormHasNoMarksAndNoCapitalsInTurns) {
  QFS_SKIP_WITHOUT_DATA(test::shared_data("qmsum"));
  auto ideal = load(named("qmsum", {.split = "val", .text_form = "ideal"}));
  for (const Example& example : ideal->examples) {
    for (const Segment& turn : example.document) {
      for (std::string_view gone :
           {"vocalsound }", "{ disfmarker", "{ pause }", "{ gap }", "l_c_d_"}) {
        ASSERT_EQ(turn.text.find(gone), std::string::npos) << turn.text;
      }
      ASSERT_EQ(turn.text.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ\n"), std::string::npos);
      ASSERT_EQ(turn.text.find("  "), std::string::npos) << turn.text;
    }
  }
}

// Values computed in Python from the same file, the ideal form with NLTK 3.8.1 and Punkt: every
// text of the split is NLTK's to the byte.
TEST_F(PublishedSet, QmsumIdsArePinned) {
  QFS_SKIP_WITHOUT_DATA(test::shared_data("qmsum"));
  EXPECT_EQ(load(named("qmsum"))->id.hex(),
            "957d91f0d1a00c4fd6adf6031470147485975ce2150b3a0071bb90855b58947d");
  EXPECT_EQ(load(named("qmsum", {.view = "golden"}))->id.hex(),
            "3c8ea65da687eea36ba45363427fa40e93f27b87f8eef0375527b5ba8f9978d3");
  EXPECT_EQ(load(named("qmsum", {.text_form = "ideal"}))->id.hex(),
            "1afff15de1da6fc2955b3f28f25f7b894ff9b4e099ff5cb9e0977de2830f22d3");
  EXPECT_EQ(load(named("qmsum", {.view = "golden", .text_form = "ideal"}))->id.hex(),
            "561daa92b1179030b3191d2f88dfa69b8d9d31fbbbb8efa31a940c996b7192f9");
}

TEST_F(PublishedSet, SqualityHasThePublishedSizesAndFourReferences) {
  QFS_SKIP_WITHOUT_DATA(test::shared_data("squality"));
  for (const Expected& expected :
       {Expected{"train", 50, 250, 4958, 8.9, 223.3}, Expected{"dev", 25, 125, 5043, 9.1, 225.9},
        Expected{"test", 52, 260, 4995, 8.9, 227.0}}) {
    auto dataset = load(named("squality", {.split = expected.split}));
    expect_statistics(*dataset, expected);
    for (const Example& example : dataset->examples) ASSERT_EQ(example.references.size(), 4u);
    auto rows = load(named("squality", {.split = expected.split, .view = "per_reference"}));
    EXPECT_EQ(static_cast<int64_t>(rows->examples.size()), 4 * expected.queries);
    EXPECT_EQ(check(*rows).groups, expected.queries);
  }
}

TEST_F(PublishedSet, SqualityStoriesAreKeptToTheByte) {
  QFS_SKIP_WITHOUT_DATA(test::shared_data("squality"));
  Result<std::string> text = read_file(test::shared_data("squality/data/v1-3/txt/dev.jsonl"));
  ASSERT_TRUE(text.ok());
  std::set<std::string> stories;
  TextLines lines(*text);
  while (auto line = lines.next()) {
    stories.insert(nlohmann::json::parse(*line)["document"].get<std::string>());
  }
  EXPECT_EQ(stories.size(), 25u);
  auto dataset = load(named("squality", {.split = "dev"}));
  ASSERT_EQ(dataset->examples.size(), 125u);
  for (const Example& example : dataset->examples) {
    EXPECT_TRUE(stories.contains(rendered_document(example))) << example.key;
    EXPECT_GT(example.document.size(), 20u) << example.key << ": paragraphs";
  }
}

TEST_F(PublishedSet, SqualityFetchedFromAFolderIsTheSameSet) {
  QFS_SKIP_WITHOUT_DATA(test::shared_data("squality"));
  Result<RegistryEntry> entry = registry_entry("datasets/registry.json", "squality");
  ASSERT_TRUE(entry.ok());
  test::TemporaryFolder folder;
  FetchOptions options;
  options.from_folder = test::shared_data("").string();
  Result<FetchReport> report = fetch(*entry, folder.path(), options);
  ASSERT_TRUE(report.ok()) << report.error().to_string();
  EXPECT_EQ(report->files_fetched, 5);
  auto loaded = make_catalog({"datasets", {folder.path()}})->load(named("squality"));
  ASSERT_TRUE(loaded.ok()) << loaded.error().to_string();
  EXPECT_EQ((*loaded)->id, load(named("squality"))->id);
}

// Sizes of shared/data/README.md; words are counted here over questions, there over posts.
TEST_F(PublishedSet, CovidetHasThePublishedPostsPairsAndSummaries) {
  QFS_SKIP_WITHOUT_DATA(test::shared_data("covidet"));
  struct Sizes {
    const char* split;
    int64_t posts, pairs, summaries;
    double words_per_summary;
  };
  for (const Sizes& sizes :
       {Sizes{"train", 1200, 2893, 4188, 24.9}, Sizes{"val", 285, 705, 1029, 25.1},
        Sizes{"test", 398, 1043, 1524, 21.9}}) {
    const CheckReport pairs = check(*load(named("covidet", {.split = sizes.split})));
    EXPECT_EQ(pairs.documents, sizes.posts);
    EXPECT_EQ(pairs.examples, sizes.pairs);
    EXPECT_EQ(pairs.groups, sizes.pairs);
    EXPECT_NEAR(pairs.words_per_reference.mean, sizes.words_per_summary, 0.051);
    EXPECT_TRUE(pairs.ok());
    const CheckReport rows =
        check(*load(named("covidet", {.split = sizes.split, .view = "per_reference"})));
    EXPECT_EQ(rows.examples, sizes.summaries);
    EXPECT_EQ(rows.groups, sizes.pairs);
  }
}

TEST_F(PublishedSet, CovidetKeepsNoTextInStores) {
  QFS_SKIP_WITHOUT_DATA(test::shared_data("covidet"));
  EXPECT_TRUE(load(named("covidet"))->manifest.no_redistribution);
}

TEST_F(PublishedSet, NothingIsFoundWrong) {
  QFS_SKIP_WITHOUT_DATA(test::shared_data("qmsum"));
  QFS_SKIP_WITHOUT_DATA(test::shared_data("squality"));
  for (const DatasetRequest& request :
       {named("qmsum"), named("qmsum", {.split = "train"}), named("squality")}) {
    CheckReport report = check(*load(request));
    for (const CheckFinding& finding : report.findings) {
      ADD_FAILURE() << request.name << " " << request.split << ": " << finding.count << " x "
                    << finding.what << ", first " << finding.keys.front();
    }
  }
}

}  // namespace
}  // namespace qfs::datasets

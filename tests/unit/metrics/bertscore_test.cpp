// Baselines, several references, empty texts, idf, batches, settings, and what is encoded how
// often.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "metrics/bertscore/baseline.h"
#include "metrics/bertscore/bert_scorer.h"
#include "metrics/bertscore/bertscore_settings.h"
#include "metrics/bertscore/best_of_group.h"
#include "metrics/bertscore/published_layers.h"
#include "tests/support/temporary_folder.h"

namespace qfs::metrics {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Letters are tokens with a vector each: a and b are near, y is opposite to a and to the special
/// tokens, others are at right angles.
class LetterEncoder final : public TextEncoder {
 public:
  explicit LetterEncoder(int& encoded) : encoded_(encoded) {}

  Result<TokenVectors> tokens(std::string_view text) override {
    if (text.find('!') != text.npos) return unavailable("no exclamations");
    TokenVectors result;
    result.ids = {0};
    for (char c : text) result.ids.push_back(c);
    result.ids.push_back(1);
    for (const int32_t id : result.ids) result.special.push_back(id <= 1);
    result.truncated = text.size() > 5;
    result.width = 30;
    return result;
  }

  Status encode(std::span<TokenVectors* const> texts) override {
    for (TokenVectors* text : texts) {
      ++encoded_;
      text->vectors.resize(text->ids.size() * 30);
      for (size_t i = 0; i < text->ids.size(); ++i) {
        const int32_t id = text->ids[i];
        float* const row = text->vectors.data() + i * 30;
        row[id <= 1 ? 28 + id : id - 'a'] = 4;
        if (id == 'b') row[0] = 3;  // 0.6 of the way to a
        if (id == 'y') row[0] = row[28] = row[29] = -40000;
      }
    }
    return {};
  }

 private:
  int& encoded_;
};

struct Item {
  std::string candidate;
  std::vector<std::string> references;
};

struct Scoring {
  explicit Scoring(const BertScoreOptions& options = {})
      : scorer(options, std::make_unique<LetterEncoder>(encoded)) {}

  /// Every item's texts are added as they come, repeats too.
  Result<std::vector<Statistics>> rows(const std::vector<Item>& items) {
    scorer.begin_corpus();
    std::vector<TextPairs> pairs;
    int64_t number = 0;
    for (const Item& item : items) {
      TextPairs& pair = pairs.emplace_back();
      pair.candidate = number++;
      if (const auto added = scorer.add({item.candidate, 0}); !added) return added.error();
      for (const std::string& reference : item.references) {
        pair.references.push_back(number++);
        if (const auto added = scorer.add({reference, 1}); !added) return added.error();
      }
    }
    return scorer.score(pairs);
  }

  int encoded = 0;
  BertScorer scorer;
};

TEST(BertScorer, MatchesEveryTokenWithItsMostSimilarOne) {
  Scoring run;
  const auto rows = run.rows({{"ac", {"bcd"}}});
  ASSERT_TRUE(rows.ok());
  EXPECT_NEAR(rows->at(0)[0], (0.6 + 1) / 2, 1e-6);
  EXPECT_NEAR(rows->at(0)[1], (0.6 + 1 + 0) / 3, 1e-6);
}

TEST(BertScorer, SeveralReferencesGiveTheLargestOfEachValue) {
  Scoring run;
  const auto rows = run.rows({{"ac", {"acde", "a"}}});
  EXPECT_NEAR(rows->at(0)[0], 1, 1e-6);        // against the first
  EXPECT_NEAR(rows->at(0)[1], 1, 1e-6);        // against the second
  EXPECT_NEAR(rows->at(0)[2], 2.0 / 3, 1e-6);  // 1 and 1/2, or 1/2 and 1
}

TEST(BertScorer, AnEmptyTextScoresZeroAndWhiteSpaceOfAnyScriptIsEmpty) {
  Scoring run;
  const auto rows = run.rows({{" \n\u3000\u0085", {"a"}}, {"a", {""}}, {"", {""}}});
  for (const Statistics& row : *rows) EXPECT_THAT(row, ElementsAre(0, 0, 0));
}

TEST(BertScorer, ATextIsEncodedOnceAlsoOverCorpora) {
  Scoring run;
  ASSERT_TRUE(run.rows({{"ab", {"cd", "ab"}}, {" ab", {"cd"}}}).ok());
  EXPECT_EQ(run.encoded, 2);
  ASSERT_TRUE(run.rows({{"ef", {"cd"}}}).ok());
  EXPECT_EQ(run.encoded, 3);
  // What the last corpus did not have is forgotten.
  ASSERT_TRUE(run.rows({{"ab", {"cd"}}}).ok());
  EXPECT_EQ(run.encoded, 4);
}

TEST(BertScorer, VectorsBeyondTheMemoryAreComputedAgainAndChangeNoValue) {
  const std::vector<Item> items = {{"ab", {"cd"}}, {"abc", {"bd"}}, {"ab", {"bd"}}};
  Scoring roomy;
  Scoring tight({.kept_bytes = 1, .window_tokens = 1});
  const auto expected = roomy.rows(items);
  const auto again = tight.rows(items);
  EXPECT_EQ(*expected, *again);
  EXPECT_EQ(roomy.encoded, 4);
  EXPECT_EQ(tight.encoded, 5) << "a pair at a time: ab is forgotten, bd is in the next pair";
}

TEST(BertScorer, BatchesOfPairsPadTheShorterTextWithASimilarityOfZero) {
  const std::vector<Item> items = {{"y", {"a"}}, {"a", {"aaaa"}}, {"y", {"a"}}};
  const double alone = -1 / std::sqrt(3.0);  // y is as far from a as from the special tokens
  const auto precisions = [&](int64_t batch) {
    Scoring run({.batch = batch});
    const auto rows = run.rows(items);
    std::vector<double> column;
    if (rows.ok()) {
      for (const Statistics& row : *rows) column.push_back(row[0]);
    }
    return column;
  };
  using testing::DoubleNear;
  const auto near = [](double value) { return DoubleNear(value, 1e-4); };
  EXPECT_THAT(precisions(0), ElementsAre(near(alone), near(1), near(alone)));
  EXPECT_THAT(precisions(1), ElementsAre(near(alone), near(1), near(alone)));
  EXPECT_THAT(precisions(2), ElementsAre(near(0), near(1), near(alone)));
  EXPECT_THAT(precisions(64), ElementsAre(near(0), near(1), near(0)));
}

TEST(GreedyMatching, PaddingIsATokenOfSimilarityZero) {
  TokenVectors a{{2}, {false}, {1}, 1, false};
  TokenVectors b{{3}, {false}, {-1}, 1, false};
  const std::vector<double> weight = {1};
  EXPECT_EQ(greedy_match(a, weight, b, weight).recall, -1);
  const BertScores padded = greedy_match(a, weight, b, weight, {.reference = true});
  EXPECT_EQ(padded.precision, 0);
  EXPECT_EQ(padded.recall, -1);
}

TEST(BertScorer, SaysWhichTextsWereTruncatedAndRefusesUnknownNumbers) {
  Scoring run;
  run.scorer.begin_corpus();
  EXPECT_TRUE((*run.scorer.add({"abcdef", 0}))->truncated);
  EXPECT_FALSE((*run.scorer.add({"abc", 0}))->truncated);
  EXPECT_EQ(run.scorer.add({"b!", 1}).error().kind, ErrorKind::unavailable);
  const auto refusal = [&](const TextPairs& pairs) {
    return run.scorer.score({&pairs, 1}).error().to_string();
  };
  EXPECT_THAT(refusal({4, 0, {2}}), HasSubstr("item 4"));
  EXPECT_THAT(refusal({4, 0, {-1}}), HasSubstr("beyond the 2 texts"));
  EXPECT_THAT(refusal({4, 0, {}}), HasSubstr("references"));
}

TEST(BertScorer, WithIdfWordsOfEveryReferenceCountNothing) {
  Scoring run({.idf = true});
  const auto rows = run.rows({{"ac", {"ab"}}, {"a", {"ad"}}});
  ASSERT_TRUE(rows.ok());
  // a is in both references: log(3 / 3) = 0. c is unseen and matches nothing.
  EXPECT_NEAR(rows->at(0)[0], 0, 1e-6);
  EXPECT_EQ(rows->at(1)[0], 0);  // the candidate has no token with weight
}

TEST(Baseline, IsTheRowOfTheLayerAndRescalesEachValueByItsOwn) {
  const std::string file = "LAYER,P,R,F\n0,0.1,0.2,0.3\r\n6,0.5,0.6,0.75\n";
  const auto row = read_baseline(file, "b.tsv", 6);
  ASSERT_TRUE(row.ok());
  const BertScores scores = rescaled({0.75, 0.8, 1}, *row);
  EXPECT_DOUBLE_EQ(scores.precision, 0.5);
  EXPECT_DOUBLE_EQ(scores.recall, 0.5);
  EXPECT_DOUBLE_EQ(scores.f, 1);
  EXPECT_DOUBLE_EQ(read_baseline(file, "b.tsv", 0)->f, 0.3);
}

TEST(Baseline, AWrongFileNamesTheLine) {
  EXPECT_THAT(read_baseline("LAYER,P,R,F\n0,0.1,0.2,0.3\n", "b.tsv", 7).error().message,
              HasSubstr("layer 7"));
  EXPECT_EQ(read_baseline("P,R,F\n", "b.tsv", 0).error().where, "b.tsv:1");
  EXPECT_EQ(read_baseline("LAYER,P,R,F\n0,0.1,x,0.3\n", "b.tsv", 0).error().where, "b.tsv:2");
  EXPECT_EQ(read_baseline("LAYER,P,R,F\n0,0.1,0.2\n", "b.tsv", 0).error().where, "b.tsv:2");
  EXPECT_EQ(read_baseline("LAYER,P,R,F\n0,0.1,0.2,0.3,1\n", "b.tsv", 0).error().where, "b.tsv:2");
  EXPECT_FALSE(read_baseline("LAYER,P,R,F\n0,1,0.2,0.3\n", "b.tsv", 0).ok());
  EXPECT_FALSE(read_baseline("", "b.tsv", 0).ok());
}

MetricOptionValues values_with(std::map<std::string, std::string, std::less<>> given) {
  for (const MetricOption& option : bertscore_options()) {
    given.try_emplace(option.name, option.default_value);
  }
  return MetricOptionValues(std::move(given));
}

TEST(BertScoreSettings, TheLayerIsBertScoresChoiceOrTheUsers) {
  EXPECT_EQ(published_layer("minilm"), 6);
  EXPECT_EQ(published_layer("hf:facebook/bart-base@main"), 6);
  EXPECT_EQ(published_layer("hf:FacebookAI/roberta-large"), 17);
  EXPECT_EQ(published_layer("./facebook/bart-base"), std::nullopt);
  EXPECT_EQ(read_bertscore_settings(values_with({}))->layer, 6);
  EXPECT_EQ(read_bertscore_settings(values_with({{"layer", "0"}}))->layer, 0);
  EXPECT_THAT(read_bertscore_settings(values_with({{"model", "./m"}})).error().message,
              HasSubstr("give 'layer'"));
  EXPECT_FALSE(read_bertscore_settings(values_with({{"layer", "-1"}})).ok());
  EXPECT_FALSE(read_bertscore_settings(values_with({{"layer", "6x"}})).ok());
}

TEST(BertScoreSettings, SignatureAndHashHaveEveryOption) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("b.tsv", "LAYER,P,R,F\n5,0.1,0.2,0.3\n");
  const auto plain = read_bertscore_settings(values_with({}));
  EXPECT_EQ(bertscore_signature(*plain, {"minilm", "", "0123456789abcdef"}),
            "bertscore|compat:bert_score-0.3.13|model:minilm@0123456789ab|layer:6|idf:no|"
            "rescale:none|prefix_space:no|padding:none|multi:max-each|empty:0|dtype:float32|"
            "agg:mean|v:1");
  EXPECT_EQ(bert_score_hash(*plain), "minilm_L6_no-idf_version=0.3.12(hug_trans=5.23.0)");
  const auto other = read_bertscore_settings(values_with({{"model", "hf:facebook/bart-base@main"},
                                                          {"layer", "5"},
                                                          {"idf", "on"},
                                                          {"rescale", path},
                                                          {"prefix_space", "on"},
                                                          {"batch", "64"}}));
  ASSERT_TRUE(other.ok()) << other.error().to_string();
  EXPECT_EQ(bertscore_signature(*other, {"local:ffff", "", "0123456789abcdef"}),
            "bertscore|compat:bert_score-0.3.13|model:local@0123456789ab|layer:5|idf:yes|rescale:" +
                other->baseline_digest.substr(0, 12) +
                "|prefix_space:yes|padding:batches-of-64|multi:max-each|empty:0|dtype:float32|"
                "agg:mean|v:1");
  EXPECT_EQ(bert_score_hash(*other),
            "facebook/bart-base_L5_idf_version=0.3.12(hug_trans=5.23.0)-custom-rescaled");
  EXPECT_EQ(read_bertscore_settings(values_with({{"rescale", path}})).error().where, path)
      << "no row for layer 6";
}

/// Scores that an item's candidate says.
class SaidScores final : public Metric {
 public:
  std::string_view name() const override { return "said"; }
  std::string_view doc() const override { return "said"; }
  std::vector<std::string> columns() const override { return {"said.p", "said.f"}; }
  std::string signature() const override { return "said|v:1"; }
  MetricNeeds needs() const override { return {}; }
  Result<std::vector<Statistics>> measure(std::span<const ScoreItem> items) const override {
    std::vector<Statistics> rows;
    for (const ScoreItem& item : items) rows.push_back({0.25, std::stod(item.candidate)});
    return rows;
  }
};

TEST(BestOfGroup, the_row_with_the_highest_f_stands_for_its_question) {
  std::vector<ScoreItem> items(6);
  const char* const said[] = {"0.5", "0.75", "0.75", "0.125", "1", "0.5"};
  const char* const groups[] = {"a", "a", "a", "b", "", ""};
  for (size_t i = 0; i < items.size(); ++i) {
    items[i].candidate = said[i];
    items[i].group = groups[i];
  }
  const auto metric = best_of_group(std::make_shared<SaidScores>(), "said.f");
  EXPECT_THAT(metric->columns(), ElementsAre("said.p", "said.f", "chosen"));
  EXPECT_EQ(metric->signature(), "said|groups:best(said.f)|v:1");
  EXPECT_TRUE(metric->needs().corpus);
  const auto rows = metric->measure(items);
  ASSERT_TRUE(rows.ok());
  EXPECT_THAT(*rows, ElementsAre(ElementsAre(0, 0, 0), ElementsAre(0.25, 0.75, 1),
                                 ElementsAre(0, 0, 0), ElementsAre(0.25, 0.125, 1),
                                 ElementsAre(0.25, 1, 1), ElementsAre(0.25, 0.5, 1)));
  // Over four questions, not six rows.
  EXPECT_DOUBLE_EQ(metric->aggregate(*rows)[1].value, (0.75 + 0.125 + 1 + 0.5) / 4);
  EXPECT_DOUBLE_EQ(metric->aggregate(*rows)[0].value, 0.25);
}

}  // namespace
}  // namespace qfs::metrics

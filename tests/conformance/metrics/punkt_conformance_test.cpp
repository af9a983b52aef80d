// PunktSplitter against NLTK 3.6.2, 3.9.2 and 3.10.4, sentence by sentence, and rouge with
// split=punkt against rouge_score 0.1.2 with split_summaries. Expected values:
// make_punkt_expected.py.
#include <algorithm>
#include <filesystem>
#include <memory>

#include "metrics/punkt/punkt_files.h"
#include "metrics/punkt/punkt_splitter.h"
#include "tests/conformance/metrics/punkt_texts.h"

namespace qfs::test {
namespace {

using metrics::PunktModel;
using metrics::PunktRules;
using metrics::PunktSplitter;

struct Release {
  const char* name;
  PunktRules rules;
};

class PunktConformance : public testing::TestWithParam<Release> {
 protected:
  void SetUp() override {
    all_ = expected_values("punkt_expected.json");
    expected_ = all_.at(GetParam().name);
    texts_ = generated_punkt_texts();
  }

  void expect_generated(const std::shared_ptr<const PunktModel>& model,
                        const nlohmann::json& expected) const {
    ASSERT_EQ(model->sha256(), expected.at("sha256").get<std::string>());
    const PunktSplitter splitter(model, GetParam().rules);
    const auto block = all_.at("block").get<size_t>();
    for (size_t begin = 0; begin < texts_.size(); begin += block) {
      SentenceDigest digest;
      for (size_t i = begin; i < begin + block; ++i) digest.add(splitter.split(texts_[i]));
      EXPECT_EQ(digest.value(), expected.at("blocks")[begin / block]) << "texts from " << begin;
    }
  }

  /// The English model, or nullptr with the reason why this test is skipped.
  static std::shared_ptr<const PunktModel> english(std::string& reason) {
    auto model = metrics::load_punkt("");
    if (model.ok()) return *model;
    reason = model.error().to_string();
    return nullptr;
  }

  nlohmann::json all_;
  nlohmann::json expected_;
  std::vector<std::string> texts_;
};

TEST_P(PunktConformance, TheGeneratedTextsAreThoseOfTheScript) {
  Sha256 hash;
  for (size_t i = 0; i < texts_.size(); ++i) {
    if (i > 0) hash.update("\x1e");
    hash.update(texts_[i]);
  }
  EXPECT_EQ(hash.hex(), all_.at("texts_sha256").get<std::string>());
}

TEST_P(PunktConformance, SentencesOfGeneratedTextsWithASmallModel) {
  const PunktSplitter splitter(small_punkt_model(), GetParam().rules);
  const nlohmann::json& small = expected_.at("small");
  for (const nlohmann::json& pair : small.at("first")) {
    const auto text = pair[0].get<std::string>();
    const auto sentences = splitter.split(text);
    EXPECT_EQ(nlohmann::json(std::vector<std::string>(sentences.begin(), sentences.end())), pair[1])
        << text;
  }
  expect_generated(small_punkt_model(), small);
}

TEST_P(PunktConformance, SplitSummariesOfRougeScore) {
  metrics::RougeOptions options;
  options.split.punkt = std::make_shared<PunktSplitter>(small_punkt_model(), GetParam().rules);
  metrics::RougeScorer scorer(options);
  const nlohmann::json& rows = expected_.at("small").at("rougeLsum");
  ASSERT_EQ(rows.size(), 200U);
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto scores = scorer.score_multi({&texts_[2 * i], 1}, texts_[2 * i + 1]);
    ASSERT_TRUE(scores.ok());
    const Row row = row_of(*scores);
    expect_rows_near({row.begin() + 9, row.end()}, rows[i].get<Row>(), "pair " + std::to_string(i));
  }
}

TEST_P(PunktConformance, SentencesOfGeneratedTextsWithTheEnglishModel) {
  std::string reason;
  const auto model = english(reason);
  if (model == nullptr) GTEST_SKIP() << reason;
  expect_generated(model, expected_.at("english"));
}

TEST_P(PunktConformance, SentencesOfAllEnglishTextsOfTheSharedData) {
  std::string reason;
  const auto model = english(reason);
  if (model == nullptr) GTEST_SKIP() << reason;
  const PunktSplitter splitter(model, GetParam().rules);
  const nlohmann::json& files = expected_.at("english").at("files");
  QFS_SKIP_WITHOUT_DATA(shared_data(files.begin().key()));
  size_t texts = 0;
  for (const auto& [path, expected] : files.items()) {
    SentenceDigest digest;
    for (const std::string& text : all_strings(shared_data(path).string())) {
      digest.add(splitter.split(text));
      ++texts;
    }
    EXPECT_EQ(digest.value(), expected) << path;
  }
  EXPECT_GT(texts, 100000U);
}

INSTANTIATE_TEST_SUITE_P(Nltk, PunktConformance,
                         testing::Values(Release{"3.6", PunktRules::nltk_3_6},
                                         Release{"3.9", PunktRules::nltk_3_9},
                                         Release{"3.10", PunktRules::nltk_3_10}),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           std::ranges::replace(name, '.', '_');
                           return "Nltk" + name;
                         });

}  // namespace
}  // namespace qfs::test

// Policies for several references, and the IDEAL profile, against values made of rouge_score
// 0.1.2's pair scores by make_multi_expected.py.
#include "metrics/catalog.h"
#include "tests/conformance/metrics/expected_values.h"
#include "tests/support/random_texts.h"
#include "tests/support/shared_data.h"

namespace qfs::test {
namespace {

class MultiConformance : public testing::Test {
 protected:
  void SetUp() override {
    expected_ = expected_values("rouge_multi.json");
    const RandomTexts texts;
    SplitMix64 rng(expected_.at("seed").get<uint64_t>());
    const auto words = expected_.at("words").get<size_t>();
    for (size_t i = 0; i < expected_.at("count").get<size_t>(); ++i) {
      ScoreItem item;
      item.id = static_cast<int64_t>(i);
      for (size_t r = 0; r < 1 + i % 4; ++r) item.references.push_back(texts.text(rng, words));
      item.candidate = texts.text(rng, words);
      items_.push_back(std::move(item));
    }
  }

  Row corpus_values(const std::string& name, std::vector<Statistics>* rows) const {
    const auto metric = metrics::BuiltinMetrics().make(name);
    if (!metric.ok()) throw std::runtime_error(metric.error().to_string());
    auto measured = (*metric)->measure(items_);
    if (!measured.ok()) throw std::runtime_error(measured.error().to_string());
    Row values;
    for (const Score& score : (*metric)->aggregate(*measured)) values.push_back(score.value);
    if (rows != nullptr) *rows = *std::move(measured);
    return values;
  }

  nlohmann::json expected_;
  std::vector<ScoreItem> items_;
};

TEST_F(MultiConformance, EveryPolicyGivesTheValuesOfItsDefinition) {
  ASSERT_GE(expected_.at("policies").size(), 8U);
  for (const auto& [policy, values] : expected_.at("policies").items()) {
    std::vector<Statistics> rows;
    const Row means = corpus_values("rouge:multi=" + policy, &rows);
    expect_rows_near(means, values.at("means").get<Row>(), policy + ", means");
    for (size_t i = 0; i < values.at("rows").size(); ++i) {
      expect_rows_near(rows[i], values.at("rows")[i].get<Row>(),
                       policy + ", item " + std::to_string(i));
    }
  }
}

TEST_F(MultiConformance, IdealTakesTheBestPairOfAGroup) {
  const nlohmann::json& ideal = expected_.at("ideal");
  for (size_t i = 0; i < items_.size(); ++i) {
    items_[i].group = "g" + std::to_string(i / ideal.at("group_size").get<size_t>());
    items_[i].candidate = "<s> " + items_[i].candidate + "<pad></s>";
  }
  Row values = corpus_values("ideal:split=newline", nullptr);
  EXPECT_NEAR(values.back(), 1.0 / 3, kRougeTolerance);
  values.pop_back();
  expect_rows_near(values, ideal.at("means").get<Row>(), "ideal");
}

/// The policies differ by up to 4.5 points here, more than neighbouring rows of published tables.
TEST_F(MultiConformance, PoliciesOnSqualityDevFirstResponseAgainstTheOthers) {
  const auto path = shared_data("squality/data/v1-3/txt/dev.jsonl");
  QFS_SKIP_WITHOUT_DATA(path);
  items_.clear();
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const nlohmann::json story = nlohmann::json::parse(line);
    for (const nlohmann::json& question : story.at("questions")) {
      ScoreItem item;
      item.id = static_cast<int64_t>(items_.size());
      for (const nlohmann::json& response : question.at("responses")) {
        item.references.push_back(response.at("response_text"));
      }
      item.candidate = item.references.front();
      item.references.erase(item.references.begin());
      items_.push_back(std::move(item));
    }
  }
  const nlohmann::json& expected = expected_.at("squality_dev");
  ASSERT_EQ(items_.size(), expected.at("count").get<size_t>());
  for (const auto& [policy, values] : expected.at("policies").items()) {
    expect_rows_near(corpus_values("rouge:multi=" + policy, nullptr), values.get<Row>(), policy);
  }
}

}  // namespace
}  // namespace qfs::test

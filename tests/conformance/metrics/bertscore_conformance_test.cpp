// BERTScore's arithmetic equals bert_score 0.3.13's on the same vectors; values by
// make_bertscore_expected.py.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "metrics/bertscore/greedy_matching.h"
#include "metrics/bertscore/idf_weights.h"
#include "tests/support/tiny_checkpoint.h"

namespace qfs::metrics {
namespace {

using nlohmann::json;

constexpr double kTolerance = 2e-6;  // bert_score computes in float32
constexpr int32_t kEnd = 1;          // ids 0 and 1 are the special tokens

TokenVectors text_of(const std::vector<int32_t>& ids, const std::string& side, int64_t width) {
  TokenVectors text;
  text.ids = ids;
  text.width = width;
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::string name = side + "/" + std::to_string(i) + "/" + std::to_string(ids[i]);
    const std::vector<float> row = test::tiny_values(name, width, 1.0F, 0.25F);
    text.vectors.insert(text.vectors.end(), row.begin(), row.end());
    text.special.push_back(ids[i] <= kEnd);
  }
  normalize(text);
  return text;
}

void expect_scores(const BertScores& scores, const json& expected, const std::string& what) {
  EXPECT_NEAR(scores.precision, expected[0].get<double>(), kTolerance) << what;
  EXPECT_NEAR(scores.recall, expected[1].get<double>(), kTolerance) << what;
  EXPECT_NEAR(scores.f, expected[2].get<double>(), kTolerance) << what;
}

TEST(BertScoreConformance, MatchesAndWeightsEqualBertScore) {
  std::ifstream stream("tests/conformance/metrics/bertscore_expected.json");
  const json file = json::parse(stream);
  const int64_t width = file.at("width");
  ASSERT_GE(file.at("pairs").size(), 60U);
  std::vector<std::vector<int32_t>> references;
  for (const json& pair : file.at("pairs")) references.push_back(pair.at("reference"));
  const IdfWeights plain;
  IdfWeights idf(true);
  for (const auto& reference : references) idf.add_reference(reference);
  size_t empty = 0;
  for (const json& pair : file.at("pairs")) {
    const TokenVectors reference = text_of(pair.at("reference"), "r", width);
    const TokenVectors candidate = text_of(pair.at("candidate"), "c", width);
    empty += reference.empty() || candidate.empty() ? 1 : 0;
    for (const auto& [weights, name] :
         {std::pair<const IdfWeights*, const char*>(&plain, "plain"), {&idf, "idf"}}) {
      expect_scores(
          greedy_match(reference, weights->of(reference), candidate, weights->of(candidate)),
          pair.at(name), std::string(name) + " " + pair.dump());
    }
  }
  EXPECT_GT(empty, 5U);
}

}  // namespace
}  // namespace qfs::metrics

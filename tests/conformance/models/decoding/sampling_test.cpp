// The distribution that tokens are drawn from equals that of transformers 5.23's warpers; values by
// make_sampling_expected.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "methods/models/decoding/sampler.h"
#include "tests/support/tiny_checkpoint.h"

namespace qfs::decoding {
namespace {

using nlohmann::json;

json expected() {
  std::ifstream file("tests/conformance/models/decoding/sampling_expected.json");
  return json::parse(file);
}

std::vector<float> logits_of(const json& row, int64_t size) {
  std::vector<float> logits =
      qfs::test::tiny_values("logits " + row.at("logits").dump(), size, 6, 0);
  logits[7] = logits[4];
  return logits;
}

SamplingOptions options_of(const json& given) {
  SamplingOptions options;
  options.temperature = given.at("temperature");
  options.top_k = given.value("top_k", int64_t{0});
  options.top_p = given.value("top_p", 1.0);
  if (given.value("nucleus", "") == "exceeds") options.nucleus = NucleusRule::exceeds;
  return options;
}

TEST(SamplingConformance, DistributionsEqualTransformers) {
  const json file = expected();
  ASSERT_EQ(file.at("rows").size(), 27U);
  for (const json& row : file.at("rows")) {
    SCOPED_TRACE(row.at("options").dump());
    std::vector<double> actual(file.at("size").get<size_t>());
    for (const auto& [probability, id] :
         sampling_distribution(options_of(row.at("options")), logits_of(row, file.at("size")))) {
      actual[static_cast<size_t>(id)] = probability;
    }
    const std::vector<double> wanted = row.at("probabilities");
    for (size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(actual[i], wanted[i], 1e-6) << i;
  }
}

TEST(SamplingConformance, DrawsFollowTheDistribution) {
  constexpr int kDraws = 20000;
  const json file = expected();
  const SamplingOptions options{.temperature = 1.5, .top_p = 0.9};
  const std::vector<float> logits = logits_of(file.at("rows").at(0), file.at("size"));
  const auto distribution = sampling_distribution(options, logits);
  ASSERT_GT(distribution.size(), 5U);
  std::vector<int> counts(logits.size());
  Sampler sampler(options, 11);
  for (int i = 0; i < kDraws; ++i) ++counts[static_cast<size_t>(sampler.draw(logits))];
  int seen = 0;
  for (const auto& [probability, id] : distribution) {
    const double wanted = probability * kDraws;
    seen += counts[static_cast<size_t>(id)];
    // Five standard deviations of a binomial count.
    EXPECT_NEAR(counts[static_cast<size_t>(id)], wanted, 5 * std::sqrt(wanted * (1 - probability)));
  }
  EXPECT_EQ(seen, kDraws);  // nothing outside the nucleus
}

}  // namespace
}  // namespace qfs::decoding

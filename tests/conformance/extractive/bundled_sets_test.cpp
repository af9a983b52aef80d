// Every extractive method on the bundled Chinese segments and on the bundled stories: text comes
// out, the same text twice, of sensible length, and the oracle is above the lead.
#include <gtest/gtest.h>

#include <set>

#include "datasets/readers/catalog.h"
#include "metrics/chinese/icu_segmenter.h"
#include "metrics/chinese/rouge_zh_metric.h"
#include "metrics/rouge/rouge_metric.h"
#include "tests/support/extractive_fixture.h"

namespace qfs::test {
namespace {

constexpr size_t kRouge1F = 2;
constexpr size_t kRougeLF = 8;

std::vector<Example> examples_of(const std::string& name) {
  const auto catalog = datasets::make_catalog(datasets::default_catalog_options());
  DatasetRequest request;
  request.name = name;
  const auto dataset = catalog->load(request);
  EXPECT_TRUE(dataset.ok()) << (dataset.ok() ? "" : dataset.error().to_string());
  return dataset.ok() ? (*dataset)->examples : std::vector<Example>{};
}

/// Means of ROUGE-1 F and ROUGE-L F.
std::pair<double, double> scores(const Metric& metric, const std::vector<Example>& examples,
                                 const std::vector<Prediction>& predictions) {
  std::vector<ScoreItem> items(examples.size());
  for (size_t i = 0; i < examples.size(); ++i) {
    items[i].candidate = predictions.at(i).text;
    items[i].references = examples[i].references;
  }
  const auto rows = metric.measure(items);
  EXPECT_TRUE(rows.ok());
  double rouge1 = 0;
  double rouge_l = 0;
  for (const Statistics& row : *rows) {
    rouge1 += row[kRouge1F] / static_cast<double>(items.size());
    rouge_l += row[kRougeLF] / static_cast<double>(items.size());
  }
  return {rouge1, rouge_l};
}

std::unique_ptr<Metric> metric_of(const std::string& set) {
  if (set == "mini-stories") return std::make_unique<metrics::RougeMetric>();
  return std::make_unique<metrics::RougeZhMetric>(
      "rouge-zh", std::make_shared<const metrics::IcuSegmenter>(), metrics::ZhTextOptions{});
}

class BundledSet : public testing::TestWithParam<const char*> {};

TEST_P(BundledSet, EveryMethodGivesTheSameSensibleTextTwice) {
  const std::vector<Example> examples = examples_of(GetParam());
  ASSERT_EQ(examples.size(), 30U);
  for (const char* method : {"lead", "random", "textrank", "bm25", "oracle", "oracle_dyle"}) {
    const ExtractiveRun run{.method = method};
    const auto predictions = summarize_all(run, examples);
    ASSERT_TRUE(predictions.ok()) << method;
    EXPECT_EQ(*summarize_all(run, examples), *predictions) << method;
    std::set<std::string> texts;
    for (const Prediction& prediction : *predictions) {
      EXPECT_GE(prediction.text.size(), 60U) << method;
      texts.insert(prediction.text);
    }
    // Only the methods that read neither query nor reference nor key repeat themselves.
    const bool by_document = std::string(method) == "lead" || std::string(method) == "textrank";
    EXPECT_GE(texts.size(), by_document ? 6U : 25U) << method;
  }
}

TEST_P(BundledSet, TheOracleIsAboveTheLeadAndBm25AboveRandom) {
  const std::vector<Example> examples = examples_of(GetParam());
  const std::unique_ptr<Metric> metric = metric_of(GetParam());
  const auto score_of = [&](const char* method) {
    return scores(*metric, examples, *summarize_all({.method = method}, examples));
  };
  const auto lead = score_of("lead");
  const auto oracle = score_of("oracle");
  EXPECT_GT(oracle.first, 1.3 * lead.first);
  EXPECT_GT(oracle.second, 1.2 * lead.second);
  EXPECT_GT(score_of("bm25").first, score_of("random").first);
}

INSTANTIATE_TEST_SUITE_P(Sets, BundledSet, testing::Values("mini-zh", "mini-stories"),
                         [](const auto& info) {
                           return std::string(info.param) == "mini-zh" ? "MiniZh" : "MiniStories";
                         });

}  // namespace
}  // namespace qfs::test

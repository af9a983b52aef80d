// The bar on the bundled meetings: reading the whole document beats 256 tokens of it on ROUGE-1,
// for the query-focused baseline and for the upper bound, with a paired interval (documents
// resampled) above 0.
#include <gtest/gtest.h>

#include "datasets/readers/catalog.h"
#include "metrics/rouge/rouge_metric.h"
#include "metrics/stats/bootstrap.h"
#include "tests/support/extractive_fixture.h"

namespace qfs::test {
namespace {

std::vector<Example> mini_meetings_test() {
  const auto catalog = datasets::make_catalog(datasets::default_catalog_options());
  DatasetRequest request;
  request.name = "mini-meetings";
  request.split = "test";
  const auto dataset = catalog->load(request);
  EXPECT_TRUE(dataset.ok()) << (dataset.ok() ? "" : dataset.error().to_string());
  return dataset.ok() ? (*dataset)->examples : std::vector<Example>{};
}

std::vector<Statistics> rouge_rows(const ExtractiveRun& run, const std::vector<Example>& examples) {
  const auto predictions = summarize_all(run, examples);
  EXPECT_TRUE(predictions.ok());
  std::vector<ScoreItem> items(examples.size());
  for (size_t i = 0; i < examples.size(); ++i) {
    items[i].candidate = predictions->at(i).text;
    items[i].references = examples[i].references;
  }
  return *metrics::RougeMetric().measure(items);
}

class ReadingMore : public testing::TestWithParam<std::string> {};

TEST_P(ReadingMore, TheWholeMeetingBeatsItsFirst256Tokens) {
  const std::vector<Example> examples = mini_meetings_test();
  ASSERT_EQ(examples.size(), 40U);
  std::vector<std::string> clusters;
  for (const Example& example : examples) clusters.push_back(example.document_id);

  const auto whole = rouge_rows({.method = GetParam()}, examples);
  const auto head =
      rouge_rows({.method = GetParam(), .params = {{"local_context", int64_t{256}}}}, examples);
  const auto differences = metrics::bootstrap_differences(whole, head, clusters);
  ASSERT_TRUE(differences.ok());
  const size_t rouge1_f = 2;
  const metrics::PairedDifference& gain = (*differences)[rouge1_f];
  EXPECT_TRUE(gain.interval.available());
  EXPECT_GT(gain.interval.low, 0) << "gain " << gain.difference << ", interval up to "
                                  << gain.interval.high;
}

INSTANTIATE_TEST_SUITE_P(MiniMeetings, ReadingMore, testing::Values("bm25", "oracle"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace qfs::test

// coverage, density, compression, novel-ngrams and repetition against summ-eval 0.892, which
// carries Newsroom's Fragments, bit for bit. Expected values: make_surface_expected.py.
#include <fstream>

#include "metrics/catalog.h"
#include "tests/conformance/metrics/chinese_values.h"
#include "tests/support/random_texts.h"
#include "tests/support/shared_data.h"

namespace qfs::test {
namespace {

using Pair = std::pair<std::string, std::string>;  ///< summary, document

const nlohmann::json& expected() {
  static const nlohmann::json values = expected_values("surface_expected.json");
  return values;
}

/// The script's row: its words are those of str.split().
std::vector<Row> rows_of(const std::vector<Pair>& pairs) {
  std::vector<ScoreItem> items;
  for (const auto& [summary, document] : pairs) {
    ScoreItem& item = items.emplace_back();
    item.candidate = summary;
    item.document = document;
  }
  std::vector<Row> rows(items.size());
  for (const char* name :
       {"coverage:segmenter=pretok", "density:segmenter=pretok", "compression:segmenter=pretok",
        "coverage:segmenter=pretok,case=keep", "density:segmenter=pretok,case=keep",
        "compression:segmenter=pretok,case=keep", "novel-ngrams:segmenter=pretok,case=keep",
        "repetition:segmenter=pretok,case=keep"}) {
    const auto metric = metrics::BuiltinMetrics().make(name);
    EXPECT_TRUE(metric.ok()) << name;
    const auto values = (*metric)->measure(items);
    EXPECT_TRUE(values.ok()) << values.error().to_string();
    if (!values.ok()) return rows;
    for (size_t i = 0; i < rows.size(); ++i) {
      rows[i].insert(rows[i].end(), (*values)[i].begin(), (*values)[i].end());
    }
  }
  return rows;
}

TEST(SurfaceConformance, RandomTexts) {
  const RandomTexts texts;
  SplitMix64 rng(expected().at("seed").get<uint64_t>());
  std::vector<Pair> pairs;
  while (pairs.size() < expected().at("count").get<size_t>()) {
    auto [document, summary] = texts.pair(rng);
    // The script takes documents that have a word; a metric refuses the others.
    ScoreItem item;
    item.document = document;
    if (!(*metrics::BuiltinMetrics().make("coverage:segmenter=pretok"))
             ->measure(std::span(&item, 1))
             .ok()) {
      continue;
    }
    pairs.emplace_back(std::move(summary), std::move(document));
  }
  const std::vector<Row> rows = rows_of(pairs);
  const nlohmann::json& first = expected().at("first");
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(rows[i], first[i].get<Row>()) << "pair " << i;
  }
  expect_equal_rows(rows, expected().at("digests"));
}

TEST(SurfaceConformance, SqualityResponsesAgainstTheirStories) {
  const auto path = shared_data("squality/data/v1-3/txt/dev.jsonl");
  QFS_SKIP_WITHOUT_DATA(path);
  std::ifstream file(path);
  std::vector<Pair> pairs;
  for (std::string line; std::getline(file, line);) {
    const nlohmann::json story = nlohmann::json::parse(line);
    for (const nlohmann::json& response : story.at("questions").at(0).at("responses")) {
      pairs.emplace_back(response.at("response_text"), story.at("document"));
    }
  }
  const nlohmann::json& values = expected().at("squality");
  ASSERT_EQ(pairs.size(), values.at("count").get<size_t>());
  const std::vector<Row> rows = rows_of(pairs);
  expect_equal_rows(rows, values.at("digests"));
  const Row means = values.at("means").get<Row>();
  for (size_t c = 0; c < means.size(); ++c) {
    double sum = 0;
    for (const Row& row : rows) sum += row[c];
    EXPECT_NEAR(sum / static_cast<double>(rows.size()), means[c], 1e-12) << "column " << c;
  }
}

}  // namespace
}  // namespace qfs::test

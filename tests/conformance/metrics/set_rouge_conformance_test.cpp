// The set-based profiles against rouge 1.0.1 (pltrdy) and rouge-chinese 1.0.3, bit for bit: the
// digests cover every value. Expected values: make_chinese_expected.py.
#include <fstream>

#include "metrics/catalog.h"
#include "tests/conformance/metrics/chinese_values.h"
#include "tests/support/chinese_texts.h"
#include "tests/support/shared_data.h"

namespace qfs::test {
namespace {

constexpr double kSetRougeTolerance = 1e-9;  // what the profiles promise; the digests ask for more

std::shared_ptr<const Metric> metric(std::string_view name) {
  auto made = metrics::BuiltinMetrics().make(name);
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().to_string());
  return *made;
}

ScoreItem item(std::string candidate, std::vector<std::string> references) {
  ScoreItem item;
  item.candidate = std::move(candidate);
  item.references = std::move(references);
  return item;
}

/// Where the package raises, the metric fails and the row is -1, as in the script.
Row row_or_raise(const Metric& metric, const ScoreItem& item) {
  const auto rows = metric.measure(std::span(&item, 1));
  if (rows) return rows->front();
  EXPECT_EQ(rows.error().kind, ErrorKind::data) << rows.error().to_string();
  return Row(metric.columns().size(), -1.0);
}

void expect_package(const std::string& name, const nlohmann::json& values) {
  const auto scorer = metric(name);
  std::vector<Row> rows;
  for (const auto& [candidate, reference] : ChineseTexts().random_pairs()) {
    rows.push_back(row_or_raise(*scorer, item(candidate, {reference})));
  }
  const nlohmann::json& first = values.at("first");
  for (size_t i = 0; i < first.size(); ++i) {
    const Row expected = first[i].get<Row>();
    ASSERT_EQ(rows[i].size(), expected.size());
    for (size_t c = 0; c < expected.size(); ++c) {
      EXPECT_NEAR(rows[i][c], expected[c], kSetRougeTolerance) << "pair " << i << ", column " << c;
    }
  }
  expect_equal_rows(rows, values.at("digests"));
  EXPECT_EQ(std::ranges::count_if(rows, [](const Row& row) { return row[0] < 0; }),
            values.at("raises").get<int64_t>());
}

TEST(SetRougeConformance, PltrdyOnRandomPairs) {
  expect_package("pltrdy-rouge-1.0.1", expected_values("chinese_expected.json").at("pltrdy"));
}

TEST(SetRougeConformance, RougeChineseOnRandomPairs) {
  expect_package("rouge-chinese-1.0.3",
                 expected_values("chinese_expected.json").at("rouge_chinese"));
}

/// One corpus: all rows bit-equal, and the mean of the last column.
void expect_corpus(const Metric& metric, const std::vector<ScoreItem>& items,
                   const nlohmann::json& values) {
  ASSERT_EQ(items.size(), values.at("count").get<size_t>());
  const auto rows = metric.measure(items);
  ASSERT_TRUE(rows.ok()) << rows.error().to_string();
  EXPECT_NEAR(metric.aggregate(*rows).back().value, values.at("mean").get<double>(),
              kSetRougeTolerance);
  EXPECT_EQ(digest(*rows, 0, rows->size()).substr(0, kShortDigest),
            values.at("digest").get<std::string>());
}

void append_each_against_the_next(const std::vector<std::string>& texts,
                                  std::vector<ScoreItem>& items) {
  for (size_t i = 0; i + 1 < texts.size(); ++i) items.push_back(item(texts[i], {texts[i + 1]}));
}

TEST(SetRougeConformance, ChineseOfTheSharedDataOverJieba) {
  const auto titles_path = shared_data("csl/benchmark/ts/test.first300.tsv");
  const auto summaries_path = shared_data("vcsum/vcsum_data/short_dev.txt");
  QFS_SKIP_WITHOUT_DATA(titles_path);
  QFS_SKIP_WITHOUT_DATA(summaries_path);
  QFS_SKIP_WITHOUT_JIEBA(metrics::find_jieba({}));
  std::vector<std::string> titles;
  std::ifstream titles_file(titles_path);
  for (std::string line; std::getline(titles_file, line);) {
    titles.push_back(line.substr(line.rfind('\t') + 1));
  }
  std::vector<std::string> summaries;
  std::ifstream summaries_file(summaries_path);
  for (std::string line; std::getline(summaries_file, line);) {
    summaries.push_back(nlohmann::json::parse(line).at("discussion"));
  }
  std::vector<ScoreItem> items;
  append_each_against_the_next(titles, items);
  append_each_against_the_next(summaries, items);
  const nlohmann::json values = expected_values("chinese_expected.json").at("real_scores");
  expect_corpus(*metric("rouge-chinese:segmenter=jieba"), items, values.at("chinese"));
  expect_corpus(*metric("longbench:language=zh"), items, values.at("longbench_zh"));
}

TEST(SetRougeConformance, EnglishResponsesOfSquality) {
  const auto path = shared_data("squality/data/v1-3/txt/dev.jsonl");
  QFS_SKIP_WITHOUT_DATA(path);
  std::vector<ScoreItem> against_one;
  std::vector<ScoreItem> against_all;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const nlohmann::json story = nlohmann::json::parse(line);
    for (const nlohmann::json& question : story.at("questions")) {
      std::vector<std::string> texts;
      for (const nlohmann::json& response : question.at("responses")) {
        texts.push_back(response.at("response_text"));
      }
      against_one.push_back(item(texts[0], {texts[1]}));
      against_all.push_back(item(texts[0], {texts.begin() + 1, texts.end()}));
    }
  }
  const nlohmann::json values = expected_values("chinese_expected.json").at("real_scores");
  expect_corpus(*metric("pltrdy-rouge"), against_one, values.at("pltrdy"));
  expect_corpus(*metric("longbench"), against_all, values.at("longbench_en"));
}

}  // namespace
}  // namespace qfs::test

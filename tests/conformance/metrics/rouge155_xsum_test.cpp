// The official ROUGE-1.5.5 scores of two systems on XSum's 11,334 test articles (EdinburghNLP/XSum
// 7b95485), reproduced from the outputs. The files say "SU4"; their numbers are those of ROUGE-SU*,
// pyrouge's default "-2 -1 -U" (SU4 itself would be 11.27 instead of 10.07 for ptgen's precision).
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <iostream>
#include <map>
#include <regex>
#include <sstream>

#include "harness/core/files.h"
#include "metrics/catalog.h"
#include "tests/support/shared_data.h"

namespace qfs::test {
namespace {

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::istringstream in(*read_file(path.string()));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// "rouge1.f" and so on, in percent, out of "f-score >> ROUGE(1/2/3/L/SU4): 16.30/1.60/…".
std::map<std::string, double> published_scores(const std::filesystem::path& path) {
  const std::map<std::string, std::string> suffix = {
      {"f-score", ".f"}, {"precision", ".p"}, {"recall", ".r"}};
  std::map<std::string, double> scores;
  for (const std::string& line : lines_of(path)) {
    const std::regex form(R"((\S+) >> ROUGE\(1/2/3/L/SU4\): (.+)/(.+)/(.+)/(.+)/(.+))");
    std::smatch match;
    if (!std::regex_match(line, match, form)) continue;
    const char* const variants[] = {"1", "2", "3", "L", "SU*"};
    for (size_t i = 0; i < 5; ++i) {
      scores[std::string("rouge") + variants[i] + suffix.at(match[1])] = std::stod(match[i + 2]);
    }
  }
  return scores;
}

class XsumOutputs : public testing::TestWithParam<const char*> {};

TEST_P(XsumOutputs, EveryPublishedScoreIsReproduced) {
  const auto folder = shared_data("xsum/xsum-model-predictions");
  const auto exceptions = shared_data("rouge155_data/wordnet-2.0.exc.tsv");
  QFS_SKIP_WITHOUT_DATA(folder);
  QFS_SKIP_WITHOUT_DATA(exceptions);
  const std::string system = GetParam();
  const auto references = lines_of(folder / "gold-test-sentences.txt");
  const auto candidates = lines_of(folder / (system + "-test-output.txt"));
  ASSERT_EQ(references.size(), 11334U);
  ASSERT_EQ(candidates.size(), 11334U);
  std::vector<ScoreItem> items;
  for (size_t i = 0; i < references.size(); ++i) {
    ScoreItem item;
    item.id = static_cast<int64_t>(i);
    item.candidate = candidates[i];
    item.references = {references[i]};
    items.push_back(std::move(item));
  }
  const auto metric = metrics::BuiltinMetrics().make(
      "rouge-1.5.5:n=3,stem=on,skip=any,skip_unigrams=only,exceptions=" + exceptions.string());
  ASSERT_TRUE(metric.ok()) << metric.error().to_string();
  const auto start = std::chrono::steady_clock::now();
  const auto rows = (*metric)->measure(items);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(rows.ok()) << rows.error().to_string();
  const auto published = published_scores(folder / (system + "-test-output.rouge"));
  ASSERT_EQ(published.size(), 15U);
  size_t compared = 0;
  for (const Score& score : (*metric)->aggregate(*rows)) {
    EXPECT_NEAR(100 * score.value, published.at(score.name), 0.01) << score.name;
    ++compared;
  }
  EXPECT_EQ(compared, 15U);
  std::cout << system << ": " << std::lround(11334 / seconds.count())
            << " pairs/s (R-1/2/3, L, SU*, stemmed)\n";
}

INSTANTIATE_TEST_SUITE_P(BothSystems, XsumOutputs, testing::Values("lead", "ptgen"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace qfs::test

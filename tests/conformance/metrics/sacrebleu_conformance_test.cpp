// bleu and chrf against sacreBLEU 2.6.0: sufficient statistics bit for bit, sentence and corpus
// scores, printed digits and signatures. Expected values: make_sacrebleu_expected.py.
#include <array>
#include <cstdio>
#include <fstream>

#include "harness/api/corpus_metric.h"
#include "harness/core/text/unicode.h"
#include "metrics/catalog.h"
#include "tests/conformance/metrics/chinese_values.h"
#include "tests/support/random_texts.h"
#include "tests/support/shared_data.h"

namespace qfs::test {
namespace {

constexpr double kScoreTolerance = 1e-9;  // logarithms of another libm; printed digits are exact

const nlohmann::json& expected() {
  static const nlohmann::json values = expected_values("sacrebleu_expected.json");
  return values;
}

/// The first `count` code points.
std::string beginning(const std::string& text, size_t count) {
  size_t i = 0;
  while (count-- > 0) i += code_point_at(text, i).bytes;
  return text.substr(0, i);
}

size_t code_points(const std::string& text) {
  size_t count = 0;
  for (size_t i = 0; i < text.size(); ++count) i += code_point_at(text, i).bytes;
  return count;
}

/// The script's generator.
class MixedTexts {
 public:
  MixedTexts() {
    std::ifstream file("tests/conformance/metrics/chinese_texts.json");
    pieces_ = nlohmann::json::parse(file).at("pieces").get<std::vector<std::string>>();
  }

  std::vector<ScoreItem> corpus(uint64_t seed, size_t count, bool vary) const {
    SplitMix64 rng(seed);
    std::vector<ScoreItem> items;
    for (size_t i = 0; i < count; ++i) {
      ScoreItem& item = items.emplace_back();
      item.id = static_cast<int64_t>(i);
      item.candidate = text(rng);
      const size_t references = vary ? 1 + rng.below(3) : 1;
      for (size_t r = 0; r < references; ++r) {
        const size_t shared = rng.below(2) == 0 ? rng.below(code_points(item.candidate) + 1) : 0;
        const std::string head = beginning(item.candidate, shared);
        item.references.push_back(head + text(rng));
      }
    }
    return items;
  }

 private:
  std::string text(SplitMix64& rng) const {
    constexpr size_t kWords[] = {5, 20, 72};
    constexpr const char* kOdd[] = {"",
                                    "",
                                    "",
                                    " <skipped> &amp;lt; ",
                                    "well-\nknown &quot;x&quot;",
                                    " 3-4, 5.6 .",
                                    "\u2192\u2022 \u00a9",
                                    "¿qué? «no»"};
    const size_t kind = rng.below(4);
    std::string text;
    if (kind != 0) text = words_.text(rng, kWords[rng.below(3)]);
    if (kind <= 1) {
      const size_t pieces = rng.below(20);
      for (size_t i = 0; i < pieces; ++i) text += pieces_[rng.below(pieces_.size())];
    }
    return text + kOdd[rng.below(8)];
  }

  RandomTexts words_;
  std::vector<std::string> pieces_;
};

std::string text_digest(const std::vector<ScoreItem>& items) {
  std::string text;
  for (const ScoreItem& item : items) {
    if (!text.empty()) text += '\x1e';
    text += item.candidate;
    for (const std::string& reference : item.references) text += '\x1f' + reference;
  }
  return sha256_hex(text);
}

void expect_sacrebleu(const std::vector<ScoreItem>& items, const std::string& name,
                      const nlohmann::json& values) {
  SCOPED_TRACE(name);
  const auto made = metrics::BuiltinMetrics().make(name);
  ASSERT_TRUE(made.ok()) << made.error().to_string();
  const auto* const metric = dynamic_cast<const CorpusMetric*>(made->get());
  ASSERT_NE(metric, nullptr);
  const auto rows = metric->measure(items);
  ASSERT_TRUE(rows.ok()) << rows.error().to_string();
  std::vector<Row> statistics;
  size_t fewest = items[0].references.size();
  size_t most = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    statistics.emplace_back((*rows)[i].begin() + 1, (*rows)[i].end());
    fewest = std::min(fewest, items[i].references.size());
    most = std::max(most, items[i].references.size());
  }
  expect_equal_rows(statistics, values.at("statistics"));
  const Row sentences = values.at("sentences").get<Row>();
  for (size_t i = 0; i < sentences.size(); ++i) {
    EXPECT_NEAR((*rows)[i][0], sentences[i], kScoreTolerance) << "sentence " << i;
  }
  const double corpus = metric->aggregate(*rows)[0].value;
  EXPECT_NEAR(corpus, values.at("corpus").get<double>(), kScoreTolerance);
  std::array<char, 64> printed{};
  std::snprintf(printed.data(), printed.size(), "%.4f", corpus);
  EXPECT_EQ(printed.data(), values.at("printed").get<std::string>());
  EXPECT_EQ(metric->tool_signature(fewest, most),
            values.at("name").get<std::string>() + "|" + values.at("signature").get<std::string>());
}

void expect_corpus(const std::vector<ScoreItem>& items, const std::string& name) {
  const nlohmann::json& corpus = expected().at("corpora").at(name);
  ASSERT_EQ(items.size(), corpus.at("count").get<size_t>());
  ASSERT_EQ(text_digest(items), corpus.at("texts").get<std::string>());
  for (const auto& [metric, values] : corpus.at("metrics").items()) {
    expect_sacrebleu(items, metric, values);
  }
}

TEST(SacrebleuConformance, OneReference) {
  const auto seed = expected().at("seed").get<uint64_t>();
  const auto count = expected().at("corpora").at("one").at("count").get<size_t>();
  expect_corpus(MixedTexts().corpus(seed, count, false), "one");
}

TEST(SacrebleuConformance, OneToThreeReferences) {
  const auto seed = expected().at("seed").get<uint64_t>() + 1;
  const auto count = expected().at("corpora").at("varying").at("count").get<size_t>();
  expect_corpus(MixedTexts().corpus(seed, count, true), "varying");
}

TEST(SacrebleuConformance, SqualityResponsesAgainstEachOther) {
  std::vector<ScoreItem> items;
  for (const char* split : {"train", "dev"}) {
    const auto path = shared_data(std::string("squality/data/v1-3/txt/") + split + ".jsonl");
    QFS_SKIP_WITHOUT_DATA(path);
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      const nlohmann::json story = nlohmann::json::parse(line);
      for (const nlohmann::json& question : story.at("questions")) {
        const nlohmann::json& responses = question.at("responses");
        for (size_t i = 0; i < responses.size(); ++i) {
          ScoreItem& item = items.emplace_back();
          item.candidate = responses[i].at("response_text");
          for (size_t j = 0; j < responses.size(); ++j) {
            if (j != i) item.references.push_back(responses[j].at("response_text"));
          }
        }
      }
    }
  }
  expect_corpus(items, "squality");
}

}  // namespace
}  // namespace qfs::test

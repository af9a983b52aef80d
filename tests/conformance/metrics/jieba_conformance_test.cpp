// Our jieba against jieba 0.42.1, word for word. With a small dictionary of our own always; with
// jieba's own files where they are installed. Expected values: make_chinese_expected.py.
#include <fstream>

#include "metrics/chinese/jieba_cut.h"
#include "tests/conformance/metrics/chinese_values.h"
#include "tests/support/chinese_texts.h"
#include "tests/support/shared_data.h"

namespace qfs::test {
namespace {

using metrics::JiebaCut;
using metrics::JiebaSegmenter;

// SHA-256 of jieba 0.42.1's dict.txt; another version's has other words.
constexpr std::string_view kDictionarySha256 =
    "7197c3211ddd98962b036cdf40324d1ea2bfaa12bd028e68faa70111a88e12a8";

nlohmann::json expected() { return expected_values("chinese_expected.json"); }

auto words_of(const metrics::Segmenter& segmenter) {
  return [&segmenter](std::string_view text, std::vector<std::string_view>& words) {
    const Status status = segmenter.segment(text, words);
    EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().to_string());
  };
}

/// The installed jieba, or why it cannot be compared with.
Result<metrics::JiebaFiles> jieba_0_42_1(bool hmm = true) {
  Result<metrics::JiebaFiles> files = metrics::find_jieba({.hmm = hmm});
  if (files && files->dictionary_sha256 != kDictionarySha256) {
    return unavailable(files->dictionary + " is not that of jieba 0.42.1");
  }
  return files;
}

TEST(JiebaConformance, TheGeneratedTextsAreThoseOfTheScript) {
  const ChineseTexts source;
  std::string joined;
  for (const std::string& text : source.random_texts()) joined += text + '\x1e';
  for (const auto& [candidate, reference] : source.random_pairs()) {
    joined += candidate + '\x1e' + reference + '\x1e';
  }
  joined.pop_back();
  EXPECT_EQ(short_sha(joined), expected().at("texts").get<std::string>());
}

TEST(JiebaConformance, SmallDictionaryAndTables) {
  const ChineseTexts source;
  const metrics::JiebaDictionary dictionary = source.dictionary();
  const metrics::JiebaHmm hmm = source.hmm();
  std::vector<std::string> texts = source.random_texts();
  texts.insert(texts.end(), source.sentences().begin(), source.sentences().end());
  for (const bool with_hmm : {true, false}) {
    JiebaCut cut(dictionary, with_hmm ? &hmm : nullptr);
    expect_equal_words(texts, expected().at("mini_jieba").at(with_hmm ? "hmm" : "no_hmm"),
                       [&](std::string_view text, auto& words) { cut.cut(text, words); });
  }
}

TEST(JiebaConformance, OwnSentences) {
  const auto files = jieba_0_42_1();
  QFS_SKIP_WITHOUT_JIEBA(files);
  const ChineseTexts source;
  for (const bool hmm : {true, false}) {
    const JiebaSegmenter segmenter(*jieba_0_42_1(hmm));
    const nlohmann::json values = expected().at("jieba").at("sentences").at(hmm ? "hmm" : "no_hmm");
    for (size_t i = 0; i < source.sentences().size(); ++i) {
      std::vector<std::string_view> words;
      words_of(segmenter)(source.sentences()[i], words);
      std::string slashed;
      for (size_t w = 0; w < words.size(); ++w)
        slashed += (w > 0 ? "/" : "") + std::string(words[w]);
      EXPECT_EQ(slashed, values[i].get<std::string>());
    }
  }
}

TEST(JiebaConformance, RandomTexts) {
  const auto files = jieba_0_42_1();
  QFS_SKIP_WITHOUT_JIEBA(files);
  const std::vector<std::string> texts = ChineseTexts().random_texts();
  const nlohmann::json values = expected().at("jieba").at("random");
  expect_equal_words(texts, values.at("hmm"), words_of(JiebaSegmenter(*files)));
  expect_equal_words(texts, values.at("no_hmm"), words_of(JiebaSegmenter(*jieba_0_42_1(false))));
}

void collect_strings(const nlohmann::json& value, std::vector<std::string>& texts) {
  if (value.is_string()) {
    texts.push_back(value.get<std::string>());
  } else if (value.is_structured()) {
    for (const auto& item : value) collect_strings(item, texts);  // objects in order of their keys
  }
}

/// The texts of one instance, a line: all strings of a JSON object, or the fields of a TSV row.
std::vector<std::string> texts_of_line(const std::string& line, bool tsv) {
  std::vector<std::string> texts;
  if (!tsv) {
    collect_strings(nlohmann::json::parse(line), texts);
    return texts;
  }
  for (size_t begin = 0; begin <= line.size();) {
    const size_t end = std::min(line.find('\t', begin), line.size());
    texts.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return texts;
}

TEST(JiebaConformance, EveryChineseTextOfTheSharedData) {
  const auto files = jieba_0_42_1();
  QFS_SKIP_WITHOUT_JIEBA(files);
  const JiebaSegmenter segmenter(*files);
  const nlohmann::json real = expected().at("jieba").at("real");
  ASSERT_EQ(real.size(), 6U);
  for (const auto& [name, values] : real.items()) {
    const auto path = shared_data(name);
    QFS_SKIP_WITHOUT_DATA(path);
    std::vector<std::vector<std::string>> instances;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      instances.push_back(texts_of_line(line, name.ends_with(".tsv")));
    }
    size_t texts_seen = 0;
    size_t words_seen = 0;
    const nlohmann::json& digests = values.at("digests");
    for (size_t block = 0; block * kBlock < instances.size(); ++block) {
      std::vector<std::string> texts;
      for (size_t i = block * kBlock; i < std::min((block + 1) * kBlock, instances.size()); ++i) {
        texts.insert(texts.end(), instances[i].begin(), instances[i].end());
      }
      texts_seen += texts.size();
      ASSERT_LT(block, digests.size()) << name;
      EXPECT_EQ(words_digest(texts, words_of(segmenter), &words_seen),
                digests[block].get<std::string>())
          << name << ", instances from " << block * kBlock;
    }
    EXPECT_EQ(texts_seen, values.at("texts").get<size_t>()) << name;
    EXPECT_EQ(words_seen, values.at("words").get<size_t>()) << name;
  }
}

}  // namespace
}  // namespace qfs::test

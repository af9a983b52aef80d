// PunktSplitter against NLTK 3.6.2, 3.9.2 and 3.10.4, sentence by sentence, and rouge with
// split=punkt against rouge_score 0.1.2 with split_summaries. Expected values:
// make_punkt_expected.py.
#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>

#include "harness/core/byte_source.h"
#include "metrics/punkt/punkt_files.h"
#include "metrics/punkt/punkt_splitter.h"
#include "tests/conformance/metrics/expected_values.h"
#include "tests/support/random_texts.h"
#include "tests/support/shared_data.h"

namespace qfs::test {
namespace {

using metrics::PunktModel;
using metrics::PunktRules;
using metrics::PunktSplitter;

std::shared_ptr<const PunktModel> small_model() {
  const nlohmann::json model = expected_values("punkt_texts.json").at("model");
  metrics::PunktTables tables;
  model.at("abbreviations").get_to(tables.abbreviations);
  model.at("collocations").get_to(tables.collocations);
  model.at("sentence_starters").get_to(tables.sentence_starters);
  model.at("orthography").get_to(tables.orthography);
  return std::make_shared<PunktModel>(tables);
}

/// What make_punkt_expected.py calls Digest.
class Digest {
 public:
  void add(const std::vector<std::string_view>& sentences) {
    ++texts_;
    sentences_ += sentences.size();
    for (size_t i = 0; i < sentences.size(); ++i) {
      if (i > 0) hash_.update("\x1f");
      hash_.update(sentences[i]);
    }
    hash_.update("\x1e");
  }
  nlohmann::json value() { return {texts_, sentences_, hash_.hex().substr(0, 16)}; }

 private:
  Sha256 hash_;
  size_t texts_ = 0;
  size_t sentences_ = 0;
};

/// Strings of a JSON value in the order of the file, keys left out.
struct Strings : nlohmann::json_sax<nlohmann::json> {
  std::vector<std::string>* texts = nullptr;
  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& value) override {
    texts->push_back(value);
    return true;
  }
  bool binary(binary_t& /*value*/) override { return true; }
  bool start_object(std::size_t /*size*/) override { return true; }
  bool key(string_t& /*key*/) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t /*size*/) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t at, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    ADD_FAILURE() << "byte " << at << ": " << error.what();
    return false;
  }
};

std::string whole_file(const std::string& path) {
  std::string text;
  auto source = open_byte_source(path);
  if (!source.ok()) return text;
  std::array<char, 1 << 16> buffer;
  while (true) {
    const Result<size_t> size = (*source)->read(buffer);
    if (!size.ok() || *size == 0) return text;
    text.append(buffer.data(), *size);
  }
}

/// As texts_of in the script.
std::vector<std::string> texts_of(const std::string& path) {
  const std::string text = whole_file(path);
  std::vector<std::string> texts;
  Strings strings;
  strings.texts = &texts;
  const bool lines = text.find("}\n{") != std::string::npos;
  if (path.ends_with(".json") && !lines) {
    nlohmann::json::sax_parse(text, &strings);
    return texts;
  }
  const bool json = text.starts_with('{');
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    if (!json) {
      texts.push_back(line);
    } else if (line.find_first_not_of(" \t\r") != std::string::npos) {
      nlohmann::json::sax_parse(line, &strings);
    }
    begin = end + 1;
  }
  if (!json) texts.push_back(text);
  return texts;
}

struct Release {
  const char* name;
  PunktRules rules;
};

class PunktConformance : public testing::TestWithParam<Release> {
 protected:
  void SetUp() override {
    all_ = expected_values("punkt_expected.json");
    expected_ = all_.at(GetParam().name);
    const nlohmann::json pieces = expected_values("punkt_texts.json");
    SplitMix64 rng(all_.at("seed").get<uint64_t>());
    for (size_t i = 0; i < all_.at("count").get<size_t>(); ++i) {
      std::string text;
      for (size_t left = rng.below(24); left > 0; --left) {
        for (const char* kind : {"pieces", "separators"}) {
          const nlohmann::json& list = pieces.at(kind);
          text += list[rng.below(list.size())].get_ref<const std::string&>();
        }
      }
      texts_.push_back(std::move(text));
    }
  }

  void expect_generated(const std::shared_ptr<const PunktModel>& model,
                        const nlohmann::json& expected) const {
    ASSERT_EQ(model->sha256(), expected.at("sha256").get<std::string>());
    const PunktSplitter splitter(model, GetParam().rules);
    const auto block = all_.at("block").get<size_t>();
    for (size_t begin = 0; begin < texts_.size(); begin += block) {
      Digest digest;
      for (size_t i = begin; i < begin + block; ++i) digest.add(splitter.split(texts_[i]));
      EXPECT_EQ(digest.value(), expected.at("blocks")[begin / block]) << "texts from " << begin;
    }
  }

  /// The English model, or nullptr with the reason why this test is skipped.
  static std::shared_ptr<const PunktModel> english(std::string& reason) {
    auto model = metrics::load_punkt("");
    if (model.ok()) return *model;
    reason = model.error().to_string();
    return nullptr;
  }

  nlohmann::json all_;
  nlohmann::json expected_;
  std::vector<std::string> texts_;
};

TEST_P(PunktConformance, TheGeneratedTextsAreThoseOfTheScript) {
  Sha256 hash;
  for (size_t i = 0; i < texts_.size(); ++i) {
    if (i > 0) hash.update("\x1e");
    hash.update(texts_[i]);
  }
  EXPECT_EQ(hash.hex(), all_.at("texts_sha256").get<std::string>());
}

TEST_P(PunktConformance, SentencesOfGeneratedTextsWithASmallModel) {
  const PunktSplitter splitter(small_model(), GetParam().rules);
  const nlohmann::json& small = expected_.at("small");
  for (const nlohmann::json& pair : small.at("first")) {
    const auto text = pair[0].get<std::string>();
    const auto sentences = splitter.split(text);
    EXPECT_EQ(nlohmann::json(std::vector<std::string>(sentences.begin(), sentences.end())), pair[1])
        << text;
  }
  expect_generated(small_model(), small);
}

TEST_P(PunktConformance, SplitSummariesOfRougeScore) {
  metrics::RougeOptions options;
  options.split.punkt = std::make_shared<PunktSplitter>(small_model(), GetParam().rules);
  metrics::RougeScorer scorer(options);
  const nlohmann::json& rows = expected_.at("small").at("rougeLsum");
  ASSERT_EQ(rows.size(), 200U);
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto scores = scorer.score_multi({&texts_[2 * i], 1}, texts_[2 * i + 1]);
    ASSERT_TRUE(scores.ok());
    const Row row = row_of(*scores);
    expect_rows_near({row.begin() + 9, row.end()}, rows[i].get<Row>(), "pair " + std::to_string(i));
  }
}

TEST_P(PunktConformance, SentencesOfGeneratedTextsWithTheEnglishModel) {
  std::string reason;
  const auto model = english(reason);
  if (model == nullptr) GTEST_SKIP() << reason;
  expect_generated(model, expected_.at("english"));
}

TEST_P(PunktConformance, SentencesOfAllEnglishTextsOfTheSharedData) {
  std::string reason;
  const auto model = english(reason);
  if (model == nullptr) GTEST_SKIP() << reason;
  const PunktSplitter splitter(model, GetParam().rules);
  const nlohmann::json& files = expected_.at("english").at("files");
  QFS_SKIP_WITHOUT_DATA(shared_data(files.begin().key()));
  size_t texts = 0;
  for (const auto& [path, expected] : files.items()) {
    Digest digest;
    for (const std::string& text : texts_of(shared_data(path).string())) {
      digest.add(splitter.split(text));
      ++texts;
    }
    EXPECT_EQ(digest.value(), expected) << path;
  }
  EXPECT_GT(texts, 100000U);
}

INSTANTIATE_TEST_SUITE_P(Nltk, PunktConformance,
                         testing::Values(Release{"3.6", PunktRules::nltk_3_6},
                                         Release{"3.9", PunktRules::nltk_3_9},
                                         Release{"3.10", PunktRules::nltk_3_10}),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           std::ranges::replace(name, '.', '_');
                           return "Nltk" + name;
                         });

}  // namespace
}  // namespace qfs::test

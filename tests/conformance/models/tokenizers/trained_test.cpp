// Small tokenizers of every kind give ids and ranges of Hugging Face tokenizers on 10,000 random
// strings, the same templates and the same decoded texts. Values by make_trained.py.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/core/sha256.h"
#include "methods/models/tokenizers/pipeline/json_tokenizer.h"
#include "tests/support/random_strings.h"
#include "tests/support/token_lines.h"

namespace qfs::tokenizers {
namespace {

constexpr size_t kStrings = 10000;
constexpr size_t kBlock = 250;
constexpr auto kFolder = "tests/conformance/models/tokenizers/trained";

const std::vector<std::string>& strings() {
  static const std::vector<std::string> kTexts = qfs::test::random_strings(kStrings, 20261121);
  return kTexts;
}

/// In the reference the bytes of a stretch of characters that a Unigram model lacks have the whole
/// stretch as their range; here each has its own character, so that texts can be cut between them.
void join_byte_ranges(std::vector<Token>& tokens, int32_t first_byte_id) {
  const auto is_byte = [&](const Token& token) {
    return token.id >= first_byte_id && token.end - token.begin <= 4;  // not "<0x41>" in the text
  };
  for (size_t i = 0; i < tokens.size();) {
    size_t end = i + 1;
    while (is_byte(tokens[i]) && end < tokens.size() && is_byte(tokens[end])) ++end;
    const Token whole{0, tokens[i].begin, tokens[end - 1].end};
    for (; i < end; ++i) {
      tokens[i].begin = whole.begin;
      tokens[i].end = whole.end;
    }
  }
}

class TrainedTokenizers : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    std::ifstream file(std::string(kFolder) + "/" + GetParam() + ".json");
    expected_ = nlohmann::json::parse(file);
    const auto made = make_json_tokenizer(expected_["tokenizer"].dump(), GetParam());
    ASSERT_TRUE(made.ok()) << made.error().to_string();
    tokenizer_ = *made;
  }

  void compare(const char* mode, bool plain) {
    const auto& hashes = expected_[mode];
    ASSERT_EQ(hashes.size() * kBlock, kStrings);
    for (size_t block = 0; block < hashes.size(); ++block) {
      std::string lines;
      for (size_t i = block * kBlock; i < (block + 1) * kBlock; ++i) {
        std::vector<Token> tokens =
            plain ? tokenizer_->encode(strings()[i]) : tokenizer_->encode_marked(strings()[i]);
        if (GetParam() == "unigram_bytes") {
          join_byte_ranges(tokens, static_cast<int32_t>(tokenizer_->vocabulary_size()) - 256);
        }
        lines += qfs::test::token_line(strings()[i], tokens);
      }
      EXPECT_EQ(sha256_hex(lines).substr(0, 16), hashes[block]) << mode << ", block " << block;
    }
  }

  nlohmann::json expected_;
  std::shared_ptr<const VocabularyTokenizer> tokenizer_;
};

TEST_P(TrainedTokenizers, ids_and_ranges_of_plain_texts_equal_the_reference) {
  compare("plain", true);
}

TEST_P(TrainedTokenizers, ids_and_ranges_of_marked_texts_equal_the_reference) {
  compare("marked", false);
}

TEST_P(TrainedTokenizers, templates_around_one_and_two_texts_equal_the_reference) {
  for (size_t i = 0; i < expected_["inputs"].size(); ++i) {
    const ModelInput single = tokenizer_->model_input(strings()[i]);
    const ModelInput pair = tokenizer_->model_input(strings()[i], strings()[i + 20]);
    nlohmann::json row = nlohmann::json::array();
    for (const ModelInput* input : {&single, &pair}) {
      nlohmann::json ids = nlohmann::json::array();
      for (const Token& token : input->tokens) ids.push_back(token.id);
      row.push_back(ids);
      row.push_back(input->type_ids);
    }
    EXPECT_EQ(row, expected_["inputs"][i]) << i;
  }
}

TEST_P(TrainedTokenizers, decoded_texts_equal_the_reference) {
  for (const auto& row : expected_["decoded"]) {
    const auto ids = row[0].get<std::vector<int32_t>>();
    EXPECT_EQ(tokenizer_->decode(ids), row[1].get<std::string>()) << row[0];
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, TrainedTokenizers,
                         ::testing::Values("albert", "bert", "bert_parts", "clip", "deepseek",
                                           "falcon", "gpt2", "llama2", "llama2_metaspace", "llama3",
                                           "prefixed", "qwen2", "roberta", "t5", "unigram_bytes"),
                         [](const auto& info) { return info.param; });

TEST(RandomStrings, are_those_of_the_script) {
  std::ifstream file(std::string(kFolder) + "/gpt2.json");
  const auto expected = nlohmann::json::parse(file);
  std::string joined;
  for (const std::string& text : strings()) {
    if (&text != &strings().front()) joined += '\n';
    joined += text;
  }
  EXPECT_EQ(sha256_hex(joined), expected["strings"]);
}

}  // namespace
}  // namespace qfs::tokenizers

// Token ids equal those of Hugging Face tokenizers with SmolLM2's right pre-tokenizer; values by
// make_smollm_expected.py. Skipped when the checkpoint is absent.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "methods/models/checkpoints/gguf.h"
#include "methods/models/checkpoints/gguf_digests.h"
#include "methods/models/prompting/chat/chat_template.h"
#include "methods/models/tokenizers/folders/open_tokenizer.h"
#include "methods/models/tokenizers/tokenizer.h"
#include "tests/support/model_file.h"

namespace qfs::tokenizers {
namespace {

class SmollmConformance : public ::testing::Test {
 protected:
  void SetUp() override {
    const Result<Resource> resource = qfs::test::smollm2_tokenizer();
    if (!resource.ok()) GTEST_SKIP() << "SmolLM2 checkpoint: " << resource.error().to_string();
    auto opened = open_vocabulary_tokenizer(*resource);
    ASSERT_TRUE(opened.ok()) << opened.error().to_string();
    tokenizer_ = *opened;
    path_ = resource->path;
    std::ifstream file("tests/conformance/models/tokenizers/smollm_expected.json");
    expected_ = nlohmann::json::parse(file);
  }
  std::shared_ptr<const VocabularyTokenizer> tokenizer_;
  nlohmann::json expected_;
  std::string path_;
};

TEST_F(SmollmConformance, ids_equal_the_reference_on_every_prompt) {
  ASSERT_GT(expected_["cases"].size(), 400u);
  for (const auto& item : expected_["cases"]) {
    const std::string text = item["text"];
    std::vector<int32_t> ids;
    for (const Token& token : tokenizer_->encode(text)) ids.push_back(token.id);
    EXPECT_EQ(ids, item["ids"].get<std::vector<int32_t>>()) << item["name"] << ": " << text;
    EXPECT_EQ(tokenizer_->count(text), static_cast<int64_t>(ids.size()));
  }
}

TEST_F(SmollmConformance, ranges_are_ordered_and_decoding_gives_the_covered_bytes) {
  for (const auto& item : expected_["cases"]) {
    const std::string text = item["text"];
    std::string covered;
    std::vector<int32_t> ids;
    int64_t end = 0;
    bool complete = true;
    for (const Token& token : tokenizer_->encode(text)) {
      ASSERT_GE(token.begin, end);
      complete = complete && token.begin == end;
      end = token.end;
      ids.push_back(token.id);
    }
    complete = complete && end == static_cast<int64_t>(text.size());
    if (complete) {
      EXPECT_EQ(tokenizer_->decode(ids), text) << item["name"];
    }
  }
}

TEST_F(SmollmConformance, the_file_says_what_the_tokenizer_reports) {
  EXPECT_EQ(tokenizer_->vocabulary_size(), 49152);
  EXPECT_EQ(tokenizer_->end_of_sequence_id(), 2);
  EXPECT_TRUE(tokenizer_->model_input("").tokens.empty());  // add_bos_token is false
  EXPECT_EQ(tokenizer_->special_id("<|im_start|>"), 1);
  EXPECT_EQ(tokenizer_->special_id("<|im_end|>"), 2);
}

TEST_F(SmollmConformance, the_registry_declares_the_digests_of_the_file) {
  const auto file = checkpoints::GgufFile::open(path_);
  ASSERT_TRUE(file.ok());
  for (const auto& backbone : registry::registered_backbones()) {
    if (backbone.name != "smollm2-135m") continue;
    EXPECT_EQ(checkpoints::tokenizer_digest(**file), backbone.tokenizer_digest);
    EXPECT_EQ(checkpoints::chat_template_digest(**file), backbone.template_digest);
  }
}

TEST_F(SmollmConformance, chat_prompts_have_the_ids_of_the_template) {
  std::ifstream stream("tests/conformance/models/architectures/smollm2_expected.json");
  const auto expected = nlohmann::json::parse(stream);
  const auto file = checkpoints::GgufFile::open(path_);
  ASSERT_TRUE(file.ok());
  const auto format = prompting::chat_format(checkpoints::chat_template_digest(**file));
  ASSERT_TRUE(format.ok()) << format.error().to_string();
  size_t compared = 0;
  for (const auto& item : expected["cases"]) {
    const std::string name = item["name"];
    if (!expected["chat_user_texts"].contains(name)) continue;
    const std::vector<prompting::ChatMessage> messages = {
        {"user", expected["chat_user_texts"][name]}};
    const auto ids =
        prompting::encode_pieces(*tokenizer_, prompting::render_chat(*format, messages));
    ASSERT_TRUE(ids.ok());
    EXPECT_EQ(*ids, item["ids"].get<std::vector<int32_t>>()) << name;
    ++compared;
  }
  EXPECT_EQ(compared, 2u);
}

}  // namespace
}  // namespace qfs::tokenizers

// Folders whose tokenizer_config.json says something else than the tokenizer's file give texts and
// conversations the ids of transformers 5.23. Values by make_folders.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/core/sha256.h"
#include "methods/models/checkpoints/model_directory.h"
#include "methods/models/prompting/chat/chat_renderer.h"
#include "methods/models/tokenizers/folders/tokenizer_files.h"
#include "methods/models/tokenizers/pipeline/base64.h"
#include "tests/support/random_strings.h"
#include "tests/support/temporary_folder.h"

namespace qfs::tokenizers {
namespace {

using nlohmann::json;

const json& expected() {
  static const json kFile = [] {
    std::ifstream stream("tests/conformance/models/tokenizers/folders.json");
    return json::parse(stream);
  }();
  return kFile;
}

void write(const qfs::test::TemporaryFolder& folder, const json& test_case) {
  for (const auto& [name, content] : expected()["bases"][test_case["base"]].items()) {
    const auto bytes = decode_base64(content.get<std::string>());
    ASSERT_TRUE(bytes) << name;
    folder.write(name, *bytes);
  }
  folder.write("tokenizer_config.json", test_case["config"].dump());
}

TEST(FolderConformance, TextsHaveTheIdsOfTransformers) {
  size_t compared = 0;
  for (const json& test_case : expected()["cases"]) {
    SCOPED_TRACE(test_case["base"].get<std::string>() + " " + test_case["config"].dump());
    const qfs::test::TemporaryFolder folder;
    write(folder, test_case);
    const auto tokenizer = open_tokenizer_files(folder.path());
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().to_string();
    const auto& texts = expected()["texts"];
    for (size_t i = 0; i < texts.size(); ++i) {
      const auto ids = ids_of((*tokenizer)->model_input(texts[i].get<std::string>()).tokens);
      EXPECT_EQ(json(ids), test_case["ids"][i]) << texts[i];
      ++compared;
    }
  }
  EXPECT_GE(compared, 700u);
}

TEST(FolderConformance, RandomTextsHaveTheIdsOfTransformers) {
  constexpr size_t kBlock = 1000;
  std::vector<std::string> texts = qfs::test::random_strings(10000, 20261122);
  std::erase_if(texts, [](const std::string& text) {  // as make_folders.py
    return std::ranges::any_of(std::array{"<0x", "<s>", "</s>", "<unk>"},
                               [&](const char* part) { return text.find(part) != text.npos; });
  });
  size_t compared = 0;
  for (const json& test_case : expected()["cases"]) {
    if (!test_case.contains("random")) continue;
    SCOPED_TRACE(test_case["config"].dump());
    const qfs::test::TemporaryFolder folder;
    write(folder, test_case);
    const auto tokenizer = open_tokenizer_files(folder.path());
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().to_string();
    for (size_t block = 0; block < test_case["random"].size(); ++block) {
      std::string lines;
      for (size_t i = block * kBlock; i < std::min((block + 1) * kBlock, texts.size()); ++i) {
        std::string line;
        for (const Token& token : (*tokenizer)->model_input(texts.at(i)).tokens) {
          line.append(line.empty() ? "" : " ").append(std::to_string(token.id));
        }
        lines += line + "\n";
      }
      EXPECT_EQ(sha256_hex(lines).substr(0, 16), test_case["random"][block]) << "block " << block;
      ++compared;
    }
  }
  EXPECT_GE(compared, 100u);
}

TEST(FolderConformance, ConversationsHaveTheIdsOfTransformers) {
  std::vector<prompting::ChatMessage> messages;
  for (const json& message : expected()["messages"]) {
    messages.push_back({message["role"], message["content"]});
  }
  size_t compared = 0;
  for (const json& test_case : expected()["cases"]) {
    if (!test_case.contains("chat")) continue;
    SCOPED_TRACE(test_case["base"].get<std::string>() + " " + test_case["config"].dump());
    const qfs::test::TemporaryFolder folder;
    write(folder, test_case);
    const auto tokenizer = open_tokenizer_files(folder.path());
    const auto settings =
        prompting::read_chat_settings(*checkpoints::ModelDirectory::open(folder.path()));
    ASSERT_TRUE(tokenizer.ok() && settings.ok());
    const auto renderer = prompting::ChatRenderer::open(*settings, **tokenizer);
    ASSERT_TRUE(renderer.ok()) << renderer.error().to_string();
    const auto pieces = (*renderer)->render(messages);
    ASSERT_TRUE(pieces.ok()) << pieces.error().to_string();
    EXPECT_EQ(json(*prompting::encode_pieces(**tokenizer, *pieces)), test_case["chat"]);
    ++compared;
  }
  EXPECT_GE(compared, 30u);
}

TEST(FolderConformance, IdsHaveTheTextsOfTransformers) {
  size_t compared = 0;
  for (const json& test_case : expected()["cases"]) {
    if (!test_case.contains("decoded")) continue;
    SCOPED_TRACE(test_case["base"].get<std::string>() + " " + test_case["config"].dump());
    const qfs::test::TemporaryFolder folder;
    write(folder, test_case);
    const auto tokenizer = open_tokenizer_files(folder.path());
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().to_string();
    for (const json& decoded : test_case["decoded"]) {
      const std::vector<int32_t> ids = decoded[0];
      EXPECT_EQ((*tokenizer)->decode(ids), decoded[1].get<std::string>()) << decoded[0];
      ++compared;
    }
  }
  EXPECT_GE(compared, 150u);
}

}  // namespace
}  // namespace qfs::tokenizers

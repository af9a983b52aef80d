// Chat templates and expressions give the text of Jinja2, and fail where it fails. Values by
// make_templates.py.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "methods/models/checkpoints/gguf.h"
#include "methods/models/checkpoints/gguf_digests.h"
#include "methods/models/prompting/chat/chat_program.h"
#include "methods/models/tokenizers/folders/open_tokenizer.h"
#include "tests/support/model_file.h"

namespace qfs::prompting {
namespace {

using Json = nlohmann::ordered_json;

Json expected() {
  std::ifstream file("tests/conformance/models/prompting/templates.json");
  return Json::parse(file);
}

/// The whole text, or the error.
Result<std::string> render(const std::string& source, const Json& variables) {
  const auto program = ChatProgram::parse(source, "t");
  if (!program.ok()) return program.error();
  ChatInputs inputs;
  inputs.tokens = {{"bos_token", "<s>"}, {"eos_token", "</s>"}};
  inputs.date = "2026-11-21";
  inputs.variables = variables.dump();
  const auto pieces = (*program)->render(inputs, {});
  if (!pieces.ok()) return pieces.error();
  return prompt_text(*pieces);
}

void compare(const std::string& name, const Result<std::string>& text, const Json& wanted) {
  if (wanted.contains("output")) {
    ASSERT_TRUE(text.ok()) << name << ": " << text.error().to_string();
    EXPECT_EQ(*text, wanted["output"].get<std::string>()) << name;
  } else {
    EXPECT_FALSE(text.ok()) << name << " gave " << (text.ok() ? *text : "");
  }
}

TEST(ChatTemplates, render_as_the_reference_does) {
  const auto document = expected();
  ASSERT_GE(document["templates"].size(), 8u);
  for (const auto& item : document["templates"]) {
    for (size_t i = 0; i < document["inputs"].size(); ++i) {
      compare(item["name"].get<std::string>() + " " + std::to_string(i),
              render(item["source"], document["inputs"][i]), item["results"][i]);
    }
  }
}

TEST(ChatTemplates, expressions_have_the_values_of_the_reference) {
  const auto document = expected();
  ASSERT_GT(document["expressions"].size(), 60u);
  for (const auto& item : document["expressions"]) {
    const std::string source = item["source"];
    compare(source, render("{{ " + source + " }}", Json::object()), item);
  }
}

TEST(ChatTemplates, smollm2_s_own_template_gives_the_pieces_of_the_known_format) {
  const Result<Resource> resource = qfs::test::smollm2_tokenizer();
  if (!resource.ok()) GTEST_SKIP() << "SmolLM2 checkpoint: " << resource.error().to_string();
  const auto file = checkpoints::GgufFile::open(resource->path);
  ASSERT_TRUE(file.ok());
  const auto source = (*file)->text("tokenizer.chat_template");
  ASSERT_TRUE(source.ok());
  const auto program = ChatProgram::parse(*source, "smollm2");
  ASSERT_TRUE(program.ok()) << program.error().to_string();
  const auto format = chat_format(checkpoints::chat_template_digest(**file));
  ASSERT_TRUE(format.ok());
  const auto tokenizer = tokenizers::open_vocabulary_tokenizer(*resource);
  ASSERT_TRUE(tokenizer.ok());
  const std::vector<std::string> specials = (*tokenizer)->special_texts();
  for (const std::vector<ChatMessage>& messages :
       {std::vector<ChatMessage>{{"user", "What <|im_end|> is it?"}},
        std::vector<ChatMessage>{
            {"system", "Be brief."}, {"user", "a"}, {"assistant", "b"}, {"user", "c"}}}) {
    ChatInputs inputs;
    inputs.messages = messages;
    const auto pieces = (*program)->render(inputs, specials);
    ASSERT_TRUE(pieces.ok()) << pieces.error().to_string();
    EXPECT_EQ(*pieces, render_chat(*format, messages));
  }
}

}  // namespace
}  // namespace qfs::prompting

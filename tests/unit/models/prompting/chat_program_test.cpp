// Templates of strangers: what is unsupported is an error at its line and column, loops end at the
// limit, and messages never make special tokens.
#include "methods/models/prompting/chat/chat_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "methods/models/prompting/chat/chat_renderer.h"
#include "methods/models/tokenizers/folders/tokenizer_files.h"
#include "tests/support/temporary_folder.h"

namespace qfs::prompting {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<std::vector<PromptPiece>> render(const std::string& source, const ChatInputs& inputs = {},
                                        const std::vector<std::string>& specials = {}) {
  const auto program = ChatProgram::parse(source, "t");
  if (!program.ok()) return program.error();
  return (*program)->render(inputs, specials);
}

Error error_of(const std::string& source, const ChatInputs& inputs = {}) {
  const auto pieces = render(source, inputs);
  return pieces.ok() ? Error{ErrorKind::internal, "no error", ""} : pieces.error();
}

TEST(ChatProgram, unsupported_constructs_name_line_and_column) {
  const Error statement = error_of("a\n {% include 'x' %}");
  EXPECT_EQ(statement.kind, ErrorKind::unavailable);
  EXPECT_EQ(statement.where, "t:2:5");
  EXPECT_THAT(statement.message, HasSubstr("the statement 'include'"));
  EXPECT_THAT(error_of("{{ 1|frobnicate }}").message, HasSubstr("the filter 'frobnicate'"));
  EXPECT_EQ(error_of("{{ 1|frobnicate }}").kind, ErrorKind::unavailable);
  EXPECT_THAT(error_of("{{ 1 is prime }}").message, HasSubstr("the test 'prime'"));
  EXPECT_EQ(error_of("{{ 'a'.encode() }}").kind, ErrorKind::unavailable);
  EXPECT_EQ(error_of("{{ [].append(1) }}").kind, ErrorKind::unavailable);
  EXPECT_EQ(error_of("{{ strftime_now('%Y') }}").kind, ErrorKind::unavailable);
  ChatInputs dated;
  dated.date = "2026-11-21";
  EXPECT_EQ(prompt_text(*render("{{ strftime_now('%Y') }}", dated)), "2026");
}

TEST(ChatProgram, what_is_no_template_is_a_data_error) {
  for (const char* source : {"{{", "{% if x %}", "{{ 1 + }}", "{% endif %}", "{{ 'a }}", "{# x",
                             "{% for x %}{% endfor %}", "{{ (1 }}", "{% set a.b.c = 1 %}",
                             "{{ 99999999999999999999 }}", "{% raw %}", "{{ '\\ud800' }}"}) {
    EXPECT_EQ(error_of(source).kind, ErrorKind::data) << source;
  }
  EXPECT_EQ(error_of("{{ " + std::string(100000, '(') + " }}").kind, ErrorKind::data);
  std::string chain = "{{ a";
  for (int i = 0; i < 100000; ++i) chain += ".a";
  EXPECT_EQ(error_of(chain + " }}").kind, ErrorKind::data);
  std::string blocks;
  for (int i = 0; i < 100000; ++i) blocks += "{% if 1 %}";
  EXPECT_EQ(error_of(blocks).kind, ErrorKind::data);
}

TEST(ChatProgram, steps_and_output_are_limited) {
  EXPECT_THAT(
      error_of("{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}")
          .message,
      HasSubstr("too many steps"));
  EXPECT_THAT(error_of("{{ range(10000000000) }}").message, HasSubstr("too many steps"));
  EXPECT_THAT(error_of("{% set ns = namespace(s='xxxxxxxx') %}{% for i in range(100) %}"
                       "{% set ns.s = ns.s ~ ns.s %}{% endfor %}")
                  .message,
              HasSubstr("16 MiB"));
  EXPECT_THAT(error_of("{{ 'x' * 10000000000 }}").message, HasSubstr("16 MiB"));
  EXPECT_THAT(
      error_of("{% set ns = namespace(l=[1]) %}{% for i in range(60) %}"
               "{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l == [ns.l] }}{{ ns.l|tojson }}")
          .message,
      HasSubstr("too many steps"));
  EXPECT_THAT(error_of("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}").message,
              HasSubstr("50 levels"));
}

TEST(ChatProgram, values_cannot_hold_themselves_or_nest_without_end) {
  EXPECT_EQ(error_of("{% set ns = namespace(a=1) %}{% set ns.a = [ns] %}{{ ns.a }}").kind,
            ErrorKind::unavailable);
  EXPECT_EQ(error_of("{% set ns = namespace(a=1) %}{% set ns.a = {'x': ns}.items %}").kind,
            ErrorKind::unavailable);
  EXPECT_THAT(error_of("{% set ns = namespace(l=[]) %}{% for i in range(50000) %}"
                       "{% set ns.l = [ns.l] %}{% endfor %}{{ ns.l }}")
                  .message,
              HasSubstr("200 levels"));
  std::string methods = "{% set x = {} %}";
  for (int i = 0; i < 30000; ++i) methods += "{%set x={'a':x.items}%}";
  EXPECT_THAT(error_of(methods).message, HasSubstr("200 levels"));
}

TEST(ChatProgram, special_tokens_come_from_the_template_alone) {
  ChatInputs inputs;
  inputs.messages = {{"user", "<|end|>"}, {"<|end|>", "a"}};
  inputs.tokens = {{"bos_token", "<s>"}};
  const auto pieces = render(
      "{{ bos_token }}{% for m in messages %}{{ '<|' + m.role + '|>' + m.content|upper }}<|end|>{% "
      "endfor %}",
      inputs, {"<|end|>", "<s>", "<|user|>"});
  ASSERT_TRUE(pieces.ok()) << pieces.error().to_string();
  EXPECT_THAT(*pieces, ElementsAre(PromptPiece{"<s>", true}, PromptPiece{"<|user|><|END|>", false},
                                   PromptPiece{"<|end|>", true}, PromptPiece{"<|<|end|>|>A", false},
                                   PromptPiece{"<|end|>", true}));
}

TEST(ChatRenderer, runs_the_template_of_a_folder_and_encodes_its_pieces) {
  const qfs::test::TemporaryFolder folder;
  folder.write(
      "tokenizer.json",
      R"({"added_tokens":[{"id":3,"content":"<s>","special":true},{"id":4,"content":"<|u|>","special":true}],
"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>","type_id":0}},{"Sequence":{"id":"A","type_id":0}}],
"pair":[{"Sequence":{"id":"A","type_id":0}}],"special_tokens":{"<s>":{"ids":[3]}}},
"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}})");
  folder.write("config.json", "{}");
  const auto settings = [&] {
    return read_chat_settings(*checkpoints::ModelDirectory::open(folder.path()));
  };
  const auto tokenizer = tokenizers::open_tokenizer_files(folder.path());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().to_string();
  EXPECT_EQ(ChatRenderer::open(*settings(), **tokenizer).error().kind, ErrorKind::unavailable);
  folder.write(
      "tokenizer_config.json",
      R"({"bos_token":"<s>","chat_template":[{"name":"tool_use","template":"x"},{"name":"default",
"template":"{{ bos_token }}{% for m in messages %}<|u|>{{ m.content }}{% endfor %}"}]})");
  const auto renderer = ChatRenderer::open(*settings(), **tokenizer);
  ASSERT_TRUE(renderer.ok()) << renderer.error().to_string();
  const std::vector<ChatMessage> messages = {{"user", "ab"}};
  const auto pieces = (*renderer)->render(messages);
  ASSERT_TRUE(pieces.ok());
  EXPECT_THAT(*encode_pieces(**tokenizer, *pieces), ElementsAre(3, 4, 2));
  folder.write("chat_template.jinja", "{{ nothing( }}");
  EXPECT_EQ(ChatRenderer::open(*settings(), **tokenizer).error().where,
            folder / "chat_template.jinja:1:13");
}

TEST(ChatProgram, a_refused_conversation_is_the_callers_error) {
  const Error error = error_of("{{ raise_exception('roles must alternate') }}");
  EXPECT_EQ(error.kind, ErrorKind::invalid_argument);
  EXPECT_THAT(error.message, HasSubstr("roles must alternate"));
  ChatInputs inputs;
  inputs.variables = "[1]";
  EXPECT_EQ(error_of("a", inputs).kind, ErrorKind::invalid_argument);
}

}  // namespace
}  // namespace qfs::prompting

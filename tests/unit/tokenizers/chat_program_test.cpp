// Templates of strangers: what is unsupported is an error at its line and column, loops end at the
// limit, and messages never make special tokens.
#include "methods/tokenizers/chat_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace qfs::tokenizers {
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

TEST(ChatProgram, a_refused_conversation_is_the_callers_error) {
  const Error error = error_of("{{ raise_exception('roles must alternate') }}");
  EXPECT_EQ(error.kind, ErrorKind::invalid_argument);
  EXPECT_THAT(error.message, HasSubstr("roles must alternate"));
  ChatInputs inputs;
  inputs.variables = "[1]";
  EXPECT_EQ(error_of("a", inputs).kind, ErrorKind::invalid_argument);
}

}  // namespace
}  // namespace qfs::tokenizers

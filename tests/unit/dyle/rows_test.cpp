// What the generator reads of snippets, and what it learns to write.
#include "methods/dyle/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "tests/support/letter_tokenizer.h"

namespace qfs::dyle {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Letters between "<" (200) and ">" (201), but for two "&", which are one token (199).
class FramedTokenizer final : public tokenizers::VocabularyTokenizer {
 public:
  std::vector<tokenizers::Token> encode(std::string_view text) const override {
    std::vector<tokenizers::Token> tokens;
    for (const tokenizers::Token& letter : letters_.encode(text)) {
      const bool second = !tokens.empty() && tokens.back().id == kAnd && letter.id == kAnd;
      if (second) tokens.back() = {199, tokens.back().begin, letter.end};
      if (!second) tokens.push_back(letter);
    }
    return tokens;
  }
  int64_t vocabulary_size() const override { return 202; }
  std::string decode(std::span<const int32_t> ids) const override { return letters_.decode(ids); }
  std::optional<int32_t> special_id(std::string_view text) const override {
    if (text == "<") return 200;
    return text == ">" ? std::optional<int32_t>(201) : std::nullopt;
  }
  std::vector<std::string> special_texts() const override { return {}; }
  std::optional<int32_t> end_of_sequence_id() const override { return 201; }
  tokenizers::TextFrame frame() const override { return {{200}, {201}}; }

 private:
  static constexpr int32_t kAnd = '&' - '!';
  test::LetterTokenizer letters_;
};

using Ids = std::vector<int32_t>;

Ids letters(const std::string& text, Ids front = {}, const Ids& back = {}) {
  for (const char c : text) front.push_back(c - '!');
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

::testing::Matcher<const SnippetRow&> row(const Ids& ids, int64_t kept, bool cut, bool query_cut) {
  using ::testing::Field;
  return ::testing::AllOf(Field(&SnippetRow::ids, ids), Field(&SnippetRow::kept_tokens, kept),
                          Field(&SnippetRow::cut, cut), Field(&SnippetRow::query_cut, query_cut));
}

TEST(Rows, of_a_decoder_only_generator_lose_their_snippets_end) {
  const std::vector<std::string> snippets = {"abc", "abcdefgh"};
  const auto rows =
      snippet_prompts(test::LetterTokenizer(), "S:{snippet};{query}>", snippets, "why", 12);
  ASSERT_TRUE(rows.ok());
  EXPECT_THAT(*rows, ElementsAre(row(letters("S:abc;why>"), 3, false, false),
                                 row(letters("S:abcde;why>"), 5, true, false)));
  const auto refused =
      snippet_prompts(test::LetterTokenizer(), "S:{snippet};{query}>", snippets, "why", 7);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("leave no room for a snippet in 7"));
}

TEST(Rows, begin_with_what_the_tokenizer_puts_in_front) {
  const std::vector<std::string> one = {"ab"};
  const auto rows = snippet_prompts(FramedTokenizer(), "{snippet}?", one, "", 9);
  ASSERT_TRUE(rows.ok());
  EXPECT_THAT(*rows, ElementsAre(row(letters("ab?", {200}), 2, false, false)));
}

TEST(Rows, are_tokenized_before_a_snippet_and_in_it_and_behind_it) {
  const std::vector<std::string> one = {"&b&"};
  const auto rows = snippet_prompts(FramedTokenizer(), "a&{snippet}&{query}", one, "&why", 20);
  ASSERT_TRUE(rows.ok());
  EXPECT_THAT(*rows,
              ElementsAre(row(letters("a&&b&", {200}, letters("why", {199})), 3, false, false)));
}

/// "<user:" trimmed text ">bot:"; the text as often as `times` says, in a piece each or in one.
class TinyChat final : public prompting::ChatRenderer {
 public:
  explicit TinyChat(int times = 1, bool apart = true) : times_(times), apart_(apart) {}

  Result<std::vector<prompting::PromptPiece>> render(
      std::span<const prompting::ChatMessage> messages) const override {
    std::vector<prompting::PromptPiece> pieces = {{"<", true}};
    for (const prompting::ChatMessage& message : messages) {
      std::string text = message.text;
      while (text.ends_with(' ')) text.pop_back();
      for (int i = 0; i < times_; ++i) {
        const std::string said = message.role + ":" + text;
        if (apart_ || i == 0) {
          pieces.push_back({said});
        } else {
          pieces.back().text += said;
        }
      }
    }
    pieces.push_back({">", true});
    pieces.push_back({"bot:"});
    return pieces;
  }

 private:
  int times_;
  bool apart_;
};

TEST(Rows, in_a_conversation_stand_inside_the_users_turn) {
  const std::vector<std::string> snippets = {"ab ", "abcdefgh"};
  const Conversation chat{std::make_shared<TinyChat>()};
  const auto rows =
      snippet_prompts(FramedTokenizer(), "S:{snippet}<{query} ", snippets, "why", 20, &chat);
  ASSERT_TRUE(rows.ok()) << rows.error().to_string();
  const auto whole = [&](const std::string& snippet) {
    return letters("user:S:" + snippet + "<why", {200}, letters("bot:", {201}));
  };
  EXPECT_THAT(*rows,
              ElementsAre(row(whole("ab "), 3, false, false), row(whole("abc"), 3, true, false)));
  const Conversation with_system{std::make_shared<TinyChat>(), "be brief"};
  const auto told =
      snippet_prompts(FramedTokenizer(), "{snippet}", {snippets.data(), 1}, "", 40, &with_system);
  ASSERT_TRUE(told.ok());
  EXPECT_THAT(*told,
              ElementsAre(row(letters("system:be briefuser:ab ", {200}, letters("bot:", {201})), 3,
                              false, false)));
}

TEST(Rows, in_a_conversation_need_one_place_in_it) {
  const std::vector<std::string> one = {"ab"};
  for (const auto& [times, apart] : {std::pair(0, true), {2, true}, {2, false}}) {
    const Conversation chat{std::make_shared<TinyChat>(times, apart)};
    const auto refused = snippet_prompts(FramedTokenizer(), "{snippet}", one, "", 20, &chat);
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().message,
                HasSubstr(std::to_string(times) + " places of the user's text"));
  }
  // A prompt with the mark for a snippet's place, or the beginning of one.
  const Conversation chat{std::make_shared<TinyChat>()};
  for (const std::string around : {"\u2063\u2064", "\u2063"}) {
    const auto rows =
        snippet_prompts(FramedTokenizer(), around + "{snippet}" + around, one, "", 60, &chat);
    const auto own = snippet_prompts(FramedTokenizer(), around + "{snippet}" + around, one, "", 60);
    ASSERT_TRUE(rows.ok() && own.ok());
    const Ids& plain = own->front().ids;  // behind "<"
    EXPECT_FALSE(std::ranges::search(rows->front().ids, std::span(plain).subspan(1)).empty());
  }
}

TEST(Rows, of_an_encoder_decoder_lose_their_query) {
  const std::vector<std::string> snippets = {"ab", "abcdefgh", "abcdefghijkl"};
  const auto rows = snippet_sources(FramedTokenizer(), snippets, "why", 11);
  ASSERT_TRUE(rows.ok());
  EXPECT_THAT(*rows, ElementsAre(row(letters("ab // why", {200}, {201}), 2, false, false),
                                 row(letters("abcdefgh ", {200}, {201}), 8, false, true),
                                 row(letters("abcdefghi", {200}, {201}), 9, true, true)));
  // Without a query the separator stays, with its blank.
  const auto alone = snippet_sources(FramedTokenizer(), {snippets.data(), 1}, "", 11);
  EXPECT_THAT(*alone, ElementsAre(row(letters("ab // ", {200}, {201}), 2, false, false)));
  const auto shorter = snippet_sources(FramedTokenizer(), {snippets.data(), 1}, "", 6);
  EXPECT_THAT(*shorter, ElementsAre(row(letters("ab /", {200}, {201}), 2, false, false)));
}

TEST(Rows, hold_a_snippet_as_far_as_its_tokens_go) {
  EXPECT_EQ(kept_text(FramedTokenizer(), "a&&b", 2), "a&&");
  EXPECT_EQ(kept_text(FramedTokenizer(), "a&&b", 3), "a&&b");
  EXPECT_EQ(kept_text(FramedTokenizer(), "a&&b", 0), "");
}

TEST(Rows, templates_are_checked) {
  EXPECT_TRUE(check_snippet_prompt(kDefaultPrompt).ok());
  EXPECT_FALSE(check_snippet_prompt("{query}").ok());
  EXPECT_FALSE(check_snippet_prompt("{document} {snippet}").ok());
}

TEST(Targets, of_a_decoder_only_generator_end_with_its_end_token) {
  const Target target = prompted_target(test::LetterTokenizer(), "abc", false, 99, 10);
  EXPECT_EQ(target.begun, letters(" abc"));
  EXPECT_EQ(prompted_target(test::LetterTokenizer(), "abc", true, 99, 10).begun, letters("abc"))
      << "an answer begins anew";
  EXPECT_EQ(target.labels.size(), 5U);
  EXPECT_EQ(target.labels.back(), 99);
  const Target cut = prompted_target(test::LetterTokenizer(), "abcdef", false, 99, 4);
  EXPECT_EQ(cut.begun, letters(" ab"));
  EXPECT_EQ(cut.labels.back(), 99);
}

TEST(Targets, of_the_release_begin_with_themselves_and_are_padded) {
  const Target target = decoder_target(FramedTokenizer(), "ab", {201}, true, 7, 6);
  EXPECT_EQ(target.begun, letters("ab", {200}, {201, 7, 7}));
  EXPECT_THAT(target.labels, ElementsAre('a' - '!', 'b' - '!', 201, -100, -100, -100));
}

TEST(Targets, of_the_paper_are_shifted_and_keep_their_end) {
  const Target target = decoder_target(FramedTokenizer(), "ab", {201}, false, 7, 6);
  EXPECT_EQ(target.begun, letters("ab", {201, 200}));
  EXPECT_THAT(target.labels, ElementsAre(200, 'a' - '!', 'b' - '!', 201));
  const Target cut = decoder_target(FramedTokenizer(), "abcdef", {201}, false, 7, 4);
  EXPECT_THAT(cut.labels, ElementsAre(200, 'a' - '!', 'b' - '!', 201));
}

}  // namespace
}  // namespace qfs::dyle

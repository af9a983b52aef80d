// What an encoder-decoder reads: parts in the order of the layout, separators as one token, and the
// positions that attend globally.
#include "methods/models/prompting/source_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "methods/models/tokenizers/pipeline/json_tokenizer.h"
#include "tests/support/marked_tokenizer.h"

namespace qfs::prompting {
namespace {

using ::qfs::test::MarkedTokenizer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

SourceTokens encoded(std::string_view layout, std::string_view global) {
  const auto source = encode_layout(MarkedTokenizer(), layout, "</s>", global_tokens_from(global),
                                    {"dd</s>"}, "qq");
  EXPECT_TRUE(source.ok()) << source.error().to_string();
  return *source;
}

TEST(SourceLayout, separators_are_one_token_and_a_documents_are_text) {
  const SourceTokens source = encoded("{query}{sep}{document}{sep}", "none");
  EXPECT_EQ(source.text, "qq</s>dd</s></s>");
  EXPECT_THAT(source.ids,
              ElementsAre('q' - '!', 'q' - '!', MarkedTokenizer::kSeparator, 'd' - '!', 'd' - '!',
                          '<' - '!', '/' - '!', 's' - '!', '>' - '!', MarkedTokenizer::kSeparator));
  EXPECT_THAT(source.global_positions, IsEmpty());
}

TEST(SourceLayout, global_positions_are_those_of_the_kind) {
  const std::string_view layout = "{sep}{query}{document}{sep}";
  EXPECT_THAT(encoded(layout, "first").global_positions, ElementsAre(0));
  EXPECT_THAT(encoded(layout, "query").global_positions, ElementsAre(1, 2));
  EXPECT_THAT(encoded(layout, "first_and_query").global_positions, ElementsAre(0, 1, 2));
  // The first token is a separator here, and counts once.
  EXPECT_THAT(encoded(layout, "first_and_separators").global_positions, ElementsAre(0, 9));
  EXPECT_THAT(encoded("{document}{sep}", "first_and_separators").global_positions,
              ElementsAre(0, 6));
}

/// What SQuALITY's models read: the question behind a blank, so that both copies of it have the
/// same tokens; LED's global tokens are those of the question.
constexpr std::string_view kSqualityLayout = " {query} {sep} {document} {sep} {query}";

TEST(SourceLayout, squalitys_question_stands_before_and_behind_the_story) {
  const auto source = encode_layout(MarkedTokenizer(), kSqualityLayout, "</s>", GlobalTokens::query,
                                    {"a b", "c"}, "why?");
  ASSERT_TRUE(source.ok()) << source.error().to_string();
  EXPECT_EQ(source->text, " why? </s> a b\nc </s> why?");
  // Of a byte each but for the separators: neither these nor the blanks around them are global.
  EXPECT_THAT(source->global_positions, ElementsAre(1, 2, 3, 4, 16, 17, 18, 19));
  EXPECT_EQ(source->ids.size(), 20U);
  EXPECT_EQ(source->ids[6], MarkedTokenizer::kSeparator);
  EXPECT_EQ(source->ids[14], MarkedTokenizer::kSeparator);
}

TEST(SourceLayout, both_copies_of_squalitys_question_have_the_same_merged_tokens) {
  std::ifstream file("tests/conformance/models/tokenizers/trained/roberta.json");
  nlohmann::json json = nlohmann::json::parse(file).at("tokenizer");
  json["pre_tokenizer"]["add_prefix_space"] = false;  // as BART's
  json["post_processor"]["add_prefix_space"] = false;
  const auto made = tokenizers::make_json_tokenizer(json.dump(), "roberta");
  ASSERT_TRUE(made.ok()) << made.error().to_string();
  const tokenizers::VocabularyTokenizer& tokenizer = **made;
  const auto ids_of = [&](std::string_view text) {
    std::vector<int32_t> ids;
    for (const tokenizers::Token& token : tokenizer.encode(text)) ids.push_back(token.id);
    return ids;
  };
  const std::string question = "world summary?";
  const std::vector<int32_t> copy = ids_of(" " + question);
  ASSERT_LT(copy.size(), question.size()) << "words are merged";
  ASSERT_NE(copy, ids_of(question)) << "a word without its blank is another token";
  std::vector<int32_t> wanted = {*tokenizer.special_id("<s>")};
  std::vector<int64_t> global;
  const auto add = [&](const std::vector<int32_t>& ids) {
    wanted.insert(wanted.end(), ids.begin(), ids.end());
  };
  const auto add_copy = [&] {
    for (size_t i = 0; i < copy.size(); ++i) {
      global.push_back(static_cast<int64_t>(wanted.size() + i));
    }
    add(copy);
  };
  const int32_t separator = *tokenizer.special_id("</s>");
  add_copy();
  add(ids_of(" "));  // by itself before a separator
  add({separator});
  add(ids_of(" Hello world "));
  add({separator});
  add_copy();
  add({separator});
  const auto source = encode_layout(tokenizer, kSqualityLayout, "</s>", GlobalTokens::query,
                                    {"Hello world"}, question);
  ASSERT_TRUE(source.ok()) << source.error().to_string();
  EXPECT_EQ(source->ids, wanted);
  EXPECT_EQ(source->global_positions, global);
}

TEST(SourceLayout, a_separator_stands_behind_each_of_several_documents_and_is_global) {
  const auto source = encode_layout(MarkedTokenizer(), "{documents}", "</s>",
                                    GlobalTokens::first_and_separators, {"aa", "", "b"}, "");
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(source->text, "aa</s></s>b</s>");
  EXPECT_THAT(source->global_positions, ElementsAre(0, 2, 3, 5));
  const auto joined = encode_layout(MarkedTokenizer(), "{document}", "</s>", GlobalTokens::none,
                                    {"aa", "", "b"}, "");
  ASSERT_TRUE(joined.ok());
  EXPECT_EQ(joined->text, "aa\n\nb");
}

TEST(SourceLayout, a_document_stands_in_one_piece_or_by_segments) {
  EXPECT_TRUE(check_source_layout("{query}{sep}{documents}").ok());
  for (const char* wrong : {"{document}{documents}", "{documents}{documents}", "{query}"}) {
    EXPECT_FALSE(check_source_layout(wrong).ok()) << wrong;
  }
}

TEST(SourceLayout, an_unknown_separator_is_named) {
  for (const char* layout : {"{document}{sep}", "{documents}"}) {
    const auto source = encode_layout(MarkedTokenizer(), layout, "<doc-sep>",
                                      GlobalTokens::first_and_separators, {"d"}, "");
    ASSERT_FALSE(source.ok());
    EXPECT_EQ(source.error().kind, ErrorKind::unavailable);
    EXPECT_THAT(source.error().message, HasSubstr("'<doc-sep>'"));
  }
}

}  // namespace
}  // namespace qfs::prompting

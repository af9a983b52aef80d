// What an encoder-decoder reads: parts in the order of the layout, separators as one token, and the
// positions that attend globally.
#include "methods/models/prompting/source_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

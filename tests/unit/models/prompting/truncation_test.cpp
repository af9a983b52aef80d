// truncate_document: what is kept under each policy, whole code points, and the ledger's numbers.
#include "methods/models/prompting/truncation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/core/rng.h"
#include "harness/core/utf8.h"
#include "methods/models/tokenizers/builtin_tokenizers.h"
#include "methods/models/tokenizers/folders/open_tokenizer.h"

namespace qfs::prompting {
namespace {

using testing::ElementsAre;

/// One token a byte, as a byte-level BPE without merges: tokens end inside code points.
class Bytes final : public tokenizers::Tokenizer {
 public:
  std::vector<tokenizers::Token> encode(std::string_view text) const override {
    std::vector<tokenizers::Token> tokens;
    for (int64_t i = 0; i < static_cast<int64_t>(text.size()); ++i)
      tokens.push_back({-1, i, i + 1});
    return tokens;
  }
};

std::shared_ptr<const tokenizers::Tokenizer> words() {
  return *tokenizers::open_tokenizer(*tokenizers::builtin_tokenizer("words"));
}

Example meeting() {
  Example example;
  example.query = "what was said ?";
  example.document = {{"one two three", "Ann"}, {"", ""}, {"four five", "Bob"}, {"six", ""}};
  return example;  // with speakers: 4 + 0 + 3 + 1 words
}

std::vector<std::string> kept(const Example& example, std::optional<int64_t> budget,
                              TruncationPolicy policy = TruncationPolicy::head) {
  return truncate_document(example, *words(), budget, policy)->texts;
}

TEST(Truncation, WithoutABudgetEverythingIsKept) {
  const auto result = truncate_document(meeting(), *words(), std::nullopt, TruncationPolicy::head);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->joined(), rendered_document(meeting()));
  EXPECT_EQ(result->ledger.document_tokens, 8);
  EXPECT_EQ(result->ledger.kept_tokens, 8);
  EXPECT_EQ(result->ledger.query_tokens, 4);
  EXPECT_TRUE(result->ledger.query_whole);
  EXPECT_THAT(result->ledger.kept, ElementsAre(ByteSpan{0, 0, 18}, ByteSpan{1, 0, 0},
                                               ByteSpan{2, 0, 14}, ByteSpan{3, 0, 3}));
}

TEST(Truncation, ABudgetOfExactlyTheDocumentKeepsEverything) {
  EXPECT_EQ(kept(meeting(), 8), kept(meeting(), std::nullopt));
}

TEST(Truncation, HeadKeepsTheFirstTokensAndCutsTheLastSegmentAtAToken) {
  EXPECT_THAT(kept(meeting(), 3), ElementsAre("Ann: one two"));
  EXPECT_THAT(kept(meeting(), 4), ElementsAre("Ann: one two three"));
  EXPECT_THAT(kept(meeting(), 6), ElementsAre("Ann: one two three", "", "Bob: four"));
}

TEST(Truncation, TailKeepsTheLastTokens) {
  EXPECT_THAT(kept(meeting(), 1, TruncationPolicy::tail), ElementsAre("six"));
  EXPECT_THAT(kept(meeting(), 3, TruncationPolicy::tail), ElementsAre("four five", "six"));
}

TEST(Truncation, MiddleIsCutOutOfTheMiddle) {
  EXPECT_THAT(kept(meeting(), 5, TruncationPolicy::middle),
              ElementsAre("Ann: one two", "five", "six"));
  EXPECT_THAT(kept(meeting(), 1, TruncationPolicy::middle), ElementsAre("Ann:"));
}

TEST(Truncation, MiddleOfOneSegmentGivesTwoSpansWithoutOverlap) {
  Example example;
  example.document = {{"a b c d e f", ""}};
  const auto result = truncate_document(example, *words(), 4, TruncationPolicy::middle);
  ASSERT_TRUE(result.ok());
  EXPECT_THAT(result->texts, ElementsAre("a b", "e f"));
  EXPECT_THAT(result->ledger.kept, ElementsAre(ByteSpan{0, 0, 3}, ByteSpan{0, 8, 11}));
}

TEST(Truncation, CutsAtWholeCodePointsAndCountsOnlyTokensThatAreWhollyKept) {
  Example example;
  example.document = {{"aé\u4f60b", ""}};  // 1 + 2 + 3 + 1 bytes
  const auto head = truncate_document(example, Bytes(), 5, TruncationPolicy::head);
  EXPECT_THAT(head->texts, ElementsAre("aé"));
  EXPECT_EQ(head->ledger.kept_tokens, 3);
  const auto tail = truncate_document(example, Bytes(), 3, TruncationPolicy::tail);
  EXPECT_THAT(tail->texts, ElementsAre("b"));
  EXPECT_EQ(tail->ledger.kept_tokens, 1);
}

TEST(Truncation, ASegmentOfWhichNothingIsLeftHasNoSpan) {
  Example example;
  example.document = {{"a", ""}, {"\u4f60", ""}};
  const auto result = truncate_document(example, Bytes(), 2, TruncationPolicy::head);
  EXPECT_THAT(result->ledger.kept, ElementsAre(ByteSpan{0, 0, 1}));
}

TEST(Truncation, AnEmptyDocumentIsKeptAsItIs) {
  const auto result = truncate_document(Example{}, *words(), 5, TruncationPolicy::middle);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->texts.empty());
  EXPECT_EQ(result->ledger.document_tokens, 0);
}

TEST(Truncation, ABudgetBelowOneIsRefused) {
  const auto result = truncate_document(meeting(), *words(), 0, TruncationPolicy::head);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::invalid_argument);
}

TEST(Truncation, SegmentsAreCutToTheSameShareWhateverTheOthersLeave) {
  const auto cut = truncate_segments(meeting(), *words(), 11);  // 2 of each, 3 left over
  ASSERT_TRUE(cut.ok()) << cut.error().to_string();
  EXPECT_THAT(cut->texts, ElementsAre("Ann: one", "", "Bob: four", "six"));
  EXPECT_EQ(cut->ledger.kept_tokens, 5);
  EXPECT_EQ(cut->ledger.document_tokens, 8);
  EXPECT_EQ(truncate_segments(meeting(), *words(), std::nullopt)->texts,
            kept(meeting(), std::nullopt));
  const auto none = truncate_segments(meeting(), *words(), 3);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, ErrorKind::invalid_argument);
}

TEST(Truncation, PolicyNamesAreTheOnesThatAreRead) {
  for (const std::string& name : truncation_policy_names()) {
    EXPECT_TRUE(truncation_policy_from(name)) << name;
  }
  EXPECT_FALSE(truncation_policy_from("start"));
}

TEST(Truncation, EveryLedgerIsValidForRandomDocumentsBudgetsAndPolicies) {
  const std::vector<std::string> pieces = {"a", "bc", " ", "  ", "é", "\u4f60", "🙂", "\n"};
  Rng rng(3);
  const Bytes bytes;
  const auto word_tokens = words();
  const auto characters = *tokenizers::open_tokenizer(*tokenizers::builtin_tokenizer("characters"));
  for (int round = 0; round < 3000; ++round) {
    Example example;
    for (uint64_t s = rng.below(6); s > 0; --s) {
      Segment segment;
      for (uint64_t p = rng.below(8); p > 0; --p) segment.text += pieces[rng.below(pieces.size())];
      if (rng.below(2) == 0) segment.speaker = "S";
      example.document.push_back(segment);
    }
    const tokenizers::Tokenizer* all[] = {&bytes, word_tokens.get(), characters.get()};
    const tokenizers::Tokenizer& tokenizer = *all[rng.below(3)];
    const auto budget = static_cast<int64_t>(1 + rng.below(30));
    const auto policy = static_cast<TruncationPolicy>(rng.below(3));
    const auto result = truncate_document(example, tokenizer, budget, policy);
    ASSERT_TRUE(result.ok());
    const Truncation& ledger = result->ledger;
    EXPECT_LE(ledger.kept_tokens, std::min(budget, ledger.document_tokens));
    ASSERT_EQ(ledger.kept.size(), result->texts.size());
    for (size_t i = 0; i < ledger.kept.size(); ++i) {
      const ByteSpan& span = ledger.kept[i];
      const std::string text = rendered(example.document.at(static_cast<size_t>(span.segment)));
      ASSERT_EQ(
          text.substr(static_cast<size_t>(span.begin), static_cast<size_t>(span.end - span.begin)),
          result->texts[i]);
      EXPECT_FALSE(first_ill_formed_utf8(result->texts[i]));
      if (i == 0) continue;
      const ByteSpan& before = ledger.kept[i - 1];
      EXPECT_TRUE(before.segment < span.segment ||
                  (before.segment == span.segment && before.end <= span.begin));
    }
    if (ledger.document_tokens <= budget) {
      EXPECT_EQ(result->joined(), rendered_document(example));
    }
  }
}

}  // namespace
}  // namespace qfs::prompting

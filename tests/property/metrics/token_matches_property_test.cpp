// The places of common words are as many as the hits behind ROUGE, on the words that it has.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "metrics/rouge/rouge_scorer.h"
#include "metrics/matches/token_matches.h"
#include "tests/support/random_texts.h"
#include "tests/support/slow_rouge.h"

namespace qfs::metrics {
namespace {

using Marked = std::vector<MatchedToken>;

int64_t count(const Marked& tokens, bool MatchedToken::*member) {
  return std::ranges::count(tokens, true, member);
}

test::Words marked(std::string_view text, const Marked& tokens, bool MatchedToken::*member,
                   bool stem) {
  test::Words words;
  for (const MatchedToken& token : tokens) {
    if (!(token.*member)) continue;
    for (std::string& word :
         test::slow_tokens(text.substr(token.begin, token.end - token.begin), stem)) {
      words.push_back(std::move(word));
    }
  }
  return words;
}

TEST(TokenMatches, AreAsManyAsTheHitsOfEveryRouge) {
  const test::RandomTexts texts;
  test::SplitMix64 rng(7);
  for (int i = 0; i < 2000; ++i) {
    const auto [reference, candidate] = texts.pair(rng);
    const bool stem = i % 2 == 0;
    TokenMatcher matcher(stem);
    const Result<TokenMatches> matches = matcher.match(candidate, reference);
    ASSERT_TRUE(matches.ok());
    const auto n = static_cast<int64_t>(matches->candidate.size());
    const auto m = static_cast<int64_t>(matches->reference.size());
    const RougeScores scores = test::slow_rouge(reference, candidate, stem);
    const auto expect = [&](const Prf& prf, bool MatchedToken::*member, int64_t shorter) {
      const int64_t hits = count(matches->candidate, member);
      EXPECT_EQ(hits, count(matches->reference, member)) << candidate << "\n" << reference;
      EXPECT_EQ(prf, make_prf(hits, n - shorter, m - shorter)) << candidate << "\n" << reference;
    };
    expect(scores.rouge1, &MatchedToken::word, 0);
    if (n > 0 && m > 0) expect(scores.rouge2, &MatchedToken::pair, 1);
    expect(scores.rougeL, &MatchedToken::line, 0);
    EXPECT_EQ(marked(candidate, matches->candidate, &MatchedToken::line, stem),
              marked(reference, matches->reference, &MatchedToken::line, stem));
  }
}

TEST(TokenMatches, SubsequenceIsTheOneThatRougeScoreReadsOut) {
  const test::RandomTexts texts;
  test::SplitMix64 rng(8);
  for (int i = 0; i < 500; ++i) {
    const auto [reference, candidate] = texts.pair(rng);
    TokenMatcher matcher(true);
    const Result<TokenMatches> matches = matcher.match(candidate, reference);
    ASSERT_TRUE(matches.ok());
    std::vector<size_t> indices;
    for (size_t k = 0; k < matches->reference.size(); ++k) {
      if (matches->reference[k].line) indices.push_back(k);
    }
    EXPECT_EQ(indices, test::lcs_indices(test::slow_tokens(reference, true),
                                         test::slow_tokens(candidate, true)));
  }
}

TEST(TokenMatches, PlacesAreThoseOfTheTokens) {
  for (const std::string text : {"The K\xE2\x84\xAA\x65lvin, \xC4\xB0t's 2nd", "", "--", "a",
                                 "\xC4\xB0\xC4\xB0x \xE2\x84\xAA", "\xE2\x84\xA9 b"}) {
    TokenMatcher matcher(false);
    const Result<TokenMatches> matches = matcher.match(text, text);
    ASSERT_TRUE(matches.ok());
    const test::Words words = test::slow_tokens(text, false);
    ASSERT_EQ(matches->candidate.size(), words.size()) << text;
    for (size_t i = 0; i < words.size(); ++i) {
      const MatchedToken& token = matches->candidate[i];
      EXPECT_EQ(test::slow_tokens(text.substr(token.begin, token.end - token.begin), false),
                test::Words{words[i]});
      EXPECT_TRUE(token.word && token.line) << text;
    }
  }
}

}  // namespace
}  // namespace qfs::metrics

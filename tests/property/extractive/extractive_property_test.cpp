// What holds for every extractive method on every document: the word limit, extraction and nothing
// else, determinism, valid ledgers, and that nothing outside the local context is read.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "methods/extractive/specs.h"
#include "methods/extractive/word_limit.h"
#include "methods/models/greedy_oracle/treebank_tokens.h"
#include "tests/support/extractive_fixture.h"
#include "tests/support/random_texts.h"

namespace qfs::test {
namespace {

Example random_example(const RandomTexts& texts, SplitMix64& rng, size_t number) {
  Example example;
  example.key = "random-" + std::to_string(number);
  for (size_t s = rng.below(8); s > 0; --s) {
    example.document.push_back({texts.text(rng, 60), rng.below(2) == 0 ? "Ann" : ""});
  }
  example.query = texts.text(rng, 60);
  for (size_t r = 1 + rng.below(3); r > 0; --r) example.references.push_back(texts.text(rng, 60));
  return example;
}

class EveryMethod : public testing::TestWithParam<std::string> {};

TEST_P(EveryMethod, KeepsItsPromises) {
  const RandomTexts texts;
  SplitMix64 rng(8);
  for (size_t round = 0; round < 120; ++round) {
    const Example example = random_example(texts, rng, round);
    const auto max_words = static_cast<int64_t>(1 + rng.below(40));
    const auto local_context = static_cast<int64_t>(1 + rng.below(80));
    const bool chinese = round % 3 == 2;
    const auto script = chinese ? retrieval::Script::chinese : retrieval::Script::latin;
    const char* policies[] = {"head", "tail", "middle"};
    const ExtractiveRun run{.method = GetParam(),
                            .params = {{"max_words", max_words},
                                       {"local_context", local_context},
                                       {"truncate", std::string(policies[rng.below(3)])},
                                       {"script", std::string(chinese ? "chinese" : "latin")}},
                            .tokenizer = rng.below(2) == 0 ? "words" : "characters",
                            .seed = round};
    const Prediction prediction = summarize(run, example);
    ASSERT_EQ(summarize(run, example), prediction);

    ASSERT_TRUE(prediction.truncation);
    const Truncation& ledger = *prediction.truncation;
    EXPECT_LE(ledger.kept_tokens, local_context);
    std::string rebuilt;
    int64_t words = 0;
    const auto extra = nlohmann::json::parse(prediction.extra.text);
    for (const auto& selected : extra.at("selected")) {
      const auto segment = selected[0].get<int64_t>();
      const auto begin = selected[1].get<int64_t>();
      const auto end = selected[2].get<int64_t>();
      bool is_kept = false;
      for (const ByteSpan& kept : ledger.kept) {
        is_kept |= kept.segment == segment && kept.begin <= begin && end <= kept.end;
      }
      EXPECT_TRUE(is_kept) << "a passage outside the local context";
      const std::string text = rendered(example.document.at(static_cast<size_t>(segment)));
      if (!rebuilt.empty()) rebuilt += '\n';
      const std::string passage =
          text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
      words += extractive::count_words(passage, script);
      rebuilt += passage;
    }
    EXPECT_LE(words, max_words);
    EXPECT_EQ(rebuilt, prediction.text) << "output is not exactly the selected passages";
  }
}

TEST_P(EveryMethod, DoesNotSeeWhatLiesOutsideTheLocalContext) {
  const RandomTexts texts;
  SplitMix64 rng(9);
  for (size_t round = 0; round < 60; ++round) {
    Example example = random_example(texts, rng, round);
    const ExtractiveRun run{.method = GetParam(), .params = {{"local_context", int64_t{20}}}};
    const Prediction before = summarize(run, example);
    if (before.truncation->kept_tokens < 20) continue;
    example.document.push_back({example.query + " " + example.references.front(), "Zoe"});
    EXPECT_EQ(summarize(run, example).text, before.text);
  }
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const auto& spec : extractive::extractive_specs()) names.emplace_back(spec->name());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Extractive, EveryMethod, testing::ValuesIn(method_names()),
                         [](const auto& info) { return info.param; });

TEST(MethodsThatReadNoReferences, GiveTheSameWithoutThem) {
  const RandomTexts texts;
  SplitMix64 rng(10);
  for (size_t round = 0; round < 40; ++round) {
    const Example example = random_example(texts, rng, round);
    Example blind = example;
    blind.references.clear();
    for (const char* method : {"lead", "random", "textrank", "bm25"}) {
      EXPECT_EQ(summarize({.method = method}, example), summarize({.method = method}, blind));
    }
  }
}

TEST(TreebankTokens, CoverEveryCharacterOfAnyText) {
  const RandomTexts texts;
  SplitMix64 rng(11);
  for (size_t round = 0; round < 500; ++round) {
    const std::string text = texts.text(rng, 60);
    std::string letters;
    for (char c : text) {
      if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) letters += c;
      if (c >= 'A' && c <= 'Z') letters += static_cast<char>(c - 'A' + 'a');
    }
    std::string found;
    for (const std::string& token : greedy_oracle::treebank_tokens(text)) {
      EXPECT_EQ(token.find(' '), std::string::npos);
      for (char c : token) {
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) found += c;
      }
    }
    // U+212A and U+0130 lower-case to ASCII letters that the loop above does not add.
    if (text.find("\u212A") == std::string::npos && text.find("\u0130") == std::string::npos) {
      EXPECT_EQ(found, letters) << text;
    }
  }
}

}  // namespace
}  // namespace qfs::test

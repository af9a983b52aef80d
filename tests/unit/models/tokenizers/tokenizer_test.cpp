// What tokenizers promise: byte ranges, ids, and errors that say which file and what was expected.
#include "methods/models/tokenizers/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/core/sha256.h"
#include "methods/models/checkpoints/gguf.h"
#include "methods/models/checkpoints/gguf_digests.h"
#include "methods/models/tokenizers/bpe/byte_alphabet.h"
#include "methods/models/tokenizers/builtin_tokenizers.h"
#include "methods/models/tokenizers/folders/open_tokenizer.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/temporary_folder.h"

namespace qfs::tokenizers {
namespace {

using ::qfs::test::GgufWriter;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

GgufWriter tiny_writer(const std::vector<std::string>& merges = {"a b", "ab c", "b c", "Ġ a"}) {
  GgufWriter writer;
  writer.text("tokenizer.ggml.model", "gpt2");
  writer.text("tokenizer.ggml.pre", "smollm");
  writer.texts("tokenizer.ggml.tokens",
               {"<|end|>", "a", "b", "c", "ab", "abc", "bc", "Ġ", "Ġa", "1", "Ã", "©"});
  writer.int32s("tokenizer.ggml.token_type", {3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  writer.texts("tokenizer.ggml.merges", merges);
  writer.uint32("tokenizer.ggml.eos_token_id", 0);
  writer.uint32("tokenizer.ggml.bos_token_id", 0);
  return writer;
}

class TokenizerTest : public ::testing::Test {
 protected:
  std::shared_ptr<const VocabularyTokenizer> open(const std::string& bytes) {
    auto tokenizer = open_vocabulary_tokenizer({"tiny", folder_.write("t.gguf", bytes), ""});
    EXPECT_TRUE(tokenizer.ok()) << tokenizer.error().to_string();
    return *tokenizer;
  }
  Error error_of(const std::string& bytes) {
    return open_vocabulary_tokenizer({"tiny", folder_.write("t.gguf", bytes), ""}).error();
  }
  static std::vector<int32_t> ids(const Tokenizer& tokenizer, std::string_view text) {
    std::vector<int32_t> result;
    for (const Token& token : tokenizer.encode(text)) result.push_back(token.id);
    return result;
  }
  qfs::test::TemporaryFolder folder_;
};

TEST_F(TokenizerTest, words_are_runs_between_unicode_white_space) {
  const auto words = open_tokenizer(*builtin_tokenizer("words"));
  ASSERT_TRUE(words.ok());
  // U+00A0 and U+3000 are White_Space; U+200B is not.
  EXPECT_THAT((*words)->encode(" ab\xC2\xA0"
                               "c\xE3\x80\x80\n"),
              ElementsAre(Token{-1, 1, 3}, Token{-1, 5, 6}));
  EXPECT_EQ((*words)->count("a\xE2\x80\x8B"
                            "b"),
            1);
  EXPECT_EQ((*words)->count(""), 0);
}

TEST_F(TokenizerTest, characters_are_code_points) {
  const auto characters = open_tokenizer(*builtin_tokenizer("characters"));
  ASSERT_TRUE(characters.ok());
  EXPECT_THAT((*characters)->encode("a\xC3\xA9\xF0\x9F\x98\x80"),
              ElementsAre(Token{-1, 0, 1}, Token{-1, 1, 3}, Token{-1, 3, 7}));
  EXPECT_EQ((*characters)->count("a\xC3\xA9\xF0\x9F\x98\x80"), 3);
}

TEST_F(TokenizerTest, built_in_names_are_closed_and_their_digests_differ) {
  EXPECT_FALSE(builtin_tokenizer("sentences").has_value());
  EXPECT_NE(builtin_tokenizer("words")->digest, builtin_tokenizer("characters")->digest);
  EXPECT_EQ(open_vocabulary_tokenizer(*builtin_tokenizer("words")).error().kind,
            ErrorKind::invalid_argument);
}

TEST_F(TokenizerTest, merges_apply_best_rank_first_and_leftmost_on_ties) {
  const auto tokenizer = open(tiny_writer().bytes());
  EXPECT_THAT(ids(*tokenizer, "abc"), ElementsAre(5));      // (a b) c -> (ab c)
  EXPECT_THAT(ids(*tokenizer, "bcab"), ElementsAre(6, 4));  // "a b" ranks before "b c"
  EXPECT_THAT(ids(*tokenizer, "abab"), ElementsAre(4, 4));
  const auto other = open(tiny_writer({"b c", "a b", "Ġ a"}).bytes());
  EXPECT_THAT(ids(*other, "abc"), ElementsAre(1, 6));
}

TEST_F(TokenizerTest, tokens_carry_their_bytes_even_inside_a_code_point) {
  const auto tokenizer = open(tiny_writer().bytes());
  EXPECT_THAT(tokenizer->encode("b a\xC3\xA9"
                                "1"),
              ElementsAre(Token{2, 0, 1}, Token{8, 1, 3}, Token{10, 3, 4}, Token{11, 4, 5},
                          Token{9, 5, 6}));
}

TEST_F(TokenizerTest, bytes_without_a_token_are_left_out) {
  const auto tokenizer = open(tiny_writer().bytes());
  // As the BPE model of Hugging Face tokenizers without an unknown token: a and b become
  // neighbours.
  EXPECT_THAT(tokenizer->encode("axbz"), ElementsAre(Token{4, 0, 3}));
}

TEST_F(TokenizerTest, plain_text_never_makes_a_special_token) {
  const auto tokenizer = open(tiny_writer().bytes());
  EXPECT_THAT(ids(*tokenizer, "a<|end|>b"), ElementsAre(1, 2));
  EXPECT_EQ(tokenizer->special_id("<|end|>"), 0);
  EXPECT_EQ(tokenizer->special_id("ab"), std::nullopt);
}

TEST_F(TokenizerTest, decoding_joins_bytes_and_skips_special_tokens) {
  const auto tokenizer = open(tiny_writer().bytes());
  const std::vector<int32_t> tokens = {8, 0, 10, 11, 5, -1, 99};
  EXPECT_EQ(tokenizer->decode(tokens),
            " a\xC3\xA9"
            "abc");
}

TEST_F(TokenizerTest, a_first_token_is_prepended_only_when_the_file_asks_for_it) {
  EXPECT_EQ(ids_of(open(tiny_writer().bytes())->model_input("a").tokens), std::vector<int32_t>{1});
  GgufWriter writer = tiny_writer();
  writer.boolean("tokenizer.ggml.add_bos_token", true);
  EXPECT_THAT(ids_of(open(writer.bytes())->model_input("a").tokens), ElementsAre(0, 1));
  EXPECT_EQ(open(writer.bytes())->end_of_sequence_id(), 0);
}

TEST_F(TokenizerTest, long_words_are_merged_in_reasonable_time) {
  const auto tokenizer = open(tiny_writer().bytes());
  std::string text;
  for (int i = 0; i < 200000; ++i) text += "abc";
  EXPECT_EQ(tokenizer->count(text), 200000);
}

TEST_F(TokenizerTest, a_declared_digest_must_be_that_of_the_file) {
  const std::string path = folder_.write("t.gguf", tiny_writer().bytes());
  const auto file = checkpoints::GgufFile::open(path);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(open_tokenizer({"tiny", path, checkpoints::tokenizer_digest(**file)}).ok());
  EXPECT_TRUE(open_tokenizer({"local:x", path, *sha256_file(path)}).ok());
  const auto wrong = open_tokenizer({"tiny", path, std::string(64, '0')});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().kind, ErrorKind::data);
  EXPECT_THAT(wrong.error().message, HasSubstr("'tiny' declares 0000"));
}

TEST_F(TokenizerTest, unknown_kinds_are_unavailable_and_named) {
  GgufWriter kind;
  kind.text("tokenizer.ggml.model", "rwkv");
  EXPECT_EQ(error_of(kind.bytes()).kind, ErrorKind::unavailable);
  EXPECT_THAT(error_of(kind.bytes()).message, HasSubstr("kind 'rwkv'"));
  GgufWriter pattern;
  pattern.text("tokenizer.ggml.model", "gpt2");
  pattern.text("tokenizer.ggml.pre", "viking");
  EXPECT_EQ(error_of(pattern.bytes()).kind, ErrorKind::unavailable);
  EXPECT_THAT(error_of(pattern.bytes()).message, HasSubstr("pre-tokenizer 'viking'"));
}

TEST_F(TokenizerTest, broken_vocabularies_are_data_errors) {
  EXPECT_THAT(error_of(tiny_writer({"ab"}).bytes()).message, HasSubstr("merge 0 ('ab')"));
  EXPECT_THAT(error_of(tiny_writer({"a c"}).bytes()).message, HasSubstr("the vocabulary lacks"));
  GgufWriter twice;
  twice.text("tokenizer.ggml.model", "gpt2");
  twice.texts("tokenizer.ggml.tokens", {"a", "a"});
  twice.texts("tokenizer.ggml.merges", {});
  EXPECT_THAT(error_of(twice.bytes()).message, HasSubstr("'a' occurs twice (id 1)"));
  GgufWriter outside;
  outside.text("tokenizer.ggml.model", "gpt2");
  outside.texts("tokenizer.ggml.tokens", {"a"});
  outside.texts("tokenizer.ggml.merges", {});
  outside.uint32("tokenizer.ggml.eos_token_id", 1);
  EXPECT_THAT(error_of(outside.bytes()).message, HasSubstr("outside the vocabulary"));
}

TEST(ByteAlphabet, every_byte_has_one_character_and_comes_back) {
  EXPECT_EQ(alphabet_character(' '), "\xC4\xA0");  // Ġ, U+0120
  EXPECT_EQ(alphabet_character('A'), "A");
  EXPECT_EQ(alphabet_character(0xAD), "\xC5\x83");  // the last of the 68, U+0143
  for (int byte = 0; byte < 256; ++byte) {
    EXPECT_EQ(alphabet_bytes(alphabet_character(static_cast<uint8_t>(byte))),
              std::string(1, static_cast<char>(byte)));
  }
}

}  // namespace
}  // namespace qfs::tokenizers

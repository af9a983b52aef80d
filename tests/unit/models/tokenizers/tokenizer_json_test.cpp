// What a tokenizer.json says that this program does not have is an error at its JSON pointer, never
// a silent skip; hostile files are bounded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/core/error_exception.h"
#include "methods/models/tokenizers/folders/open_tokenizer.h"
#include "methods/models/tokenizers/folders/tokenizer_files.h"
#include "methods/models/tokenizers/pipeline/json_tokenizer.h"
#include "tests/support/temporary_folder.h"

namespace qfs::tokenizers {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kModel =
    R"("model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":[["a","b"]]})";

Error error_of(const std::string& members) {
  const auto made = make_json_tokenizer("{" + members + "}", "t.json");
  return made.ok() ? Error{ErrorKind::internal, "no error", ""} : made.error();
}

std::shared_ptr<const VocabularyTokenizer> made(const std::string& members) {
  const auto tokenizer = make_json_tokenizer("{" + members + "}", "t.json");
  if (tokenizer.ok()) return *tokenizer;
  ADD_FAILURE() << tokenizer.error().to_string();
  return nullptr;
}

/// Characters of a text that are left where `regex` splits and what it matches is dropped.
int64_t kept(const std::string& regex, std::string_view text) {
  const auto tokenizer =
      made(R"("model":{"type":"BPE","unk_token":"u","vocab":{"u":0,"a":1},"merges":[]},)"
           R"("pre_tokenizer":{"type":"Split","pattern":{"Regex":")" +
           regex + R"("},"behavior":"Removed"})");
  return tokenizer == nullptr ? -1 : tokenizer->count(text);
}

TEST(TokenizerJson, unsupported_constructs_are_named_with_their_pointer) {
  const std::string model = kModel;
  const Error normalizer = error_of(
      model +
      R"(,"normalizer":{"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"Magic"}]})");
  EXPECT_EQ(normalizer.kind, ErrorKind::unavailable);
  EXPECT_EQ(normalizer.where, "t.json#/normalizer/normalizers/1");
  EXPECT_THAT(normalizer.message, HasSubstr("the normalizer 'Magic'"));
  EXPECT_EQ(error_of(model + R"(,"pre_tokenizer":{"type":"UnicodeScripts"})").where,
            "t.json#/pre_tokenizer");
  EXPECT_EQ(error_of(model + R"(,"decoder":{"type":"CTC"})").kind, ErrorKind::unavailable);
  EXPECT_EQ(error_of(model + R"(,"post_processor":{"type":"Other"})").kind, ErrorKind::unavailable);
  EXPECT_EQ(error_of(R"("model":{"type":"WordLevel","vocab":{}})").where, "t.json#/model");
  const Error dropout = error_of(R"("model":{"type":"BPE","dropout":0.1,"vocab":{},"merges":[]})");
  EXPECT_EQ(dropout.kind, ErrorKind::unavailable);
  EXPECT_EQ(dropout.where, "t.json#/model/dropout");
}

TEST(TokenizerJson, arguments_of_the_class_hold_against_the_file) {
  const qfs::test::TemporaryFolder folder;
  const auto ids = [&](const std::string& config, const std::string& text) {
    folder.write("tokenizer_config.json", config);
    const auto tokenizer = open_tokenizer_files(folder.path());
    EXPECT_TRUE(tokenizer.ok());
    return ids_of((*tokenizer)->encode(text));
  };
  folder.write("tokenizer.json",
               R"({"model":{"type":"BPE","vocab":{"a":0,"Ġ":1},"merges":[]},)"
               R"("pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false}})");
  EXPECT_THAT(ids(R"({"tokenizer_class":"GPT2Tokenizer"})", "a"), ElementsAre(0));
  const std::string prefix = R"("add_prefix_space":true})";
  EXPECT_THAT(ids(R"({"tokenizer_class":"BartTokenizerFast",)" + prefix, "a"), ElementsAre(1, 0));
  EXPECT_THAT(ids(R"({"tokenizer_class":"Qwen2Tokenizer",)" + prefix, "a"), ElementsAre(0));
  folder.write("tokenizer.json",
               R"({"model":{"type":"WordPiece","unk_token":"u","vocab":{"u":0,"a":1,"A":2}},)"
               R"("normalizer":{"type":"BertNormalizer","lowercase":true,"strip_accents":null},)"
               R"("pre_tokenizer":{"type":"BertPreTokenizer"}})");
  const std::string cased = R"("do_lower_case":false})";
  EXPECT_THAT(ids("{}", "A À"), ElementsAre(1, 1));
  EXPECT_THAT(ids(R"({"tokenizer_class":"BertTokenizer",)" + cased, "A À"), ElementsAre(2, 0));
  EXPECT_THAT(ids(R"({"tokenizer_class":"PreTrainedTokenizerFast",)" + cased, "A"), ElementsAre(1));
  EXPECT_THAT(ids(R"({"tokenizer_class":"BertTokenizer","strip_accents":false})", "À"),
              ElementsAre(0));
}

TEST(TokenizerJson, malformed_files_are_data_errors) {
  const std::string model = kModel;
  EXPECT_EQ(error_of("").kind, ErrorKind::data);
  EXPECT_EQ(error_of(R"("model":{"type":"BPE","vocab":{"a":0},"merges":["a b"]})").where,
            "t.json#/model/merges");
  EXPECT_EQ(error_of(R"("model":{"type":"BPE","vocab":{"a":0,"b":0},"merges":[]})").where,
            "t.json#/model/vocab");
  EXPECT_EQ(error_of(R"("model":{"type":"BPE","vocab":{"a":4000000000},"merges":[]})").kind,
            ErrorKind::data);
  EXPECT_EQ(error_of(R"("model":{"type":"Unigram","unk_id":5,"vocab":[["a",0]]})").kind,
            ErrorKind::data);
  EXPECT_EQ(error_of(R"("model":{"type":"WordPiece","vocab":{"a":0}})").kind, ErrorKind::data);
  EXPECT_EQ(error_of(model + R"(,"added_tokens":[{"id":-1,"content":"x"}])").where,
            "t.json#/added_tokens/0");
  EXPECT_EQ(make_json_tokenizer(std::string(100000, '['), "t").error().kind, ErrorKind::data);
}

TEST(TokenizerJson, regular_expressions_are_checked_and_limited) {
  const std::string model = kModel;
  const auto split = [&](const std::string& regex) {
    return model + R"(,"pre_tokenizer":{"type":"Split","pattern":{"Regex":")" + regex +
           R"("},"behavior":"Isolated"})";
  };
  EXPECT_EQ(error_of(split("(a")).where, "t.json#/pre_tokenizer/pattern");
  EXPECT_EQ(error_of(split("(a")).kind, ErrorKind::data);
  EXPECT_EQ(error_of(split("\\\\h+")).kind, ErrorKind::unavailable);
  // Exponential backtracking ends at the limit instead of never.
  const auto tokenizer = made(split("(a|aa)+$"));
  ASSERT_NE(tokenizer, nullptr);
  try {
    tokenizer->encode(std::string(200, 'a') + "b");
    FAIL() << "it came to an end";
  } catch (const ErrorException& failure) {
    EXPECT_EQ(failure.error().kind, ErrorKind::data);
    EXPECT_THAT(failure.error().message, HasSubstr("'(a|aa)+$' took too long"));
  }
}

TEST(TokenizerJson, bracket_classes_mean_what_they_do_in_the_reference) {
  // tokenizers 0.23: Split(Regex("[[:punct:]]"), "removed") drops "$+^`|~", too, and
  // Split(Regex("[[:word:]]"), "removed") keeps the joiners U+200C and U+200D.
  EXPECT_EQ(kept("[[:punct:]]", "a!$+^`|~§a"), 2);
  EXPECT_EQ(kept("[^[:punct:]]", "a!$+^`|~§a"), 8);
  EXPECT_EQ(kept("[[:^punct:]]", "a!$+^`|~§a"), 8);
  EXPECT_EQ(kept("[a[:punct:]]", "a!$+^`|~§a"), 0);
  EXPECT_EQ(kept("[[:word:]]", "a\u200c\u200d_9a"), 2);
  EXPECT_EQ(kept("[[:^word:]]", "a\u200c\u200d_9a"), 4);
  EXPECT_EQ(kept("[[:alpha:]]", "a1a"), 1);
  EXPECT_EQ(kept("[[:xdigit:]]", "aF9g\u0660\uFF11"), 3);
  // In brackets \w is without the digits and fractions of Latin-1 that it has outside.
  EXPECT_EQ(kept(R"([\\w&&[^a-z]])", "a\u00B2B\u00BC_"), 3);
  EXPECT_EQ(kept(R"([\\w])", "a\u00B2B\u00BC_"), 2);
  EXPECT_EQ(kept(R"(\\w)", "a\u00B2B\u00BC_"), 0);
  EXPECT_EQ(kept(R"([^\\w\\s])", "a \u00B2B\u00BC_"), 4);
}

TEST(TokenizerJson, lines_and_words_end_where_they_do_in_the_reference) {
  // tokenizers 0.23: only "\n" ends a line, "^" and "$" mean lines, "\b" follows "\w".
  EXPECT_EQ(kept(".", "a\r\v\u0085\u2028b\nc"), 1);
  EXPECT_EQ(kept("^a", "a\na\rab"), 4);
  EXPECT_EQ(kept("a$", "a\nba\rab"), 6);
  EXPECT_EQ(kept(R"(a\\b)", "a\u00B2 a"), 3);
  EXPECT_EQ(kept(R"(a\\B)", "a\u00B2 a"), 3);
  EXPECT_EQ(kept(R"(a\\b)", "a\u200Db"), 2);
  const auto refused = [](const std::string& regex) {
    return error_of(std::string(kModel) +
                    R"(,"pre_tokenizer":{"type":"Split","pattern":{"Regex":")" + regex +
                    R"("},"behavior":"Removed"})")
        .kind;
  };
  for (const char* regex : {"(?m:a.b)", "(?im)a.b", "(?i-m:a)", R"([\\b])", R"(\\O)"}) {
    EXPECT_EQ(refused(regex), ErrorKind::unavailable) << regex;
  }
  EXPECT_EQ(kept("(?i:A)", "ab"), 1);
}

TEST(TokenizerJson, special_tokens_are_text_in_documents_and_tokens_in_templates) {
  const auto tokenizer = made(
      std::string(kModel) +
      R"(,"added_tokens":[{"id":3,"content":"ab","special":true},{"id":4,"content":"ba","special":false}])");
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_THAT(tokenizer->encode("ab"), ElementsAre(Token{2, 0, 2}));
  EXPECT_THAT(tokenizer->encode_marked("ab"), ElementsAre(Token{3, 0, 2}));
  EXPECT_THAT(tokenizer->encode("bba"), ElementsAre(Token{1, 0, 1}, Token{4, 1, 3}));
  EXPECT_EQ(tokenizer->special_id("ab"), 3);
  EXPECT_EQ(tokenizer->special_id("ba"), std::nullopt);
  EXPECT_EQ(tokenizer->vocabulary_size(), 5);
}

TEST(TokenizerFiles, a_folder_opens_by_what_is_in_it) {
  const qfs::test::TemporaryFolder folder;
  EXPECT_EQ(open_tokenizer_files(folder.path()).error().kind, ErrorKind::not_found);
  folder.write("vocab.txt", "[UNK]\n[CLS]\n[SEP]\na\n##b\n");
  const auto word_piece = open_tokenizer_files(folder.path());
  ASSERT_TRUE(word_piece.ok()) << word_piece.error().to_string();
  EXPECT_THAT((*word_piece)->encode("AB"), ElementsAre(Token{3, 0, 1}, Token{4, 1, 2}));
  EXPECT_THAT((*word_piece)->model_input("a", "a").type_ids, ElementsAre(0, 0, 0, 1, 1));
  folder.write("tokenizer_config.json", R"({"do_lower_case":false,"eos_token":{"content":"b"}})");
  const auto cased = open_tokenizer_files(folder.path());
  ASSERT_TRUE(cased.ok());
  EXPECT_THAT((*cased)->encode("A"), ElementsAre(Token{0, 0, 1}));
  const std::string before = *tokenizer_files_digest(folder.path());
  folder.write("tokenizer.json", "{" + std::string(kModel) + "}");
  EXPECT_NE(*tokenizer_files_digest(folder.path()), before);
  const auto json = open_tokenizer_files(folder.path());
  ASSERT_TRUE(json.ok());
  EXPECT_EQ((*json)->end_of_sequence_id(), 1);
  const Resource resource = {"local:x", folder.path(), *tokenizer_files_digest(folder.path())};
  EXPECT_TRUE(open_tokenizer(resource).ok());
  EXPECT_EQ(open_tokenizer({"local:x", folder.path(), before}).error().kind, ErrorKind::data);
}

TEST(TokenizerFiles, qwen2_cuts_digits_one_by_one_and_composes_letters) {
  const qfs::test::TemporaryFolder folder;
  folder.write("vocab.json", R"({"1":0,"2":1,"12":2,"Ã":3,"©":4,"Ã©":5})");
  folder.write("merges.txt", "1 2\nÃ ©\n");
  const auto ids = [&] {
    const auto tokenizer = open_tokenizer_files(folder.path());
    EXPECT_TRUE(tokenizer.ok()) << tokenizer.error().to_string();
    return ids_of((*tokenizer)->encode("12e\u0301"));
  };
  folder.write("tokenizer_config.json", R"({"tokenizer_class":"GPT2Tokenizer"})");
  EXPECT_THAT(ids(), ElementsAre(2));
  folder.write("tokenizer_config.json", R"({"tokenizer_class":"Qwen2TokenizerFast"})");
  EXPECT_THAT(ids(), ElementsAre(0, 1, 5));
}

TEST(TokenizerFiles, other_files_are_refused_with_their_line) {
  const qfs::test::TemporaryFolder folder;
  const auto error = [&](const char* name, const std::string& bytes) {
    return open_tokenizer_files(folder.write(name, bytes)).error();
  };
  EXPECT_EQ(error("tokenizer.model", "YQ== 0\nYg= 1\n").where, folder / "tokenizer.model:2");
  EXPECT_EQ(error("tokenizer.model", "YQ== 0\n").kind, ErrorKind::unavailable);
  EXPECT_EQ(error("tokenizer.model", "no model").kind, ErrorKind::data);
  folder.write("vocab.json", R"({"a":0,"b":1})");
  EXPECT_EQ(error("merges.txt", "#version: 0.2\na b\n").where, folder / "merges.txt:2");
  EXPECT_EQ(error("vocab.txt", "a\n").kind, ErrorKind::data);
}

}  // namespace
}  // namespace qfs::tokenizers

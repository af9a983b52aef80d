// Folders whose files contradict one another are refused by name; what tokenizer_config.json says
// about the tokens of a tokenizer.json holds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "methods/models/tokenizers/folders/tokenizer_files.h"
#include "tests/support/temporary_folder.h"

namespace qfs::tokenizers {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FolderJson : public ::testing::Test {
 protected:
  FolderJson() {
    folder_.write("tokenizer.json",
                  R"({"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]},
                      "added_tokens":[{"id":3,"content":"</s>","special":true},
                                      {"id":4,"content":"<|user|>","special":false}]})");
  }
  void configure(const std::string& config) { folder_.write("tokenizer_config.json", config); }
  std::string error() {
    const auto tokenizer = open_tokenizer_files(folder_.path());
    return tokenizer.ok() ? "no error" : tokenizer.error().to_string();
  }
  std::shared_ptr<const VocabularyTokenizer> open() {
    const auto tokenizer = open_tokenizer_files(folder_.path());
    if (tokenizer.ok()) return *tokenizer;
    ADD_FAILURE() << tokenizer.error().to_string();
    return nullptr;
  }

  qfs::test::TemporaryFolder folder_;
};

TEST_F(FolderJson, Tokens_that_are_called_special_are_and_leave_texts) {
  const std::vector<int32_t> ids = {4, 2, 0};
  EXPECT_EQ(open()->special_id("<|user|>"), std::nullopt);
  configure(R"({"additional_special_tokens": ["<|user|>", "a"]})");
  EXPECT_EQ(open()->special_id("<|user|>"), 4);
  EXPECT_EQ(open()->special_id("a"), 0);
  EXPECT_EQ(open()->decode(ids), "ab");
  // Of two lists the newer one holds.
  configure(R"({"additional_special_tokens": ["<|user|>"], "extra_special_tokens": []})");
  EXPECT_EQ(open()->special_id("<|user|>"), std::nullopt);
}

TEST_F(FolderJson, Tokens_that_the_folder_adds_are_found_in_texts) {
  folder_.write("added_tokens.json", R"({"new": 5})");
  EXPECT_THAT(ids_of(open()->encode("abnewb")), ElementsAre(2, 5, 1));
  EXPECT_EQ(open()->vocabulary_size(), 6);
}

TEST_F(FolderJson, What_the_folder_says_of_a_token_holds_against_the_file) {
  const std::string text = "b<|user|>a";
  EXPECT_THAT(ids_of(open()->encode(text)), ElementsAre(1, 4, 0));
  configure(R"({"added_tokens_decoder": {"4": {"content": "<|user|>", "single_word": true}}})");
  EXPECT_THAT(ids_of(open()->encode(text)), ElementsAre(1, 0));
}

TEST_F(FolderJson, Spaces_are_marked_by_the_class_in_bpe_that_does_nothing_else_alone) {
  const auto first_id = [&](const std::string& model, const std::string& pre_tokenizer) {
    folder_.write("tokenizer.json",
                  R"({"normalizer":{"type":"Prepend","prepend":"\u2581"},"pre_tokenizer":)" +
                      pre_tokenizer + R"(,"model":)" + model + "}");
    return ids_of(open()->encode("a")).front();
  };
  const std::string bpe = R"({"type":"BPE","vocab":{"a":0,"\u2581":1},"merges":[]})";
  const std::string pieces = R"({"type":"WordPiece","vocab":{"a":0,"\u2581a":1},
                                 "unk_token":"a","continuing_subword_prefix":"##",
                                 "max_input_chars_per_word":100})";
  EXPECT_EQ(first_id(bpe, "null"), 1);
  configure(R"({"tokenizer_class": "LlamaTokenizer", "add_prefix_space": false})");
  EXPECT_EQ(first_id(bpe, "null"), 0);
  EXPECT_EQ(first_id(bpe, R"({"type":"Digits","individual_digits":true})"), 1);
  EXPECT_EQ(first_id(pieces, "null"), 1);
}

TEST_F(FolderJson, Ids_that_contradict_the_file_are_named) {
  folder_.write("added_tokens.json", R"({"new": 2})");
  EXPECT_THAT(error(), HasSubstr("'new' has the id 2 of the piece 'ab'"));
  folder_.write("added_tokens.json", R"({"b": 7})");
  EXPECT_THAT(error(), HasSubstr("'b' has the id 7; in the tokenizer's file it has 1"));
}

TEST_F(FolderJson, Empty_matches_of_an_expression_cut_words) {
  folder_.write("tokenizer.json",
                R"json({"pre_tokenizer":{"type":"Split","pattern":{"Regex":"(?=[A-Z])"},
                                         "behavior":"Isolated","invert":false},
                        "model":{"type":"BPE","vocab":{"a":0,"B":1,"aB":2,"BB":3,"Ba":4},
                                 "merges":["a B","B B","B a"]}})json");
  EXPECT_THAT(open()->encode("aBBa"), ElementsAre(Token{0, 0, 1}, Token{1, 1, 2}, Token{4, 2, 4}));
  folder_.write("tokenizer.json",
                R"({"normalizer":{"type":"Replace","pattern":{"Regex":"^"},"content":"a"},
                    "model":{"type":"BPE","vocab":{"a":0,"B":1},"merges":[]}})");
  EXPECT_THAT(ids_of(open()->encode("BB")), ElementsAre(0, 1, 1));
  EXPECT_THAT(open()->encode(""), ElementsAre());
}

TEST_F(FolderJson, Bytes_that_a_vocabulary_lacks_are_its_unknown_token) {
  const auto ids = [&](const std::string& fuse) {
    folder_.write("tokenizer.json",
                  R"({"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},
                      "model":{"type":"BPE","vocab":{"a":0,"<unk>":1},"merges":[],
                               "unk_token":"<unk>","fuse_unk":)" +
                      fuse + "}}");
    return ids_of(
        open()->encode("a\xC3\xBC"
                       "a"));
  };
  EXPECT_THAT(ids("false"), ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(ids("true"), ElementsAre(0, 1, 0));
}

TEST_F(FolderJson, A_switch_that_is_no_boolean_is_named) {
  configure(R"({"legacy": "yes"})");
  EXPECT_THAT(error(), HasSubstr("tokenizer_config.json#/legacy: a string instead of true"));
  configure(R"({"legacy": null})");
  EXPECT_EQ(error(), "no error");
}

TEST_F(FolderJson, A_language_that_is_none_is_named) {
  configure(R"({"tokenizer_class": "MBartTokenizer", "src_lang": "xx_XX"})");
  EXPECT_THAT(error(), HasSubstr("src_lang 'xx_XX' is no language"));
  configure(R"({"tokenizer_class": "MBartTokenizer", "src_lang": "</s>"})");
  EXPECT_THAT(error(), HasSubstr("src_lang '</s>' is no language"));
}

}  // namespace
}  // namespace qfs::tokenizers

// Ids of SentencePiece files are those of the tokenizer's class: PEGASUS and mBART put tokens of
// their own around the pieces, and folders add tokens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "methods/models/prompting/source_layout.h"
#include "methods/models/tokenizers/folders/tokenizer_files.h"
#include "tests/support/sentence_piece_model.h"
#include "tests/support/temporary_folder.h"

namespace qfs::tokenizers {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kSpace = "\xE2\x96\x81";
const std::string kSpaceA =
    "\xE2\x96\x81"
    "a";

std::string fairseq_model() {
  return test::sentence_piece_model({{"<unk>", PieceType::unknown},
                                     {"<s>", PieceType::control},
                                     {"</s>", PieceType::control},
                                     {kSpaceA, PieceType::normal},
                                     {"b", PieceType::normal}});
}

std::string pegasus_model() {
  return test::sentence_piece_model({{"<pad>", PieceType::control},
                                     {"</s>", PieceType::control},
                                     {"<unk>", PieceType::unknown},
                                     {kSpaceA, PieceType::normal},
                                     {"b", PieceType::normal}});
}

class SentencePieceFolder : public ::testing::Test {
 protected:
  std::shared_ptr<const VocabularyTokenizer> open() {
    const auto tokenizer = open_tokenizer_files(folder_.path());
    if (tokenizer.ok()) return *tokenizer;
    ADD_FAILURE() << tokenizer.error().to_string();
    return nullptr;
  }
  std::vector<int32_t> input(const std::string& text) {
    const auto tokenizer = open();
    return tokenizer == nullptr ? std::vector<int32_t>()
                                : ids_of(tokenizer->model_input(text).tokens);
  }
  std::string error() {
    const auto tokenizer = open_tokenizer_files(folder_.path());
    return tokenizer.ok() ? "no error" : tokenizer.error().to_string();
  }

  test::TemporaryFolder folder_;
};

TEST_F(SentencePieceFolder, Pegasus_has_103_tokens_before_the_pieces) {
  folder_.write("spiece.model", pegasus_model());
  folder_.write("config.json", R"({"model_type": "pegasus"})");
  EXPECT_THAT(input("ab?"), ElementsAre(106, 107, 105, 1));
  const auto tokenizer = open();
  EXPECT_EQ(tokenizer->decode(std::vector<int32_t>{0, 106, 107, 104, 105, 1}), "ab");
  EXPECT_EQ(tokenizer->vocabulary_size(), 108);
  EXPECT_EQ(tokenizer->end_of_sequence_id(), 1);
  EXPECT_EQ(tokenizer->special_id("<mask_2>"), 3);
  EXPECT_EQ(tokenizer->special_id("<unk_102>"), 104);
}

TEST_F(SentencePieceFolder, Mbart_has_fairseqs_tokens_and_a_language_behind_the_text) {
  folder_.write("sentencepiece.bpe.model", fairseq_model());
  folder_.write("config.json", R"({"model_type": "mbart"})");
  EXPECT_THAT(input("ab?"), ElementsAre(4, 5, 3, 2, 9));
  const auto tokenizer = open();
  EXPECT_EQ(tokenizer->decode(std::vector<int32_t>{0, 4, 5, 3, 2, 9}), "ab");
  EXPECT_EQ(tokenizer->special_id("<mask>"), 31);
  EXPECT_EQ(tokenizer->special_id("<unk>"), 3);
  folder_.write("tokenizer_config.json", R"({"src_lang": "zh_CN"})");
  EXPECT_THAT(input("a"), ElementsAre(4, 2, 30));
  folder_.write("tokenizer_config.json", R"({"src_lang": "sl_SI"})");
  EXPECT_THAT(error(), HasSubstr("src_lang 'sl_SI' is no language of MBartTokenizer"));
  folder_.write("tokenizer_config.json", R"({"src_lang": "</s>"})");
  EXPECT_THAT(error(), HasSubstr("is no language"));
}

TEST_F(SentencePieceFolder, A_mark_of_its_own_before_a_text_is_none_of_the_special_tokens) {
  folder_.write("sentencepiece.bpe.model",
                test::sentence_piece_model({{"<unk>", PieceType::unknown},
                                            {"<s>", PieceType::control},
                                            {"</s>", PieceType::control},
                                            {kSpace, PieceType::normal},
                                            {"a", PieceType::normal}}));
  folder_.write("config.json", R"({"model_type": "mbart"})");
  EXPECT_THAT(input("a"), ElementsAre(4, 5, 2, 9));
  EXPECT_THAT(open()->frame().before, ElementsAre());
  EXPECT_THAT(open()->frame().after, ElementsAre(2, 9));
  const auto source = prompting::encode_layout(*open(), "{document}", "</s>",
                                               prompting::GlobalTokens::none, {"aa"}, "");
  EXPECT_THAT(source->ids, ElementsAre(4, 5, 5, 2, 9));
}

TEST_F(SentencePieceFolder, Mbart50_has_more_languages_and_begins_with_one) {
  folder_.write("sentencepiece.bpe.model", fairseq_model());
  folder_.write("config.json", R"({"model_type": "mbart", "tokenizer_class": "MBart50Tokenizer"})");
  EXPECT_THAT(input("a"), ElementsAre(9, 4, 2));
  folder_.write("tokenizer_config.json",
                R"({"tokenizer_class": "MBart50TokenizerFast", "src_lang": "sl_SI"})");
  EXPECT_THAT(input("a"), ElementsAre(57, 4, 2));
  EXPECT_EQ(open()->special_id("<mask>"), 58);
}

TEST_F(SentencePieceFolder, Tokens_that_the_folder_adds_are_special_where_it_says_so) {
  folder_.write("tokenizer.model", fairseq_model());
  folder_.write("added_tokens.json", R"({"<|end|>": 5, "[PAD]": 6})");
  folder_.write("special_tokens_map.json",
                R"({"pad_token": "[PAD]", "additional_special_tokens": ["<|end|>"]})");
  folder_.write("tokenizer_config.json", R"({"tokenizer_class": "LlamaTokenizer"})");
  EXPECT_THAT(input("ab"), ElementsAre(1, 3, 4));
  EXPECT_EQ(open()->special_id("<|end|>"), 5);
  EXPECT_EQ(open()->special_id("[PAD]"), 6);
  folder_.write("added_tokens.json", R"({"<|end|>": -5})");
  EXPECT_THAT(error(), HasSubstr("'<|end|>'"));
}

TEST_F(SentencePieceFolder, What_the_library_does_not_do_is_refused_and_not_passed_over) {
  folder_.write("tokenizer.model", fairseq_model());
  folder_.write("added_tokens.json", R"({"plain": 5})");
  EXPECT_THAT(error(), HasSubstr("the added token 'plain' is not special"));
  folder_.write("added_tokens.json", R"({"b": 4})");  // the file's own piece
  EXPECT_EQ(error(), "no error");
  folder_.write("tokenizer_config.json", R"({"add_prefix_space": false})");
  EXPECT_THAT(error(), HasSubstr("add_prefix_space is false"));
  folder_.write("tokenizer_config.json", R"({"tokenizer_class": "PegasusTokenizer", "offset": 0})");
  EXPECT_THAT(error(), HasSubstr("a PegasusTokenizer of the offset 0"));
  folder_.write("tokenizer_config.json",
                R"({"tokenizer_class": "MBartTokenizer", "added_tokens_decoder":
                    {"9": {"content": "<pad>", "special": true}}})");
  EXPECT_THAT(error(), HasSubstr("'<pad>' has the id 9; by its class it has 1"));
}

TEST_F(SentencePieceFolder, An_end_token_is_put_behind_texts_where_the_folder_asks_for_it) {
  folder_.write("tokenizer.model", fairseq_model());
  folder_.write("tokenizer_config.json", R"({"add_eos_token": true})");
  EXPECT_THAT(input("ab"), ElementsAre(3, 4, 2));
  folder_.write("tokenizer_config.json", R"({"add_eos_token": true, "add_bos_token": true})");
  EXPECT_THAT(input("ab"), ElementsAre(1, 3, 4, 2));
  folder_.write("tokenizer_config.json", R"({"tokenizer_class": "BlueLMTokenizer"})");
  EXPECT_THAT(input("ab"), ElementsAre(1, 3, 4));
}

TEST_F(SentencePieceFolder, Spaces_before_punctuation_go_where_the_folder_asks_for_it) {
  folder_.write("tokenizer.model", test::sentence_piece_model({{"<unk>", PieceType::unknown},
                                                               {kSpaceA, PieceType::normal},
                                                               {kSpace + ".", PieceType::normal}}));
  const std::vector<int32_t> ids = {1, 2};
  EXPECT_EQ(open()->decode(ids), "a .");
  folder_.write("tokenizer_config.json", R"({"clean_up_tokenization_spaces": true})");
  EXPECT_EQ(open()->decode(ids), "a.");
  // Pieces of BPE keep theirs.
  folder_.write("tokenizer.model", test::sentence_piece_model({{"<unk>", PieceType::unknown},
                                                               {kSpaceA, PieceType::normal},
                                                               {kSpace + ".", PieceType::normal}},
                                                              test::kPlainBpe));
  EXPECT_EQ(open()->decode(ids), "a .");
}

/// BPE that leaves characters as they are, as the files of LLaMA.
std::string llama_model() {
  return test::sentence_piece_model({{"<unk>", PieceType::unknown},
                                     {"<s>", PieceType::control},
                                     {"</s>", PieceType::control},
                                     {kSpace, PieceType::normal},
                                     {"a", PieceType::normal},
                                     {"b", PieceType::normal},
                                     {kSpaceA, PieceType::normal}},
                                    test::kPlainBpe);
}

TEST_F(SentencePieceFolder, Llama_begins_with_bos_and_takes_a_space_for_its_mark) {
  folder_.write("tokenizer.model", llama_model());
  EXPECT_THAT(input(" a"), ElementsAre(3, 6));  // without the class: as the library
  EXPECT_THAT(input("a??"), ElementsAre(6, 0));
  folder_.write("tokenizer_config.json", R"({"tokenizer_class": "LlamaTokenizer"})");
  EXPECT_THAT(input(" a"), ElementsAre(1, 6));
  EXPECT_THAT(input("a??"), ElementsAre(1, 6, 0));
  EXPECT_THAT(open()->encode("a b"), ElementsAre(Token{6, 0, 1}, Token{3, 1, 2}, Token{5, 2, 3}));
  EXPECT_THAT(open()->ids_behind("a"), ElementsAre(4));
  EXPECT_EQ(open()->decode(std::vector<int32_t>{1, 6, 3, 5, 2}), "a b");
  EXPECT_EQ(open()->end_of_sequence_id(), 2);
  folder_.write("tokenizer_config.json",
                R"({"tokenizer_class": "LlamaTokenizer", "legacy": true, "add_bos_token": false})");
  EXPECT_THAT(open()->ids_behind("a"), ElementsAre(6));
  EXPECT_THAT(input("a"), ElementsAre(6));
}

TEST_F(SentencePieceFolder, Code_llama_reads_as_llama_and_files_that_normalize_as_the_library) {
  folder_.write("tokenizer.model", llama_model());
  folder_.write("tokenizer_config.json", R"({"tokenizer_class": "CodeLlamaTokenizer"})");
  EXPECT_THAT(input(" a"), ElementsAre(1, 6));
  folder_.write("tokenizer_config.json", R"({"tokenizer_class": "LlamaTokenizer"})");
  folder_.write("tokenizer.model", llama_model() + "\x1A\x02\x20\x01");  // runs of spaces are one
  EXPECT_THAT(input("a  b"), ElementsAre(1, 6, 3, 5));
}

TEST_F(SentencePieceFolder, Llama_finds_added_tokens_and_refuses_ids_of_other_pieces) {
  folder_.write("tokenizer.model", llama_model());
  folder_.write("tokenizer_config.json", R"({"tokenizer_class": "LlamaTokenizer"})");
  folder_.write("added_tokens.json", R"({"new": 7})");
  EXPECT_THAT(input("a new b"), ElementsAre(1, 6, 3, 7, 3, 5));
  EXPECT_EQ(open()->vocabulary_size(), 8);
  folder_.write("added_tokens.json", R"({"new": 5})");
  EXPECT_THAT(error(), HasSubstr("'new' has the id 5 of the piece 'b'"));
  folder_.write("added_tokens.json", R"({"b": 7})");
  EXPECT_THAT(error(), HasSubstr("'b' has the id 7; in the tokenizer's file it has 5"));
  folder_.write("added_tokens.json", "{}");
  folder_.write("tokenizer_config.json",
                R"({"tokenizer_class": "LlamaTokenizer", "bos_token": "<begin>"})");
  EXPECT_THAT(error(), HasSubstr("bos_token '<begin>' is no token"));
  folder_.write("tokenizer_config.json",
                R"({"tokenizer_class": "LlamaTokenizer", "eos_token": "<over>"})");
  EXPECT_EQ(error(), "no error");
  EXPECT_EQ(open()->end_of_sequence_id(), std::nullopt);
  folder_.write(
      "tokenizer_config.json",
      R"({"tokenizer_class": "LlamaTokenizer", "eos_token": "<over>", "add_eos_token": true})");
  EXPECT_THAT(error(), HasSubstr("eos_token '<over>' is no token"));
}

TEST_F(SentencePieceFolder, Tokens_added_to_a_list_of_pieces_are_found_in_texts) {
  folder_.write("vocab.txt", "[UNK]\n[CLS]\n[SEP]\na\n");
  EXPECT_THAT(input("a new"), ElementsAre(1, 3, 0, 2));
  folder_.write("added_tokens.json", R"({"new": 4})");
  EXPECT_THAT(input("a new"), ElementsAre(1, 3, 4, 2));
}

}  // namespace
}  // namespace qfs::tokenizers

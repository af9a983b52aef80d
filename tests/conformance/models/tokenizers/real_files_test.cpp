// Published vocabularies of every format give the ids that came with them, and the ids and
// ranges of the references on 10,000 random strings (make_real.py). Skipped by name where they are
// absent.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "harness/core/sha256.h"
#include "methods/models/tokenizers/folders/tokenizer_files.h"
#include "tests/support/random_strings.h"
#include "tests/support/shared_data.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/token_lines.h"

namespace qfs::tokenizers {
namespace {

namespace fs = std::filesystem;
using TokenizerPtr = std::shared_ptr<const VocabularyTokenizer>;

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0;;) {
    const size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == text.npos) return parts;
    begin = end + separator.size();
  }
}

TokenizerPtr open(const fs::path& path) {
  auto tokenizer = open_tokenizer_files(path.string());
  if (tokenizer.ok()) return *tokenizer;
  ADD_FAILURE() << tokenizer.error().to_string();
  return nullptr;
}

/// vocab.json with RoBERTa's ids, as the published folder has it, from fairseq's dict.txt.
TokenizerPtr open_roberta(const qfs::test::TemporaryFolder& folder) {
  const fs::path data = qfs::test::shared_data("tokenizers");
  const auto encoder = nlohmann::json::parse(content(data / "gpt2/encoder.json"));
  std::vector<std::string> pieces(encoder.size());
  for (const auto& [piece, id] : encoder.items()) pieces[id.get<size_t>()] = piece;
  nlohmann::json vocabulary = {{"<s>", 0}, {"<pad>", 1}, {"</s>", 2}, {"<unk>", 3}};
  for (const std::string& line : split(content(data / "bart-roberta/dict.txt"), "\n")) {
    if (line.empty()) continue;
    const std::string key = line.substr(0, line.find(' '));
    const bool number = key.find_first_not_of("0123456789") == key.npos;
    vocabulary[number ? pieces[std::stoul(key)] : key] = vocabulary.size();
  }
  vocabulary["<mask>"] = vocabulary.size();
  folder.write("vocab.json", vocabulary.dump());
  folder.write("merges.txt", content(data / "gpt2/vocab.bpe"));
  return open(folder.path());
}

TokenizerPtr open_gpt2(const qfs::test::TemporaryFolder& folder) {
  const fs::path data = qfs::test::shared_data("tokenizers/gpt2");
  folder.write("vocab.json", content(data / "encoder.json"));
  folder.write("merges.txt", content(data / "vocab.bpe"));
  return open(folder / "vocab.json");
}

/// The tokenizer for ids that came with llama.cpp under this name.
TokenizerPtr open_named(const std::string& name, const qfs::test::TemporaryFolder& folder) {
  const fs::path data = qfs::test::shared_data("tokenizers");
  if (name == "llama-bpe") return open(data / "llama3/tokenizer.model");
  if (name == "roberta-bpe") return open_roberta(folder);
  if (name == "gpt-2-files") return open_gpt2(folder);
  if (name == "llama-spm-library") return open(data / "llama2/tokenizer.model");
  if (name == "bert-vocab") return open(data / "bert-base-uncased/vocab.txt");
  return open(data / ("ggml-vocab/ggml-vocab-" + name + ".gguf"));
}

class GivenIds : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(GivenIds, equal_those_that_came_with_the_vocabulary) {
  const fs::path folder = qfs::test::shared_data("tokenizers/ggml-vocab");
  const auto& [name, ids_of] = GetParam();
  const fs::path ids_file = folder / ("ggml-vocab-" + std::string(ids_of) + ".gguf.out");
  QFS_SKIP_WITHOUT_DATA(ids_file);
  const auto texts = split(content(folder / "ggml-vocab.gguf.inp"), "\n__ggml_vocab_test__\n");
  const auto lines = split(content(ids_file), "\n");
  const qfs::test::TemporaryFolder scratch;
  const TokenizerPtr tokenizer = open_named(name, scratch);
  ASSERT_NE(tokenizer, nullptr);
  // Both files end with their separator.
  ASSERT_EQ(lines.size(), texts.size());
  ASSERT_EQ(lines.back() + texts.back(), "");
  for (size_t i = 0; i + 1 < texts.size(); ++i) {
    std::string ids;
    for (const Token& token : tokenizer->encode(texts[i])) ids += " " + std::to_string(token.id);
    EXPECT_EQ(ids, lines[i]) << i << ": " << texts[i];
  }
}

INSTANTIATE_TEST_SUITE_P(
    Published, GivenIds,
    ::testing::Values(std::pair("bert-bge", "bert-bge"), std::pair("bert-vocab", "bert-bge"),
                      std::pair("deepseek-coder", "deepseek-coder"),
                      std::pair("deepseek-llm", "deepseek-llm"), std::pair("falcon", "falcon"),
                      std::pair("gpt-2", "gpt-2"), std::pair("gpt-2-files", "gpt-2"),
                      std::pair("llama-bpe", "llama-bpe"), std::pair("llama-spm", "llama-spm"),
                      std::pair("llama-spm-library", "llama-spm"), std::pair("mpt", "mpt"),
                      std::pair("roberta-bpe", "roberta-bpe"), std::pair("starcoder", "starcoder")),
    [](const auto& info) {
      std::string name = info.param.first;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST(SentencePieceInGguf, gives_the_ids_of_the_library) {
  const fs::path data = qfs::test::shared_data("tokenizers");
  QFS_SKIP_WITHOUT_DATA(data);
  const TokenizerPtr gguf = open(data / "ggml-vocab/ggml-vocab-llama-spm.gguf");
  const TokenizerPtr library = open(data / "llama2/tokenizer.model");
  ASSERT_NE(gguf, nullptr);
  ASSERT_NE(library, nullptr);
  size_t different = 0;
  for (const std::string& text : qfs::test::random_strings(10000, 20261123)) {
    const std::vector<Token> ours = gguf->encode(text);
    const std::vector<Token> theirs = library->encode(text);
    const auto same_id = [](const Token& a, const Token& b) { return a.id == b.id; };
    different += !std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(), same_id);
  }
  EXPECT_EQ(different, 0u);
}

class RandomTexts : public ::testing::TestWithParam<const char*> {};

TEST_P(RandomTexts, have_ids_and_ranges_of_the_reference) {
  const std::string name = GetParam();
  const fs::path data = qfs::test::shared_data("tokenizers");
  QFS_SKIP_WITHOUT_DATA(data);
  const auto expected = nlohmann::json::parse(
      content("tests/conformance/models/tokenizers/real.json"))["files"][name];
  const qfs::test::TemporaryFolder folder;
  const bool model = name.find('/') != name.npos;
  const TokenizerPtr tokenizer = model               ? open(data / (name + ".model"))
                                 : name == "gpt2"    ? open_gpt2(folder)
                                 : name == "roberta" ? open_roberta(folder)
                                                     : open(data / name / "vocab.txt");
  ASSERT_NE(tokenizer, nullptr);
  const auto texts = qfs::test::random_strings(10000, 20261122);
  const size_t block = texts.size() / expected.size();
  for (size_t i = 0; i < expected.size(); ++i) {
    std::string lines;
    for (size_t k = i * block; k < (i + 1) * block; ++k) {
      lines += qfs::test::token_line(texts[k], tokenizer->encode(texts[k]));
    }
    EXPECT_EQ(sha256_hex(lines).substr(0, 16), expected[i]) << "block " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Published, RandomTexts,
    ::testing::Values("gpt2", "roberta", "bert-base-uncased", "bert-base-chinese",
                      "llama2/tokenizer", "t5/spiece", "albert/spiece",
                      "sentencepiece-fixtures/test_model", "sentencepiece-fixtures/test_ja_model",
                      "sentencepiece-fixtures/test_sentencepiece",
                      "sentencepiece-fixtures/test_sentencepiece_bpe",
                      "sentencepiece-fixtures/test_sentencepiece_bpe_char",
                      "sentencepiece-fixtures/test_sentencepiece_with_bytefallback"));

}  // namespace
}  // namespace qfs::tokenizers

// The older tokenizer files of a stranger, and SentencePiece and tiktoken models: making a
// tokenizer of them and encoding a text never crashes.
#include <string>
#include <vector>

#include "methods/models/tokenizers/folders/vocabulary_files.h"
#include "methods/models/tokenizers/sentence_piece/llama_pieces.h"
#include "methods/models/tokenizers/sentence_piece/sentence_piece.h"
#include "tests/support/fuzz.h"
#include "tests/support/sentence_piece_model.h"

namespace {

std::string sentence_piece_seed() {
  using qfs::test::PieceType;
  return qfs::test::sentence_piece_model({{"<unk>", PieceType::unknown},
                                          {"<s>", PieceType::control},
                                          {"</s>", PieceType::control},
                                          {"\xE2\x96\x81"
                                           "a",
                                           PieceType::normal},
                                          {"b", PieceType::normal}});
}

/// The same with a table that makes "b" of "A": a double array of 256 units, then the texts.
std::string sentence_piece_seed_with_table() {
  std::vector<uint32_t> units(256, 0);
  units['A'] = (('A' ^ 0x80u) << 10) | (1u << 8) | 'A';
  units[0x80] = 1u << 31;
  const uint32_t bytes = 1024;
  std::string table(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
  table.append(reinterpret_cast<const char*>(units.data()), bytes);
  table.append("b\0", 2);
  const auto length = [](size_t size) {
    return std::string{static_cast<char>(0x80 | (size & 0x7F)), static_cast<char>(size >> 7)};
  };
  const std::string normalizer = "\x12" + length(table.size()) + table;
  return sentence_piece_seed() + "\x1A" + length(normalizer.size()) + normalizer;
}

void use(const qfs::Result<std::shared_ptr<const qfs::tokenizers::VocabularyTokenizer>>& made) {
  if (!made.ok()) return;
  std::vector<int32_t> ids;
  for (const auto& token : (*made)->encode("abAA A\xC3\xA9 <mask>\n")) ids.push_back(token.id);
  static_cast<void>((*made)->decode(ids));
  static_cast<void>((*made)->model_input("a"));
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  return {"[UNK]\n[CLS]\n[SEP]\na\n##b\n",
          "{\"a\":0,\"b\":1,\"ab\":2}",
          "#version: 0.2\na b\n",
          "YQ== 0\nYg== 1\n",
          sentence_piece_seed(),
          sentence_piece_seed_with_table(),
          sentence_piece_seed().append(qfs::test::kPlainBpe)};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace qfs::tokenizers;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  use(make_word_piece_lines(bytes, "fuzz", {}));
  use(make_vocabulary_and_merges(bytes, "a b\n", "fuzz", {}));
  use(make_vocabulary_and_merges("{\"a\":0,\"b\":1,\"ab\":2}", bytes, "fuzz", {}));
  if (is_tiktoken(bytes)) use(make_tiktoken(bytes, "fuzz"));
  const auto file = read_sentence_piece_file(bytes, "fuzz");
  if (!file.ok()) return 0;
  use(make_sentence_piece(bytes, *file, "fuzz", {}));
  use(make_llama_pieces(*file, "fuzz", {.add_bos_token = false}));
  return 0;
}

// A GGUF file of a stranger: opening it, reading its tensors and building its tokenizer never
// crash.
#include <unistd.h>

#include <string>
#include <vector>

#include "methods/models/checkpoints/gguf.h"
#include "methods/models/checkpoints/gguf_digests.h"
#include "methods/models/tokenizers/gguf/gguf_tokenizer.h"
#include "tests/support/fuzz.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/temporary_folder.h"

namespace {

using qfs::test::GgufWriter;

std::string seed(bool packed) {
  GgufWriter writer;
  writer.text("tokenizer.ggml.model", "gpt2");
  writer.text("tokenizer.ggml.pre", packed ? "smollm" : "gpt-2");
  writer.texts("tokenizer.ggml.tokens", {"<end>", "a", "b", "ab", "1"});
  writer.int32s("tokenizer.ggml.token_type", {3, 1, 1, 1, 1});
  writer.texts("tokenizer.ggml.merges", {"a b"});
  writer.uint32("tokenizer.ggml.eos_token_id", 0);
  writer.boolean("tokenizer.ggml.add_bos_token", packed);
  writer.uint32("tokenizer.ggml.bos_token_id", 0);
  writer.float32("eps", 1e-5f);
  writer.tensor("a", {2, 3}, {1, 2, 3, 4, 5, 6});
  if (packed) writer.packed_tensor("b", {2, 32}, 3, std::string(40, '\x3C'));
  if (packed) writer.packed_tensor("c", {1, 32}, 8, std::string(34, '\x3C'));
  return writer.bytes();
}

}  // namespace

std::vector<std::string> fuzz_seeds() { return {seed(false), seed(true)}; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const qfs::test::TemporaryFolder folder;
  const std::string path = folder.write("model.gguf", {reinterpret_cast<const char*>(data), size});
  const auto file = qfs::checkpoints::GgufFile::open(path);
  if (!file.ok()) return 0;
  for (const auto& tensor : (*file)->tensors()) {
    if (tensor.elements > (1 << 20)) continue;
    std::vector<float> values(static_cast<size_t>(tensor.elements));
    static_cast<void>((*file)->read(tensor, values).ok());
  }
  static_cast<void>(qfs::checkpoints::tokenizer_digest(**file));
  static_cast<void>(qfs::checkpoints::chat_template_digest(**file));
  if (const auto tokenizer = qfs::tokenizers::make_gguf_tokenizer(*file); tokenizer.ok()) {
    const auto tokens = (*tokenizer)->encode("ab 12 a'b <end>\n");
    std::vector<int32_t> ids;
    for (const auto& token : tokens) ids.push_back(token.id);
    static_cast<void>((*tokenizer)->decode(ids));
  }
  return 0;
}

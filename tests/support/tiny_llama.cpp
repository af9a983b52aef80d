#include "tests/support/tiny_llama.h"

#include <cmath>
#include <vector>

#include "harness/core/rng.h"
#include "methods/models/tokenizers/bpe/byte_alphabet.h"
#include "tests/support/gguf_writer.h"

namespace qfs::test {

namespace {

std::vector<float> random_values(Rng& rng, int64_t count, double scale, double offset = 0) {
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) {
    value = static_cast<float>(offset + scale * (2 * rng.uniform() - 1));
  }
  return values;
}

void write_metadata(const TinyLlama& model, GgufWriter& writer) {
  writer.text("general.architecture", "llama");
  writer.uint32("llama.block_count", static_cast<uint32_t>(model.layers));
  writer.uint32("llama.embedding_length", static_cast<uint32_t>(model.hidden));
  writer.uint32("llama.feed_forward_length", static_cast<uint32_t>(model.intermediate));
  writer.uint32("llama.attention.head_count", static_cast<uint32_t>(model.heads));
  writer.uint32("llama.attention.head_count_kv", static_cast<uint32_t>(model.kv_heads));
  writer.uint32("llama.context_length", static_cast<uint32_t>(model.context));
  writer.float32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  writer.float32("llama.rope.freq_base", 10000.0f);
  std::vector<std::string> pieces;
  std::vector<int32_t> types;
  for (int byte = 0; byte < 256; ++byte) {
    pieces.push_back(tokenizers::alphabet_character(static_cast<uint8_t>(byte)));
    types.push_back(1);
  }
  for (const char* special : {"<|im_start|>", "<|im_end|>"}) {
    pieces.emplace_back(special);
    types.push_back(3);
  }
  writer.text("tokenizer.ggml.model", "gpt2");
  writer.text("tokenizer.ggml.pre", "smollm");
  writer.texts("tokenizer.ggml.tokens", pieces);
  writer.int32s("tokenizer.ggml.token_type", types);
  writer.texts("tokenizer.ggml.merges", {});
  writer.uint32("tokenizer.ggml.eos_token_id", static_cast<uint32_t>(TinyLlama::kEnd));
  if (!model.chat_template.empty()) writer.text("tokenizer.chat_template", model.chat_template);
}

}  // namespace

std::string TinyLlama::bytes() const {
  GgufWriter writer;
  write_metadata(*this, writer);
  Rng rng(seed);
  const int64_t head_dim = hidden / heads;
  const auto matrix = [&](const std::string& name, int64_t rows, int64_t columns) {
    const double scale = 1.7 / std::sqrt(static_cast<double>(columns));
    writer.tensor(name, {rows, columns}, random_values(rng, rows * columns, scale));
  };
  const auto norm = [&](const std::string& name) {
    writer.tensor(name, {hidden}, random_values(rng, hidden, 0.3, 1.0));
  };
  writer.tensor("token_embd.weight", {kVocabulary, hidden},
                random_values(rng, kVocabulary * hidden, 1.0));
  for (int64_t layer = 0; layer < layers; ++layer) {
    const std::string prefix = "blk." + std::to_string(layer) + ".";
    norm(prefix + "attn_norm.weight");
    matrix(prefix + "attn_q.weight", hidden, hidden);
    matrix(prefix + "attn_k.weight", kv_heads * head_dim, hidden);
    matrix(prefix + "attn_v.weight", kv_heads * head_dim, hidden);
    matrix(prefix + "attn_output.weight", hidden, hidden);
    norm(prefix + "ffn_norm.weight");
    matrix(prefix + "ffn_gate.weight", intermediate, hidden);
    matrix(prefix + "ffn_up.weight", intermediate, hidden);
    matrix(prefix + "ffn_down.weight", hidden, intermediate);
  }
  norm("output_norm.weight");
  if (!tied) matrix("output.weight", kVocabulary, hidden);
  return writer.bytes();
}

std::vector<int32_t> some_tokens(int64_t count, int32_t seed) {
  std::vector<int32_t> tokens;
  for (int64_t i = 0; i < count; ++i) {
    tokens.push_back(static_cast<int32_t>((i * i * 31 + i * 7 + seed * 13) % 256));
  }
  return tokens;
}

}  // namespace qfs::test

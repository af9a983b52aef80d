// The 260,000-parameter LLaMA that was trained on TinyStories writes, greedily, the story that
// llama2.c's program writes. Skipped by name where the checkpoint is absent.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "methods/models/architectures/llama/cpu_llama.h"
#include "methods/models/architectures/llama/llama_weights.h"
#include "methods/models/checkpoints/model_directory.h"
#include "methods/models/decoding/generator.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "tests/support/safetensors_writer.h"
#include "tests/support/shared_data.h"
#include "tests/support/temporary_folder.h"

namespace qfs::decoding {
namespace {

constexpr int32_t kStoryEdge = 1;  // <s>, at which a story begins and ends
constexpr int64_t kSteps = 256;

/// The file's numbers in order.
class Numbers {
 public:
  explicit Numbers(const std::filesystem::path& path) : stream_(path, std::ios::binary) {}

  int32_t integer() {
    int32_t value = 0;
    stream_.read(reinterpret_cast<char*>(&value), sizeof(value));
    return value;
  }
  float real() { return std::bit_cast<float>(integer()); }
  std::vector<float> reals(int64_t count) {
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = real();
    return values;
  }
  std::string bytes(int32_t count) {
    std::string text(static_cast<size_t>(count), '\0');
    stream_.read(text.data(), count);
    return text;
  }
  bool good() const { return stream_.good(); }

 private:
  std::ifstream stream_;
};

/// Pieces of tok512.bin; what is written skips a space after the begin of the sequence.
class PieceTokenizer final : public tokenizers::VocabularyTokenizer {
 public:
  explicit PieceTokenizer(const std::filesystem::path& path) {
    Numbers file(path);
    file.integer();  // longest piece
    for (int i = 0; i < 512; ++i) {
      file.real();  // score
      pieces_.push_back(file.bytes(file.integer()));
    }
    EXPECT_TRUE(file.good());
  }
  std::vector<tokenizers::Token> encode(std::string_view) const override { return {}; }
  int64_t vocabulary_size() const override { return 512; }
  std::string decode(std::span<const int32_t> ids) const override {
    std::string text;
    for (const int32_t id : ids) {
      const std::string& piece = pieces_[static_cast<size_t>(id)];
      const bool byte = piece.size() == 6 && piece.starts_with("<0x");
      text += byte ? std::string(1, static_cast<char>(std::stoi(piece.substr(3, 2), nullptr, 16)))
                   : piece;
    }
    return text.starts_with(' ') ? text.substr(1) : text;
  }
  std::optional<int32_t> special_id(std::string_view) const override { return std::nullopt; }
  std::vector<std::string> special_texts() const override { return {}; }
  std::optional<int32_t> end_of_sequence_id() const override { return kStoryEdge; }

 private:
  std::vector<std::string> pieces_;
};

struct Shape {
  int64_t width = 0;
  int64_t inner = 0;
  int64_t layers = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t vocabulary = 0;
  int64_t context = 0;
};

/// llama2.c rotates neighbouring dimensions, Hugging Face checkpoints the two halves of a head.
std::vector<float> halved(const std::vector<float>& rows, int64_t heads, int64_t dim,
                          int64_t width) {
  std::vector<float> out(rows.size());
  for (int64_t head = 0; head < heads; ++head) {
    for (int64_t i = 0; i < dim; ++i) {
      const int64_t from = head * dim + (i < dim / 2 ? 2 * i : 2 * (i - dim / 2) + 1);
      std::copy_n(rows.begin() + from * width, width, out.begin() + (head * dim + i) * width);
    }
  }
  return out;
}

/// Version 0 of llama2.c's format as a Hugging Face folder.
std::string convert(const std::filesystem::path& path, const qfs::test::TemporaryFolder& folder) {
  Numbers file(path);
  Shape s;
  for (int64_t* value :
       {&s.width, &s.inner, &s.layers, &s.heads, &s.kv_heads, &s.vocabulary, &s.context}) {
    *value = file.integer();
  }
  const int64_t dim = s.width / s.heads;
  qfs::test::SafetensorsWriter writer;
  writer.tensor("model.embed_tokens.weight", {s.vocabulary, s.width},
                file.reals(s.vocabulary * s.width));
  const auto each_layer = [&](const std::string& name, std::vector<int64_t> shape, int64_t heads) {
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    for (int64_t i = 0; i < s.layers; ++i) {
      std::vector<float> values = file.reals(count);
      if (heads > 0) values = halved(values, heads, dim, s.width);
      writer.tensor("model.layers." + std::to_string(i) + "." + name + ".weight", shape, values);
    }
  };
  each_layer("input_layernorm", {s.width}, 0);
  each_layer("self_attn.q_proj", {s.width, s.width}, s.heads);
  each_layer("self_attn.k_proj", {s.kv_heads * dim, s.width}, s.kv_heads);
  each_layer("self_attn.v_proj", {s.kv_heads * dim, s.width}, 0);
  each_layer("self_attn.o_proj", {s.width, s.width}, 0);
  each_layer("post_attention_layernorm", {s.width}, 0);
  each_layer("mlp.gate_proj", {s.inner, s.width}, 0);
  each_layer("mlp.down_proj", {s.width, s.inner}, 0);
  each_layer("mlp.up_proj", {s.inner, s.width}, 0);
  writer.tensor("model.norm.weight", {s.width}, file.reals(s.width));
  EXPECT_TRUE(file.good());
  folder.write("model.safetensors", writer.bytes());
  folder.write("config.json", nlohmann::json{{"model_type", "llama"},
                                             {"hidden_size", s.width},
                                             {"intermediate_size", s.inner},
                                             {"num_hidden_layers", s.layers},
                                             {"num_attention_heads", s.heads},
                                             {"num_key_value_heads", s.kv_heads},
                                             {"vocab_size", s.vocabulary},
                                             {"max_position_embeddings", s.context},
                                             {"rms_norm_eps", 1e-5},
                                             {"tie_word_embeddings", true}}
                                  .dump());
  return folder.path();
}

TEST(Stories260K, writes_the_story_of_the_reference_program) {
  const auto data = qfs::test::shared_data("checkpoints/stories260K");
  QFS_SKIP_WITHOUT_DATA(data / "stories260K.bin");
  ASSERT_TRUE(nn::configure_torch({}).ok());
  const qfs::test::TemporaryFolder folder;
  const auto directory =
      checkpoints::ModelDirectory::open(convert(data / "stories260K.bin", folder));
  ASSERT_TRUE(directory.ok()) << directory.error().to_string();
  const auto weights = architectures::load_llama_weights(*directory);
  ASSERT_TRUE(weights.ok()) << weights.error().to_string();
  Generator generator(std::make_shared<PieceTokenizer>(data / "tok512.bin"),
                      architectures::make_cpu_model(*weights));
  const nn::SequenceInput input = {.ids = {kStoryEdge}};
  const auto result =
      generator.generate({&input, 1}, {.max_new_tokens = kSteps, .stop_ids = {kStoryEdge}});
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  std::ifstream stream(data / "expected_greedy_256.txt");
  std::string expected((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  while (expected.ends_with('\n')) expected.pop_back();
  EXPECT_EQ(result->rows.front().text, expected);
}

}  // namespace
}  // namespace qfs::decoding

#include "tests/support/tiny_seq2seq.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "harness/core/text/unicode.h"
#include "tests/support/tiny_checkpoint.h"

namespace qfs::test {
namespace {

using nlohmann::json;

constexpr int64_t kInner = 20;
constexpr int64_t kDecoderPositions = 48;

class Tensors {
 public:
  Tensors(std::string prefix, int64_t width) : prefix_(std::move(prefix)), width_(width) {}

  void add(const std::string& name, std::vector<int64_t> shape, double scale, double offset = 0) {
    list_.push_back({{"name", prefix_ + name},
                     {"shape", std::move(shape)},
                     {"scale", scale},
                     {"offset", offset}});
  }
  void linear(const std::string& name, int64_t outputs, int64_t inputs) {
    add(name + ".weight", {outputs, inputs}, 1.0);
    add(name + ".bias", {outputs}, 0.5);
  }
  void norm(const std::string& name) {
    add(name + ".weight", {width_}, 0.5, 1);
    add(name + ".bias", {width_}, 0.5);
  }
  void attention(const std::string& name) {
    for (const char* part : {".q_proj", ".k_proj", ".v_proj", ".out_proj"}) {
      linear(name + part, width_, width_);
    }
    norm(name + "_layer_norm");
  }
  void feed_forward(const std::string& layer) {
    linear(layer + ".fc1", kInner, width_);
    linear(layer + ".fc2", width_, kInner);
    norm(layer + ".final_layer_norm");
  }
  json take() { return std::move(list_); }

 private:
  std::string prefix_;
  int64_t width_;
  json list_ = json::array();
};

json tensors_of(const TinySeq2Seq& tiny) {
  Tensors tensors(tiny.led ? "led." : "model.", tiny.width);
  const int64_t skipped = tiny.led ? 0 : 2;
  tensors.add("shared.weight", {TinySeq2Seq::kVocabulary, tiny.width}, 1.0);
  tensors.add("encoder.embed_positions.weight", {tiny.positions + skipped, tiny.width}, 0.5);
  // The one table that BART's configuration names serves both sides.
  tensors.add("decoder.embed_positions.weight",
              {(tiny.led ? kDecoderPositions : tiny.positions) + skipped, tiny.width}, 1.0);
  tensors.norm("encoder.layernorm_embedding");
  tensors.norm("decoder.layernorm_embedding");
  if (tiny.led) {
    const std::string block = "encoder.layers.0.self_attn";
    for (const char* part :
         {"query", "key", "value", "query_global", "key_global", "value_global"}) {
      tensors.linear(block + ".longformer_self_attn." + part, tiny.width, tiny.width);
    }
    tensors.linear(block + ".output", tiny.width, tiny.width);
    tensors.norm(block + "_layer_norm");
  } else {
    tensors.attention("encoder.layers.0.self_attn");
  }
  tensors.feed_forward("encoder.layers.0");
  tensors.attention("decoder.layers.0.self_attn");
  tensors.attention("decoder.layers.0.encoder_attn");
  tensors.feed_forward("decoder.layers.0");
  return tensors.take();
}

json config_of(const TinySeq2Seq& tiny) {
  json config = {{"d_model", tiny.width},
                 {"encoder_layers", 1},
                 {"decoder_layers", 1},
                 {"encoder_attention_heads", tiny.heads},
                 {"decoder_attention_heads", tiny.heads},
                 {"encoder_ffn_dim", kInner},
                 {"decoder_ffn_dim", kInner},
                 {"vocab_size", TinySeq2Seq::kVocabulary},
                 {"eos_token_id", 2},
                 {"decoder_start_token_id", 2}};
  config["model_type"] = tiny.led ? "led" : "bart";
  if (tiny.led) {
    config["attention_window"] = 4;
    config["max_encoder_position_embeddings"] = tiny.positions;
    config["max_decoder_position_embeddings"] = kDecoderPositions;
  } else {
    config["max_position_embeddings"] = tiny.positions;
  }
  return config;
}

/// The character that stands for a byte in byte-level vocabularies.
std::string byte_character(int byte) {
  static const std::vector<char32_t> kCharacters = [] {
    std::vector<char32_t> characters(256);
    char32_t next = 256;
    for (char32_t value = 0; value < 256; ++value) {
      const bool shown = (value >= 33 && value <= 126) || (value >= 161 && value != 173);
      characters[value] = shown ? value : next++;
    }
    return characters;
  }();
  std::string text;
  append_utf8(kCharacters[static_cast<size_t>(byte)], text);
  return text;
}

json tokenizer() {
  json vocabulary = {{"<s>", 0}, {"<pad>", 1}, {"</s>", 2}};
  for (int byte = 0; byte < 256; ++byte) vocabulary[byte_character(byte)] = 3 + byte;
  json added = json::array();
  for (const char* text : {"<s>", "<pad>", "</s>"}) {
    added.push_back({{"id", added.size()},
                     {"content", text},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  }
  return {{"version", "1.0"},
          {"added_tokens", added},
          {"normalizer", nullptr},
          {"pre_tokenizer",
           {{"type", "ByteLevel"},
            {"add_prefix_space", false},
            {"trim_offsets", true},
            {"use_regex", true}}},
          {"post_processor",
           {{"type", "RobertaProcessing"},
            {"sep", {"</s>", 2}},
            {"cls", {"<s>", 0}},
            {"trim_offsets", true},
            {"add_prefix_space", false}}},
          {"decoder",
           {{"type", "ByteLevel"},
            {"add_prefix_space", true},
            {"trim_offsets", true},
            {"use_regex", true}}},
          {"model",
           {{"type", "BPE"},
            {"vocab", vocabulary},
            {"merges", json::array()},
            {"dropout", nullptr},
            {"unk_token", nullptr},
            {"continuing_subword_prefix", ""},
            {"end_of_word_suffix", ""},
            {"fuse_unk", false},
            {"byte_fallback", false}}}};
}

}  // namespace

std::string TinySeq2Seq::write(const TemporaryFolder& folder) const {
  folder.write("tokenizer.json", tokenizer().dump());
  folder.write("generation_config.json", generation_config);
  return write_tiny_checkpoint(folder,
                               {{"config", config_of(*this)}, {"tensors", tensors_of(*this)}});
}

}  // namespace qfs::test

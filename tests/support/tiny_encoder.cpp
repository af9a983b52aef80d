#include "tests/support/tiny_encoder.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "methods/models/registry/registry.h"
#include "tests/support/safetensors_writer.h"
#include "tests/support/tiny_checkpoint.h"

namespace qfs::test {

namespace {

using nlohmann::json;

constexpr int64_t kInner = 24;
constexpr int64_t kHeads = 2;

json vocabulary(bool roberta) {
  json ids = json::object();
  const auto add = [&](const std::string& token) {
    const size_t id = ids.size();
    ids[token] = id;
  };
  if (roberta) {
    for (const char* special : {"<s>", "<pad>", "</s>", "<unk>"}) add(special);
  } else {
    for (const char* special : {"[PAD]", "[CLS]", "[SEP]", "[UNK]"}) add(special);
  }
  for (char c = '!'; c <= '~'; ++c) {
    if (c >= 'A' && c <= 'Z') continue;
    add(std::string(1, c));
    add("##" + std::string(1, c));
  }
  return ids;
}

json tokenizer(const json& ids, bool roberta) {
  const char* before = roberta ? "<s>" : "[CLS]";
  const char* after = roberta ? "</s>" : "[SEP]";
  const auto special = [&](const char* token) {
    return json{{"SpecialToken", {{"id", token}, {"type_id", 0}}}};
  };
  const auto entry = [&](const char* token) {
    return json{{"id", token}, {"ids", {ids[token]}}, {"tokens", {token}}};
  };
  const json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  const json other = {{"Sequence", {{"id", "B"}, {"type_id", 0}}}};
  return {{"model",
           {{"type", "WordPiece"},
            {"unk_token", roberta ? "<unk>" : "[UNK]"},
            {"continuing_subword_prefix", "##"},
            {"max_input_chars_per_word", 100},
            {"vocab", ids}}},
          {"normalizer",
           {{"type", "BertNormalizer"},
            {"clean_text", true},
            {"handle_chinese_chars", true},
            {"strip_accents", nullptr},
            {"lowercase", true}}},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
          {"post_processor",
           {{"type", "TemplateProcessing"},
            {"single", {special(before), text, special(after)}},
            {"pair", {special(before), text, special(after), other, special(after)}},
            {"special_tokens", {{before, entry(before)}, {after, entry(after)}}}}}};
}

}  // namespace

Resource TinyEncoder::write(const TemporaryFolder& folder) const {
  const json ids = vocabulary(roberta);
  const auto size = static_cast<int64_t>(ids.size());
  const int64_t rows = positions + (roberta ? 2 : 0);
  json config = {{"model_type", roberta ? "roberta" : "bert"},
                 {"vocab_size", size},
                 {"hidden_size", hidden},
                 {"intermediate_size", kInner},
                 {"num_hidden_layers", layers},
                 {"num_attention_heads", kHeads},
                 {"max_position_embeddings", rows},
                 {"type_vocab_size", roberta ? 1 : 2},
                 {"hidden_act", "gelu"},
                 {"layer_norm_eps", 1e-12},
                 {"pad_token_id", roberta ? 1 : 0}};
  json tensors = json::array();
  const auto add = [&](const std::string& tensor, const std::vector<int64_t>& shape) {
    const bool scale_of_norm = tensor.ends_with("LayerNorm.weight");
    tensors.push_back({{"name", tensor},
                       {"shape", shape},
                       {"scale", scale},
                       {"offset", scale_of_norm ? 1.0 : 0.0}});
  };
  const auto linear = [&](const std::string& layer, int64_t outputs, int64_t inputs) {
    add(layer + ".weight", {outputs, inputs});
    add(layer + ".bias", {outputs});
  };
  const auto norm = [&](const std::string& layer) {
    add(layer + ".weight", {hidden});
    add(layer + ".bias", {hidden});
  };
  const std::string front = roberta ? "roberta." : "";
  add(front + "embeddings.word_embeddings.weight", {size, hidden});
  add(front + "embeddings.position_embeddings.weight", {rows, hidden});
  add(front + "embeddings.token_type_embeddings.weight", {roberta ? 1 : 2, hidden});
  norm(front + "embeddings.LayerNorm");
  for (int64_t i = 0; i < layers; ++i) {
    const std::string at = front + "encoder.layer." + std::to_string(i) + ".";
    for (const char* part : {"query", "key", "value"}) {
      linear(at + "attention.self." + part, hidden, hidden);
    }
    linear(at + "attention.output.dense", hidden, hidden);
    norm(at + "attention.output.LayerNorm");
    linear(at + "intermediate.dense", kInner, hidden);
    linear(at + "output.dense", hidden, kInner);
    norm(at + "output.LayerNorm");
  }
  json test_case = {{"config", config}, {"dtype", "F32"}, {"shards", 1}, {"tensors", tensors}};
  if (!dpr.empty()) {
    test_case["config"]["model_type"] = "dpr";
    test_case["stored_under"] = dpr + ".bert_model.";
  }
  const std::string path = write_tiny_checkpoint(folder, test_case);
  folder.write("tokenizer.json", tokenizer(ids, roberta).dump());
  const auto found = registry::resolve_backbone(path);
  EXPECT_TRUE(found.ok()) << found.error().to_string();
  return found.ok() ? *found : Resource();
}

}  // namespace qfs::test

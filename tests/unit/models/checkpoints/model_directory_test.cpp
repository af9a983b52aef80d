// A published model folder opens as it is: configurations of transformers 4 and 5, single and
// sharded weights, other naming schemes; pickles are refused with the way out.
#include "methods/models/checkpoints/model_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "methods/models/checkpoints/gguf_checkpoint.h"
#include "methods/models/checkpoints/model_config.h"
#include "methods/models/checkpoints/renamed_checkpoint.h"
#include "methods/models/checkpoints/safetensors.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/safetensors_writer.h"
#include "tests/support/temporary_folder.h"

namespace qfs::checkpoints {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ModelDirectoryTest : public ::testing::Test {
 protected:
  std::string weights(const std::vector<std::string>& names, int64_t rows = 4) {
    qfs::test::SafetensorsWriter writer;
    float value = 0;
    for (const std::string& name : names) {
      std::vector<float> values;
      for (int64_t i = 0; i < rows * 2; ++i) values.push_back(value++);
      writer.tensor(name, {rows, 2}, values);
    }
    return writer.bytes();
  }
  qfs::test::TemporaryFolder folder_;
};

TEST_F(ModelDirectoryTest, both_styles_of_configuration_say_the_same) {
  const auto old_style = ConfigObject::parse(
      R"({"model_type":"llama","torch_dtype":"bfloat16","rope_theta":500000.0,"eos_token_id":2,
          "rope_scaling":{"type":"llama3","factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,
                          "original_max_position_embeddings":8192},"head_dim":null})",
      "old");
  const auto new_style = ConfigObject::parse(
      R"({"model_type":"llama","dtype":"bfloat16","eos_token_id":[2,3],
          "rope_parameters":{"rope_type":"llama3","rope_theta":500000.0,"factor":8.0,"low_freq_factor":1.0,
                             "high_freq_factor":4.0,"original_max_position_embeddings":8192}})",
      "new");
  for (const auto& config : {old_style, new_style}) {
    ASSERT_TRUE(config.ok()) << config.error().to_string();
    const auto rope = read_rope_config(*config);
    ASSERT_TRUE(rope.ok()) << rope.error().to_string();
    EXPECT_EQ(rope->type, "llama3");
    EXPECT_EQ(rope->theta, 500000);
    EXPECT_EQ(rope->factor, 8);
    EXPECT_EQ(rope->original_context, 8192);
    EXPECT_EQ(rope->high_freq_factor, 4);
    const auto identity = read_model_identity(*config);
    ASSERT_TRUE(identity.ok());
    EXPECT_EQ(identity->model_type, "llama");
    EXPECT_EQ(identity->dtype, "bfloat16");
    EXPECT_FALSE(identity->tie_word_embeddings);
    EXPECT_FALSE(config->has("head_dim"));
  }
  EXPECT_THAT(*old_style->integers("eos_token_id"), ElementsAre(2));
  EXPECT_THAT(*new_style->integers("eos_token_id"), ElementsAre(2, 3));
}

Result<RopeConfig> rope_of(const std::string& members) {
  return read_rope_config(*ConfigObject::parse("{" + members + "}", "config.json"));
}

TEST_F(ModelDirectoryTest, rope_scaling_stands_for_all_of_rope_parameters) {
  const auto rope = rope_of(
      R"("rope_scaling":{"type":"linear","factor":4.0},
         "rope_parameters":{"rope_type":"default","rope_theta":500000.0})");
  ASSERT_TRUE(rope.ok());
  EXPECT_EQ(rope->type, "linear");
  EXPECT_EQ(rope->factor, 4);
  EXPECT_EQ(rope->theta, 10000);
  EXPECT_EQ(rope_of(R"("rope_scaling":{},"rope_parameters":{"rope_theta":7.0})")->theta, 7);
}

TEST_F(ModelDirectoryTest, rope_scaling_needs_its_keys) {
  for (const char* type : {"linear", "dynamic", "yarn", "llama3"}) {
    const auto rope = rope_of(R"("rope_parameters":{"rope_type":")" + std::string(type) + "\"}");
    ASSERT_FALSE(rope.ok()) << type;
    EXPECT_EQ(rope.error().where, "config.json#/rope_parameters/factor");
  }
  EXPECT_THAT(rope_of(R"("rope_scaling":{"type":"llama3","factor":8})").error().message,
              HasSubstr("RoPE scaling 'llama3' needs 'low_freq_factor'"));
  EXPECT_TRUE(rope_of(R"("rope_scaling":{"type":"yarn","factor":null})")->factor_of_lengths);
  EXPECT_FALSE(rope_of(R"("rope_scaling":{"type":"yarn","factor":2})")->factor_of_lengths);
  EXPECT_FALSE(rope_of(R"("rope_scaling":{"type":"linear","factor":null})").ok());
}

TEST_F(ModelDirectoryTest, the_length_before_scaling_may_stand_beside_the_other_lengths) {
  const std::string yarn =
      R"("rope_scaling":{"type":"yarn","factor":2,"original_max_position_embeddings":64})";
  EXPECT_EQ(rope_of(yarn)->original_context, 64);
  EXPECT_EQ(rope_of(yarn + R"(,"original_max_position_embeddings":32)")->original_context, 32);
  EXPECT_EQ(rope_of(R"("rope_scaling":{"type":"linear","factor":2},
                       "original_max_position_embeddings":32)")
                ->original_context,
            std::nullopt);
}

TEST_F(ModelDirectoryTest, a_value_of_another_kind_is_an_error_at_its_place) {
  const auto config = ConfigObject::parse(
      R"({"layers":"12","heads":-1,"rope_scaling":{"factor":"8"},"big":18446744073709551615})",
      "config.json");
  ASSERT_TRUE(config.ok());
  const Error layers = config->integer("layers", 1, 100).error();
  EXPECT_EQ(layers.where, "config.json#/layers");
  EXPECT_THAT(layers.message, HasSubstr("\"12\" is not an integer from 1 to 100"));
  EXPECT_THAT(config->integer("heads", 1, 9).error().message, HasSubstr("-1"));
  EXPECT_FALSE(config->integer("big", 0, INT64_MAX).ok());
  EXPECT_EQ(read_rope_config(*config).error().where, "config.json#/rope_scaling/factor");
  EXPECT_THAT(config->integer("layer", 1, 9).error().message,
              AllOf(HasSubstr("'layer' is missing"), HasSubstr("layers")));
  EXPECT_EQ(ConfigObject::parse("[1]", "c").error().kind, ErrorKind::data);
  EXPECT_EQ(ConfigObject::parse("{\"a\":1,\"a\":2}", "c").error().kind, ErrorKind::data);
}

TEST_F(ModelDirectoryTest, opens_weights_and_digests_what_decides_the_output) {
  folder_.write("config.json", R"({"model_type":"bart"})");
  folder_.write("generation_config.json", R"({"forced_bos_token_id":0})");
  folder_.write("model.safetensors", weights({"shared"}));
  folder_.write("README.md", "one");
  const auto directory = ModelDirectory::open(folder_.path());
  ASSERT_TRUE(directory.ok()) << directory.error().to_string();
  EXPECT_EQ(*directory->generation_config().integer("forced_bos_token_id", 0, 9), 0);
  const auto checkpoint = directory->open_weights();
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().to_string();
  EXPECT_NE((*checkpoint)->find("shared"), nullptr);
  const std::string digest = *directory->digest();
  folder_.write("README.md", "two");
  EXPECT_EQ(*ModelDirectory::open(folder_.path())->digest(), digest);
  EXPECT_EQ(directory->tokenizer_digest().error().kind, ErrorKind::not_found);
  folder_.write("vocab.txt", "[UNK]\n");
  EXPECT_NE(*ModelDirectory::open(folder_.path())->digest(), digest);
}

TEST_F(ModelDirectoryTest, pickled_weights_are_refused_with_the_command_that_converts_them) {
  folder_.write("config.json", "{}");
  EXPECT_EQ(ModelDirectory::open(folder_.path())->open_weights().error().kind,
            ErrorKind::not_found);
  folder_.write("pytorch_model.bin", "\x80\x02");
  const Error error = ModelDirectory::open(folder_.path())->open_weights().error();
  EXPECT_EQ(error.kind, ErrorKind::unavailable);
  EXPECT_THAT(error.message, AllOf(HasSubstr("'pytorch_model.bin'"), HasSubstr("save_pretrained")));
  EXPECT_EQ(ModelDirectory::open(folder_ / "nowhere").error().kind, ErrorKind::not_found);
}

TEST_F(ModelDirectoryTest, a_native_led_file_reads_as_the_hugging_face_names_it) {
  const std::string path =
      folder_.write("led.safetensors",
                    weights({"model.shared.weight", "model.encoder.embed_positions.weight",
                             "model.encoder.layers.0.self_attn.longformer_self_attn.query.weight",
                             "lm_head.weight", "final_logits_bias"}));
  const auto base = open_safetensors(path);
  ASSERT_TRUE(base.ok());
  ASSERT_TRUE(is_native_led(**base));
  const auto led = rename_native_led(*base);
  ASSERT_TRUE(led.ok()) << led.error().to_string();
  EXPECT_FALSE(is_native_led(**led));
  EXPECT_EQ((*led)->find("lm_head.weight"), nullptr);
  EXPECT_NE((*led)->find("final_logits_bias"), nullptr);
  EXPECT_NE((*led)->find("led.encoder.layers.0.self_attn.longformer_self_attn.query.weight"),
            nullptr);
  const TensorEntry* positions = (*led)->find("led.encoder.embed_positions.weight");
  ASSERT_NE(positions, nullptr);
  EXPECT_THAT(positions->shape, ElementsAre(2, 2));
  std::vector<float> renamed(4);
  ASSERT_TRUE((*led)->read(*positions, renamed).ok());
  std::vector<float> original(8);
  ASSERT_TRUE((*base)->read(*(*base)->find("model.encoder.embed_positions.weight"), original).ok());
  EXPECT_THAT(renamed, ElementsAre(original[4], original[5], original[6], original[7]));
  EXPECT_EQ((*led)->mapped_bytes(*positions).size(), 16u);
}

TEST_F(ModelDirectoryTest, a_prefix_is_replaced_where_names_have_it) {
  const auto base = open_safetensors(folder_.write("b.safetensors", weights({"bert.a", "cls.b"})));
  ASSERT_TRUE(base.ok());
  const auto plain = replace_prefix(*base, "bert.", "");
  ASSERT_TRUE(plain.ok());
  EXPECT_NE((*plain)->find("a"), nullptr);
  EXPECT_NE((*plain)->find("cls.b"), nullptr);
  EXPECT_EQ(*replace_prefix(*base, "roberta.", ""), *base);
  EXPECT_THAT(replace_prefix(*base, "bert.a", "cls.b").error().message,
              HasSubstr("two tensors become 'cls.b'"));
}

TEST_F(ModelDirectoryTest, norms_with_tensorflow_names_are_read) {
  const auto base = open_safetensors(
      folder_.write("b.safetensors", weights({"a.LayerNorm.gamma", "a.LayerNorm.beta", "c.beta"})));
  ASSERT_TRUE(base.ok());
  const auto renamed = rename_tensorflow_norms(*base);
  ASSERT_TRUE(renamed.ok());
  EXPECT_NE((*renamed)->find("a.LayerNorm.weight"), nullptr);
  EXPECT_NE((*renamed)->find("a.LayerNorm.bias"), nullptr);
  EXPECT_NE((*renamed)->find("c.beta"), nullptr);
  EXPECT_EQ((*renamed)->find("a.LayerNorm.gamma"), nullptr);
  const auto plain = open_safetensors(folder_.write("p.safetensors", weights({"a.weight"})));
  EXPECT_EQ(*rename_tensorflow_norms(*plain), *plain);
}

TEST_F(ModelDirectoryTest, the_chat_template_is_a_file_or_a_text_or_one_of_several) {
  folder_.write("config.json", R"({"model_type": "llama"})");
  const auto chat_template = [&] { return ModelDirectory::open(folder_.path())->chat_template(); };
  EXPECT_EQ(*chat_template(), "");
  folder_.write("tokenizer_config.json", R"({"chat_template": "one"})");
  EXPECT_EQ(*chat_template(), "one");
  folder_.write("tokenizer_config.json", R"({"chat_template": [
      {"name": "rag", "template": "a"}, {"name": "default", "template": "b"}]})");
  EXPECT_EQ(*chat_template(), "b");
  folder_.write("tokenizer_config.json", R"({"chat_template": 3})");
  EXPECT_EQ(chat_template().error().kind, ErrorKind::data);
  folder_.write("chat_template.jinja", "the file's");
  EXPECT_EQ(*chat_template(), "the file's");
}

TEST_F(ModelDirectoryTest, a_gguf_file_is_a_checkpoint_too) {
  qfs::test::GgufWriter writer;
  writer.tensor("b", {2, 2}, {1, 2, 3, 4});
  writer.packed_tensor("a", {256}, 14, std::string(210, '\0'));
  const auto file = GgufFile::open(folder_.write("m.gguf", writer.bytes()));
  ASSERT_TRUE(file.ok()) << file.error().to_string();
  const auto checkpoint = open_gguf_checkpoint(*file);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().to_string();
  std::vector<float> values(4);
  ASSERT_TRUE((*checkpoint)->read(*(*checkpoint)->find("b"), values).ok());
  EXPECT_THAT(values, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ((*checkpoint)->mapped_bytes(*(*checkpoint)->find("a")).size(), 210u);
}

}  // namespace
}  // namespace qfs::checkpoints

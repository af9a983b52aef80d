// A backbone's name leads to one file with a declared digest, or to an error that says how to get
// it.
#include "methods/models/registry/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/core/sha256.h"
#include "methods/models/tokenizers/builtin_tokenizers.h"
#include "methods/models/tokenizers/tokenizer.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/temporary_folder.h"

namespace qfs::registry {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class RegistryTest : public ::testing::Test {
 protected:
  RegistryTest() {
    ::setenv("QFS_MODELS_DIR", folder_.path().c_str(), 1);
    ::setenv("QFS_CACHE_DIR", folder_.path().c_str(), 1);
    ::setenv("HF_HUB_CACHE", (folder_.path() + "/hub").c_str(), 1);
  }
  ~RegistryTest() override {
    for (const char* name : {"QFS_MODELS_DIR", "QFS_CACHE_DIR", "HF_HUB_CACHE"}) ::unsetenv(name);
  }
  qfs::test::TemporaryFolder folder_;
};

TEST_F(RegistryTest, every_entry_is_complete) {
  EXPECT_THAT(backbone_names(), Contains("smollm2-135m"));
  for (const RegisteredBackbone& backbone : registered_backbones()) {
    std::vector<std::string> digests = {backbone.sha256, backbone.tokenizer_digest};
    if (!backbone.encoder) digests.push_back(backbone.template_digest);
    for (const std::string& digest : digests) {
      EXPECT_THAT(digest, MatchesRegex("[0-9a-f]+")) << backbone.name;
      EXPECT_EQ(digest.size(), 64u) << backbone.name;
    }
    EXPECT_GT(backbone.bytes, 0);
    EXPECT_EQ(backbone.file.find('/'), std::string::npos) << "a plain file name";
  }
}

TEST_F(RegistryTest, a_missing_checkpoint_names_the_path_and_the_command) {
  const Result<Resource> resource = resolve_backbone("smollm2-135m");
  ASSERT_FALSE(resource.ok());
  EXPECT_EQ(resource.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(resource.error().message,
              AllOf(HasSubstr("./bootstrap.sh model"),
                    HasSubstr(folder_.path() + "/smollm2-135m/SmolLM2-135M-Instruct.Q4_1.gguf")));
}

TEST_F(RegistryTest, an_encoder_is_a_folder_and_no_backbone_of_methods) {
  EXPECT_THAT(backbone_names(), testing::Not(Contains("minilm")));
  const Result<Resource> resource = resolve_backbone("minilm");
  ASSERT_FALSE(resource.ok());
  EXPECT_EQ(resource.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(resource.error().message,
              AllOf(HasSubstr("./bootstrap.sh minilm"), HasSubstr("/minilm/model.safetensors")));
}

TEST_F(RegistryTest, a_checkpoint_of_the_wrong_size_is_a_data_error) {
  folder_.write("smollm2-135m/SmolLM2-135M-Instruct.Q4_1.gguf", "GGUF");
  EXPECT_EQ(resolve_backbone("smollm2-135m").error().kind, ErrorKind::data);
}

TEST_F(RegistryTest, a_folder_is_a_hugging_face_model_or_holds_one_gguf_file) {
  folder_.write("hf/config.json", R"({"model_type": "llama"})");
  folder_.write("hf/model.safetensors", "x");
  folder_.write("hf/tokenizer.json", "{}");
  folder_.write("hf/other.gguf", "GGUF");
  const std::string path = folder_.path() + "/hf";
  const Result<Resource> model = resolve_backbone(path);
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  EXPECT_EQ(model->path, path);
  EXPECT_TRUE(verify_backbone(*model).ok());
  const Result<Resource> tokenizer = resolve_tokenizer(path);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().to_string();
  EXPECT_EQ(tokenizer->path, path);
  EXPECT_NE(tokenizer->digest, model->digest);
  folder_.write("hf/model.safetensors", "xy");
  EXPECT_EQ(verify_backbone(*model).error().kind, ErrorKind::data);
  EXPECT_EQ(resolve_tokenizer(path)->digest, tokenizer->digest);

  folder_.write("one/m.gguf", "GGUF");
  EXPECT_EQ(resolve_backbone(folder_.path() + "/one")->path, folder_.path() + "/one/m.gguf");
  folder_.write("one/n.gguf", "GGUF");
  EXPECT_THAT(resolve_backbone(folder_.path() + "/one").error().message,
              HasSubstr("no config.json and 2 GGUF files"));
}

TEST_F(RegistryTest, a_checkpoint_names_its_architecture) {
  const auto architecture = [](const std::string& path) -> Result<std::string> {
    const Result<Resource> backbone = resolve_backbone(path);
    if (!backbone.ok()) return backbone.error();
    const Result<BackboneFacts> facts = backbone_facts(*backbone);
    if (!facts.ok()) return facts.error();
    return facts->architecture;
  };
  const auto folder = [&](const std::string& model_type) {
    folder_.write("hf/config.json", R"({"model_type": ")" + model_type + "\"}");
    folder_.write("hf/model.safetensors", "x");
    return folder_.path() + "/hf";
  };
  EXPECT_EQ(*architecture(folder("pegasus")), "bart");
  EXPECT_EQ(*architecture(folder("gpt2")), "gpt2");
  EXPECT_EQ(*architecture(folder("qwen2")), "llama");
  const Result<std::string> other = architecture(folder("mamba"));
  EXPECT_EQ(other.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(other.error().message, AllOf(HasSubstr("'mamba'"), HasSubstr("mistral")));

  test::GgufWriter gguf;
  gguf.text("general.architecture", "llama");
  EXPECT_EQ(*architecture(folder_.write("m.gguf", gguf.bytes())), "llama");
  EXPECT_EQ(architecture(folder_.write("n.gguf", "GGUF")).error().kind, ErrorKind::data);
  EXPECT_EQ(*backbone_facts({"smollm2-135m", "absent.gguf", ""}), (BackboneFacts{"llama", 8192}))
      << "the registry declares it";
}

TEST_F(RegistryTest, a_checkpoint_says_how_much_it_was_trained_to_read) {
  const auto context = [](const std::string& path) -> Result<int64_t> {
    const Result<Resource> backbone = resolve_backbone(path);
    if (!backbone.ok()) return backbone.error();
    const Result<BackboneFacts> facts = backbone_facts(*backbone);
    if (!facts.ok()) return facts.error();
    return facts->context;
  };
  const auto folder = [&](const std::string& config) {
    folder_.write("hf/config.json", config);
    folder_.write("hf/model.safetensors", "x");
    return folder_.path() + "/hf";
  };
  EXPECT_EQ(*context(folder(R"({"model_type": "llama", "max_position_embeddings": 4096})")), 4096);
  EXPECT_EQ(*context(folder(R"({"model_type": "gpt2", "n_positions": 1024})")), 1024);
  EXPECT_EQ(*context(folder(R"({"model_type": "led", "max_decoder_position_embeddings": 1024,
                                "max_encoder_position_embeddings": 16384})")),
            16384);
  EXPECT_EQ(*context(folder(R"({"model_type": "llama"})")), 0);
  EXPECT_EQ(
      context(folder(R"({"model_type": "llama", "max_position_embeddings": "many"})")).error().kind,
      ErrorKind::data);
  test::GgufWriter gguf;
  gguf.text("general.architecture", "llama");
  EXPECT_EQ(*context(folder_.write("silent.gguf", gguf.bytes())), 0);
  gguf.uint32("llama.context_length", 2048);
  EXPECT_EQ(*context(folder_.write("m.gguf", gguf.bytes())), 2048);
}

TEST_F(RegistryTest, a_checkpoint_says_how_much_its_decoder_writes) {
  const auto room = [&](const std::string& config) {
    folder_.write("hf/config.json", config);
    folder_.write("hf/model.safetensors", "x");
    const Result<Resource> backbone = resolve_backbone(folder_.path() + "/hf");
    return backbone_facts(*backbone)->decoder_context;
  };
  EXPECT_EQ(room(R"({"model_type": "led", "max_decoder_position_embeddings": 1024,
                     "max_encoder_position_embeddings": 16384})"),
            1024);
  EXPECT_EQ(room(R"({"model_type": "bart", "max_position_embeddings": 512})"), 512);
  EXPECT_EQ(room(R"({"model_type": "llama", "max_position_embeddings": 4096})"), 0);
}

TEST_F(RegistryTest, a_mistyped_name_gets_a_suggestion) {
  const Result<Resource> resource = resolve_backbone("smollm2-135");
  EXPECT_EQ(resource.error().kind, ErrorKind::not_found);
  EXPECT_THAT(resource.error().message, HasSubstr("smollm2-135m"));
  EXPECT_THAT(resolve_tokenizer("word").error().message, HasSubstr("words"));
}

TEST_F(RegistryTest, files_and_folders_are_local_resources_named_by_their_digest) {
  const std::string path = folder_.write("mine/model.gguf", "GGUF…");
  const std::string digest = *sha256_file(path);
  const Resource expected{"local:" + digest, path, digest};
  EXPECT_EQ(*resolve_backbone(path), expected);
  EXPECT_EQ(*resolve_backbone("local:" + path), expected);
  EXPECT_EQ(*resolve_backbone(folder_.path() + "/mine"), expected);
  EXPECT_EQ(*resolve_tokenizer(path), expected);
  folder_.write("mine/second.gguf", "GGUF");
  EXPECT_EQ(resolve_backbone(folder_.path() + "/mine").error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(resolve_backbone("./absent.gguf").error().kind, ErrorKind::not_found);
}

TEST_F(RegistryTest, the_hugging_face_cache_is_searched_by_revision) {
  const std::string repository = "hub/models--org--tiny/";
  const std::string path = folder_.write(repository + "snapshots/c0ffee/model.gguf", "GGUF");
  folder_.write(repository + "refs/main", "c0ffee");
  EXPECT_EQ(resolve_backbone("hf:org/tiny@main")->path, path);
  EXPECT_EQ(resolve_backbone("hf:org/tiny")->path, path);
  EXPECT_EQ(resolve_backbone("hf:org/tiny@c0ffee")->path, path);
  const Result<Resource> missing = resolve_backbone("hf:org/tiny@v2");
  EXPECT_EQ(missing.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(missing.error().message, HasSubstr("hf download org/tiny --revision v2"));
  for (const char* bad : {"hf:tiny@main", "hf:../x@main", "hf:org/tiny@..", "hf:org/a/b@main"}) {
    EXPECT_EQ(resolve_backbone(bad).error().kind, ErrorKind::invalid_argument) << bad;
  }
}

TEST_F(RegistryTest, built_in_tokenizers_need_no_file) {
  EXPECT_EQ(*resolve_tokenizer("words"), *tokenizers::builtin_tokenizer("words"));
  EXPECT_EQ(resolve_backbone("words").error().kind, ErrorKind::not_found);
}

TEST_F(RegistryTest, verification_compares_the_file_with_the_declared_digest) {
  const std::string path = folder_.write("model.gguf", "GGUF");
  EXPECT_TRUE(verify_backbone({"m", path, *sha256_file(path)}).ok());
  const Status wrong = verify_backbone({"m", path, std::string(64, 'a')});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().kind, ErrorKind::data);
}

}  // namespace
}  // namespace qfs::registry

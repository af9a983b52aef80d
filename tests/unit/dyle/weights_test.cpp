// Trainings of dyle of all weights, the files that they leave and those that they begin with.
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "methods/models/checkpoints/safetensors.h"
#include "methods/models/peft/tensor_files.h"
#include "methods/models/registry/registry.h"
#include "tests/support/dyle_session.h"
#include "tests/support/tiny_seq2seq.h"

namespace qfs::dyle {
namespace {

using ::qfs::test::Curve;
using ::testing::HasSubstr;
using Tensors = std::map<std::string, at::Tensor>;

class DyleWeightsTest : public qfs::test::DyleSessionTest {
 protected:
  Tensors tensors_of(const std::string& name) {
    Tensors tensors;
    const auto file = checkpoints::open_safetensors(trained_path(name));
    EXPECT_TRUE(file.ok()) << file.error().to_string();
    for (const checkpoints::TensorEntry& entry : (*file)->tensors()) {
      tensors[entry.name] = *peft::read_tensor(**file, entry);
    }
    return tensors;
  }
  /// Writes or begins with such a file, which says nothing of itself.
  void use_file(const Tensors& tensors) {
    const std::string bytes = peft::tensor_file_bytes(tensors, {}, at::kFloat);
    EXPECT_TRUE(write_file(folder_ / "converted.safetensors", bytes).ok());
    request_.artifacts["adapter"] = {"", folder_ / "converted.safetensors", ""};
  }
};

std::vector<std::string> names_in(const std::string& path) {
  const auto file = checkpoints::open_safetensors(path);
  EXPECT_TRUE(file.ok()) << file.error().to_string();
  std::vector<std::string> names;
  if (!file.ok()) return names;
  for (const checkpoints::TensorEntry& entry : (*file)->tensors()) names.push_back(entry.name);
  return names;
}

TEST_F(DyleWeightsTest, all_weights_of_both_models_are_trained_and_kept_by_the_releases_names) {
  const qfs::test::TemporaryFolder generator;
  const qfs::test::TemporaryFolder extractor;
  request_.backbone = *registry::resolve_backbone(qfs::test::TinySeq2Seq().write(generator));
  request_.backbones[kExtractor] = qfs::test::TinyEncoder{.roberta = true}.write(extractor);
  request_.params.set("prompt", default_prompt());
  request_.params.set("trained", std::string("weights"));
  request_.params.set("label_tokens", int64_t{24});
  EXPECT_TRUE(qfs::test::dyle_spec().validate(request_.params).ok());
  for (const std::string profile : {"released", "paper"}) {
    request_.params.set("profile", profile);
    const Curve curve = trained(profile, 30);
    EXPECT_LT(curve.last("loss.generation"), curve.first("loss.generation") / 2) << profile;
    EXPECT_LT(curve.last("loss.oracle"), curve.first("loss.oracle")) << profile;
    EXPECT_EQ(outputs({meeting(34)}).size(), 1U);
  }
  const std::vector<std::string> names = names_in(trained_path("paper"));
  for (const char* name :
       {"classifier.weight", "rag.dynamic_mlp.4.bias", "rag.generator.model.shared.weight",
        "rag.generator.model.encoder.layers.0.fc1.weight",
        "rag.generator.model.decoder.layers.0.encoder_attn.k_proj.bias",
        "roberta.embeddings.token_type_embeddings.weight",
        "roberta.encoder.layer.1.attention.self.value.weight"}) {
    EXPECT_THAT(names, ::testing::Contains(name));
  }
  EXPECT_THAT(names, ::testing::Each(::testing::Not(HasSubstr("lora_"))));
  // What it writes with is what was trained: the text that it learned is likelier than before.
  request_.params.set("snippets", std::string("oracle"));
  request_.params.set("gate_map", std::string("reference"));
  EXPECT_GT(extra_of(meeting(34)).at("gate").size(), 1U);
  // The release's checkpoints say nothing of themselves.
  const std::string said = predicted(meeting(34)).text;
  Tensors tensors = tensors_of("paper");
  const auto put = [&] { use_file(tensors); };
  put();
  EXPECT_EQ(predicted(meeting(34)).text, said);
  tensors["lm_head.dense.weight"] = at::zeros({2});  // of the masked language model
  put();
  EXPECT_EQ(predicted(meeting(34)).text, said);
  tensors["pooler.dense.weight"] = at::zeros({2});
  put();
  EXPECT_THAT(write_refusal(meeting(34)), HasSubstr("'pooler.dense.weight' is none of DYLE's"));
  tensors.erase("pooler.dense.weight");
  tensors["rag.generator.model.shared.weight"].zero_();  // by which it reads and writes
  put();
  EXPECT_NE(predicted(meeting(34)).text, said);
  tensors.erase("roberta.encoder.layer.1.output.dense.bias");
  put();
  EXPECT_THAT(write_refusal(meeting(34)), HasSubstr("encoder.layer.1.output.dense.bias"));
  write_with("paper");
  // A file says what it is of; one of low-rank matrices is another.
  request_.params.set("trained", std::string("lora"));
  EXPECT_THAT(write_refusal(meeting(34)), HasSubstr("no trained file of 'dyle'"));
}

TEST_F(DyleWeightsTest, trained_weights_are_counted) {
  request_.params.set("trained", std::string("weights"));
  request_.params.set("steps", int64_t{1});
  Curve curve;
  const auto outcome = fit("whole", curve);
  ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
  int64_t elements = 0;
  const auto file = checkpoints::open_safetensors(trained_path("whole"));
  for (const checkpoints::TensorEntry& entry : (*file)->tensors()) elements += entry.elements;
  EXPECT_EQ(outcome->cost.trainable_parameters, elements);
  request_.params.set("extractor_targets", std::string("query"));
  EXPECT_THAT(qfs::test::dyle_spec().validate(request_.params).error().message,
              HasSubstr("low-rank"));
}

TEST_F(DyleWeightsTest, a_training_begins_with_a_file_of_all_weights) {
  request_.params.set("trained", std::string("weights"));
  request_.params.set("label_tokens", int64_t{24});
  trained("first", 20);
  const Tensors first = tensors_of("first");
  request_.params.set("steps", int64_t{1});
  const auto losses_with = [&](const std::string& name, const Tensors& initial) {
    use_file(initial);
    Curve curve;
    EXPECT_TRUE(fit(name, curve).ok()) << name;
    return std::pair(curve.first("loss.generation"), curve.first("loss.oracle"));
  };
  request_.artifacts.clear();
  Curve of_backbones;
  ASSERT_TRUE(fit("new", of_backbones).ok());
  const auto whole = losses_with("whole", first);
  EXPECT_LT(whole.first, of_backbones.first("loss.generation") / 2);
  EXPECT_LT(whole.second, of_backbones.first("loss.oracle"));

  // Without head or gate: theirs are as of another training with this seed, its weights are not.
  Tensors initial = first;
  std::erase_if(initial, [](const auto& entry) {
    return entry.first.starts_with("classifier.") || entry.first.starts_with("rag.dynamic_mlp.");
  });
  request_.params.set("learning_rate", 0.0);
  request_.params.set("extractor_learning_rate", 0.0);
  const auto begun = losses_with("begun", initial);
  EXPECT_LT(begun.first, of_backbones.first("loss.generation") / 2);
  EXPECT_GT(std::abs(begun.second - whole.second), 1e-3);
  request_.artifacts.clear();
  Curve unused;
  ASSERT_TRUE(fit("drawn", unused).ok());
  const Tensors drawn = tensors_of("drawn");
  const Tensors kept = tensors_of("begun");
  for (const auto& [name, tensor] : kept) {
    const Tensors& its = initial.contains(name) ? initial : drawn;
    EXPECT_TRUE(tensor.equal(its.at(name))) << name;
  }
  // Nothing is written with a head or a gate that nobody trained.
  use_file(initial);
  EXPECT_THAT(write_refusal(meeting(34)), HasSubstr("the score head is not whole"));
  initial["classifier.weight"] = first.at("classifier.weight");
  use_file(initial);
  EXPECT_THAT(refusal(), HasSubstr("the score head is not whole")) << "half of a head";
  initial["classifier.bias"] = first.at("classifier.bias");
  use_file(initial);
  EXPECT_THAT(write_refusal(meeting(34)), HasSubstr("or is what a training begins with"));
}

TEST_F(DyleWeightsTest, what_no_training_of_all_weights_can_begin_with_is_refused) {
  Params low_rank = request_.params;
  request_.params.set("trained", std::string("weights"));
  EXPECT_TRUE(qfs::test::dyle_spec().check_init(request_.params, {}).ok())
      << "the release says nothing";
  EXPECT_TRUE(qfs::test::dyle_spec().check_init(request_.params, request_.params).ok());
  const auto refused = [](const Params& params, const Params& recipe) {
    return qfs::test::dyle_spec().check_init(params, recipe).error().message;
  };
  EXPECT_THAT(refused(request_.params, low_rank), HasSubstr("it holds low-rank matrices"));
  EXPECT_THAT(refused(low_rank, request_.params), HasSubstr("it holds all weights"));
  Params similar = request_.params;
  similar.set("score", std::string("similarity"));
  EXPECT_THAT(refused(similar, request_.params), HasSubstr("its 'score' is head"));
}

}  // namespace
}  // namespace qfs::dyle

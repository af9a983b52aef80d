// Sessions of finetune on tiny models: what is learned, the folder that is kept, which is a
// backbone like others, and what is refused.
#include "methods/finetune/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "methods/finetune/spec.h"
#include "methods/models/checkpoints/safetensors.h"
#include "methods/models/registry/artifacts.h"
#include "methods/models/registry/registry.h"
#include "methods/zero_shot/session.h"
#include "methods/zero_shot/spec.h"
#include "tests/support/tiny_seq2seq.h"
#include "tests/support/trained_session.h"

namespace qfs::finetune {
namespace {

using ::qfs::test::Curve;
using ::qfs::test::TinySeq2Seq;
using ::testing::HasSubstr;

class FinetuneSessionTest : public qfs::test::TrainedSessionTest {
 protected:
  FinetuneSessionTest() : TrainedSessionTest(FinetuneSpec(), session_factory()) {
    request_.params.set("learning_rate", 0.005);
  }

  void use_seq2seq(const TinySeq2Seq& tiny) {
    const auto resource = registry::resolve_backbone(tiny.write(folder_));
    ASSERT_TRUE(resource.ok()) << resource.error().to_string();
    request_.backbone = *resource;
  }
  std::string trained_bytes(const std::string& name) {
    return *read_file(folder_ / (name + "/model.safetensors"));
  }
};

/// GoogleTest runs suites of this name before others, while this process has passed no failpoint.
using FinetuneSessionDeathTest = FinetuneSessionTest;

TEST_F(FinetuneSessionDeathTest, a_kill_anywhere_is_continued_to_the_same_bytes) {
  use_seq2seq({});
  expect_kills_change_nothing({"training.step:2", "training.after_checkpoint:1"},
                              "model.safetensors");
}

TEST_F(FinetuneSessionTest, what_is_learned_is_a_backbone_that_others_read) {
  for (const bool led : {false, true}) {
    use_seq2seq({.led = led});
    use(FinetuneSpec(), session_factory());
    request_.params.set("learning_rate", 0.005);
    request_.params.set("steps", int64_t{80});
    request_.artifacts.clear();
    const std::string name = led ? "led" : "bart";
    Curve curve;
    const auto outcome = fit(name, curve);
    ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
    EXPECT_LT(curve.last("development.loss"), curve.first("loss") / 2);
    ASSERT_EQ(outcome->files.size(), 1U);
    EXPECT_EQ(outcome->files.front().role, "adapter");
    EXPECT_EQ(outcome->files.front().sha256, sha256_hex(trained_bytes(name)));

    const auto facts = registry::resolve_artifact(folder_ / name);
    ASSERT_TRUE(facts.ok()) << facts.error().to_string();
    EXPECT_EQ(facts->method, "finetune");
    EXPECT_EQ(facts->backbone, request_.backbone->digest);
    request_.artifacts["adapter"] = facts->file;
    const std::string written = output();
    EXPECT_THAT(written, HasSubstr("abc"));

    use(zero_shot::ZeroShotSpec(), zero_shot::session_factory());
    const auto folder = registry::resolve_backbone(folder_ / name);
    ASSERT_TRUE(folder.ok()) << folder.error().to_string();
    request_.backbone = *folder;
    EXPECT_EQ(output(), written);
  }
}

TEST_F(FinetuneSessionTest, the_folder_names_tensors_as_transformers_does) {
  use_seq2seq({.led = true});
  request_.params.set("steps", int64_t{1});
  request_.params.set("save_dtype", std::string("bfloat16"));
  Curve curve;
  const auto outcome = fit("a", curve);
  ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
  const auto before = checkpoints::open_safetensors(request_.backbone->path + "/model.safetensors");
  const auto after = checkpoints::open_safetensors(folder_ / "a/model.safetensors");
  ASSERT_TRUE(before.ok() && after.ok());
  int64_t elements = 0;
  for (const auto& entry : (*after)->tensors()) {
    SCOPED_TRACE(entry.name);
    const auto* const same = (*before)->find(entry.name);
    ASSERT_NE(same, nullptr);
    EXPECT_EQ(entry.shape, same->shape);
    EXPECT_EQ(entry.type, checkpoints::TensorType::bf16);
    if (entry.name != "final_logits_bias") elements += entry.elements;
  }
  EXPECT_EQ(outcome->cost.trainable_parameters, elements);
  EXPECT_EQ((*after)->metadata().at("qfs.method"), "finetune");
}

TEST_F(FinetuneSessionTest, smoothed_labels_are_of_what_is_learned_alone) {
  use_seq2seq({});
  request_.params.set("learning_rate", 0.0);
  request_.params.set("steps", int64_t{1});
  Curve plain;
  ASSERT_TRUE(fit("plain", plain).ok());
  request_.params.set("label_smoothing", 0.5);
  Curve smoothed;
  ASSERT_TRUE(fit("smoothed", smoothed).ok());
  EXPECT_GT(std::abs(smoothed.first("loss") - plain.first("loss")), 1e-3);
  EXPECT_EQ(smoothed.last("development.loss"), plain.last("development.loss"));
}

TEST_F(FinetuneSessionTest, dropout_is_given_or_the_checkpoints_and_of_what_is_learned_alone) {
  use_seq2seq({});  // its configuration says nothing: 0.1 of the residual stream
  request_.params.set("learning_rate", 0.0);
  request_.params.set("steps", int64_t{1});
  const auto curve_of = [&](const std::string& name, const Params& own) {
    Params before = request_.params;
    for (const auto& [key, value] : own.values()) request_.params.set(key, value);
    Curve curve;
    EXPECT_TRUE(fit(name, curve).ok()) << name;
    request_.params = std::move(before);
    return curve;
  };
  const auto param = [](const char* name, ParamValue value) {
    Params params;
    params.set(name, std::move(value));
    return params;
  };
  const Curve plain = curve_of("plain", {});
  const Curve given = curve_of("given", param("dropout", 0.1));
  const Curve checkpoint =
      curve_of("checkpoint", param("dropout_rates", std::string("checkpoint")));
  EXPECT_GT(std::abs(given.first("loss") - plain.first("loss")), 1e-3);
  EXPECT_EQ(checkpoint.first("loss"), given.first("loss"));
  EXPECT_EQ(given.last("development.loss"), plain.last("development.loss"));
  for (const char* kind : {"attention_dropout", "activation_dropout"}) {
    SCOPED_TRACE(kind);
    const Curve own = curve_of(kind, param(kind, 0.3));
    EXPECT_GT(std::abs(own.first("loss") - plain.first("loss")), 1e-3);
    Params both = param(kind, 0.3);
    both.set("dropout_rates", std::string("checkpoint"));
    const Curve beside = curve_of(std::string(kind) + "+", both);
    EXPECT_GT(std::abs(beside.first("loss") - own.first("loss")), 1e-3);
  }
}

TEST_F(FinetuneSessionTest, a_checkpoint_that_drops_all_is_refused_where_that_is_asked_for) {
  use_seq2seq({});
  const std::string path = folder_ / "config.json";
  std::string config = *read_file(path);
  config.insert(config.find('{') + 1, R"("attention_dropout": 1.0, )");
  ASSERT_TRUE(write_file(path, config).ok());
  request_.backbone = *registry::resolve_backbone(folder_.path());
  request_.params.set("steps", int64_t{1});
  Curve curve;
  EXPECT_TRUE(fit("own", curve).ok());
  request_.params.set("dropout_rates", std::string("checkpoint"));
  EXPECT_THAT(refusal(), HasSubstr("a dropout of 1; expected one from 0 to below 1"));
}

TEST_F(FinetuneSessionTest, outputs_that_choose_are_of_sources_that_the_encoder_reads) {
  use_seq2seq({.positions = 99});
  request_.params.set("train_tokens", int64_t{99});
  request_.params.set("label_tokens", int64_t{8});
  request_.params.set("steps", int64_t{1});
  request_.params.set("select_by", std::string("rouge1"));
  std::string many;
  for (int i = 0; i < 99; ++i) many += "x ";
  for (auto* examples : {&data_.train, &data_.development}) {
    for (NumberedExample& one : *examples) one.example.document = {{"a b", ""}, {many, ""}};
  }
  for (const char* source : {"{query}{sep}{document}", "{query} {documents}"}) {
    request_.params.set("source", std::string(source));
    Curve curve;
    const auto outcome = fit(source, curve);
    ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
    EXPECT_EQ(curve.points.back().values.count("development.rouge1"), 1U);
  }
}

TEST_F(FinetuneSessionTest, layers_that_are_computed_again_learn_the_same) {
  use_seq2seq({.led = true});
  request_.params.set("global_attention", std::string("first"));
  Curve kept;
  ASSERT_TRUE(fit("kept", kept).ok());
  request_.params.set("recompute", true);
  Curve again;
  ASSERT_TRUE(fit("again", again).ok());
  EXPECT_NEAR(again.last("development.loss"), kept.last("development.loss"), 1e-3);
}

TEST_F(FinetuneSessionTest, a_file_that_is_no_folder_is_read_with_the_weights_beside_it) {
  use_llama({}, "D: {document}\nQ: {query}\nA:");  // GGUF
  request_.params.set("steps", int64_t{60});
  Curve curve;
  const auto outcome = fit("a", curve);
  ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
  EXPECT_LT(curve.last("development.loss"), 0.5);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a/config.json"));
  request_.artifacts["adapter"] = registry::resolve_artifact(folder_ / "a")->file;
  EXPECT_THAT(output(), HasSubstr("abcabc"));
  request_.params.set("positions", int64_t{2000});
  EXPECT_THAT(output(), HasSubstr("abcabc"));
  request_.runtime.dtype = "bfloat16";
  EXPECT_THAT(output(), HasSubstr("abc"));
}

TEST_F(FinetuneSessionTest, what_cannot_be_trained_or_read_is_refused) {
  use_seq2seq({});
  request_.params.set("steps", int64_t{1});
  Curve curve;
  ASSERT_TRUE(fit("a", curve).ok());
  ResourceCache cache;
  const auto reading = [&] {
    const auto session = session_factory().open(request_, cache);
    return session.ok() ? "opened" : session.error().message;
  };
  EXPECT_THAT(reading(), HasSubstr("no trained weights were given"));
  request_.artifacts["adapter"] = {"", folder_ / "a", ""};
  EXPECT_EQ(reading(), "opened");
  request_.backbone->digest = "another";
  EXPECT_THAT(reading(), HasSubstr("is another"));

  const FinetuneSpec spec;
  Params params = request_.params;
  params.set("train_dtype", std::string("bfloat16"));
  EXPECT_THAT(spec.validate(params).error().message, HasSubstr("trained in float32"));
  params = request_.params;
  params.set("window", int64_t{4});
  EXPECT_THAT(spec.validate(params).error().message, HasSubstr("'window'"));
  EXPECT_THAT(spec.check_init(params, {}).error().message,
              HasSubstr("begins with those of its backbone"));
}

}  // namespace
}  // namespace qfs::finetune

// Sessions of lora on tiny models: what is learned, kept, continued after a crash, and written
// with.
#include "methods/lora/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "methods/lora/spec.h"
#include "methods/models/architectures/backbone.h"
#include "methods/models/checkpoints/safetensors.h"
#include "methods/models/nn/decoder.h"
#include "methods/models/peft/lora.h"
#include "methods/models/prompted/memory_params.h"
#include "methods/models/prompted/memory_session.h"
#include "methods/models/registry/registry.h"
#include "metrics/rouge/rouge_scorer.h"
#include "tests/support/tiny_seq2seq.h"
#include "tests/support/trained_session.h"

namespace qfs::lora {
namespace {

using ::qfs::test::Curve;
using ::qfs::test::TinyLlama;
using ::qfs::test::TinySeq2Seq;
using ::testing::HasSubstr;

class LoraSessionTest : public qfs::test::TrainedSessionTest {
 protected:
  LoraSessionTest() : TrainedSessionTest(LoraSpec(), session_factory()) {}

  void use_llama() { TrainedSessionTest::use_llama({}, "D: {document}\nQ: {query}\nA:"); }
  void use_seq2seq(const TinySeq2Seq& tiny) {
    const auto resource = registry::resolve_backbone(tiny.write(folder_));
    ASSERT_TRUE(resource.ok()) << resource.error().to_string();
    request_.backbone = *resource;
  }
  std::string trained_bytes(const std::string& name) {
    return *read_file(folder_ / (name + "/adapter_model.safetensors"));
  }
};

/// GoogleTest runs suites of this name before others, while this process has passed no failpoint.
using LoraSessionDeathTest = LoraSessionTest;

TEST_F(LoraSessionDeathTest, a_kill_anywhere_is_continued_to_the_same_bytes) {
  use_llama();
  expect_kills_change_nothing({"training.step:2", "training.before_checkpoint:2",
                               "training.after_checkpoint:1", "training.step:5"},
                              "adapter_model.safetensors");
}

TEST_F(LoraSessionTest, a_decoder_learns_what_it_then_writes) {
  use_llama();
  request_.params.set("steps", int64_t{60});
  Curve curve;
  const auto outcome = fit("a", curve);
  ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
  ASSERT_EQ(curve.points.size(), 60U);
  EXPECT_LT(curve.last("development.loss"), 0.5);
  EXPECT_GT(curve.first("loss"), 4);
  ASSERT_EQ(outcome->files.size(), 1U);
  const TrainedFile& file = outcome->files.front();
  EXPECT_EQ(file.role, "adapter");
  EXPECT_EQ(file.sha256, sha256_hex(trained_bytes("a")));
  EXPECT_EQ(outcome->cost.steps, 60);
  EXPECT_GT(outcome->cost.tokens, 60 * 4 * 40);
  EXPECT_GT(outcome->cost.flops, 0);
  // q, k, v, o and up of 2 layers, with 4 heads and 2 of keys and values: rank 8.
  EXPECT_EQ(outcome->cost.trainable_parameters, 2 * 8 * (64 + 48 + 48 + 64 + 96));

  request_.artifacts["adapter"] = {"", folder_ / ("a/" + file.name), file.sha256};
  EXPECT_THAT(output(), HasSubstr("abcabc"));
  request_.artifacts["adapter"].path = folder_ / "a";  // the PEFT directory that it is
  EXPECT_THAT(output(), HasSubstr("abcabc"));
  request_.runtime.dtype = "bfloat16";
  EXPECT_THAT(output(), HasSubstr("abc"));
}

TEST_F(LoraSessionTest, what_is_written_may_choose) {
  use_llama();
  request_.params.set("save_dtype", std::string("bfloat16"));
  request_.params.set("steps", int64_t{60});
  request_.params.set("evaluate_every", int64_t{20});
  for (NumberedExample& one : data_.train) one.example.references = {"abc abc"};
  for (NumberedExample& one : data_.development) one.example.references = {"nothing", "abc abc"};
  const Params training = request_.params;
  for (const std::string score : {"rouge1", "rouge_sum"}) {
    SCOPED_TRACE(score);
    request_.params = training;
    request_.params.set("select_by", score);
    request_.artifacts.clear();
    Curve curve;
    const auto outcome = fit(score, curve);
    ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
    EXPECT_EQ(curve.points.front().values.count("development." + score), 0U);
    double best = 0;
    for (const size_t step : {19, 39, 59}) {
      best = std::max(best, curve.points[step].values.at("development." + score));
    }

    // The kept file writes what was scored when it was chosen.
    request_.artifacts["adapter"] = {"", folder_ / (score + "/adapter_model.safetensors"), ""};
    request_.params.set("max_new_tokens", request_.params.get<int64_t>("label_tokens"));
    request_.params.set("local_context", request_.params.get<int64_t>("train_tokens"));
    double sum = 0;
    for (const NumberedExample& one : data_.development) {
      metrics::RougeScorer rouge;
      const std::vector<std::string> texts = outputs({one});
      ASSERT_EQ(texts.size(), 1U);
      const auto found = *rouge.score_multi(one.example.references, texts.front());
      sum += found.rouge1.f + (score == "rouge1" ? 0 : found.rouge2.f + found.rougeL.f);
    }
    EXPECT_GT(best, 0);
    EXPECT_NEAR(sum / 3, best, 1e-12);
  }
}

TEST_F(LoraSessionTest, encoder_decoders_learn_too) {
  for (const bool led : {false, true}) {
    use_seq2seq({.led = led});
    request_.artifacts.clear();
    request_.params.set("steps", int64_t{80});
    Curve curve;
    const auto outcome = fit(led ? "led" : "bart", curve);
    ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
    EXPECT_LT(curve.last("development.loss"), curve.first("loss") / 2);
    request_.artifacts["adapter"] = {"", folder_ / (led ? "led" : "bart"), ""};
    EXPECT_THAT(output(), HasSubstr("abc"));
  }
}

TEST_F(LoraSessionTest, calls_of_a_few_steps_give_the_bytes_of_one_call) {
  use_llama();
  Curve whole;
  ASSERT_TRUE(fit("whole", whole).ok());
  Curve parts;
  for (const int64_t steps : {1, 4, 2}) {
    parts.points.clear();
    const auto part = fit("parts", parts, steps);
    ASSERT_TRUE(part.ok()) << part.error().to_string();
    EXPECT_TRUE(part->files.empty());
  }
  parts.points.clear();
  const auto last = fit("parts", parts);
  ASSERT_TRUE(last.ok()) << last.error().to_string();
  EXPECT_EQ(last->cost.steps, 12);
  EXPECT_EQ(trained_bytes("parts"), trained_bytes("whole"));
  EXPECT_EQ(parts.points, whole.points);  // those before the last call are told once more
  EXPECT_EQ(fit("parts", parts)->files, last->files);
}

TEST_F(LoraSessionTest, a_training_begins_with_an_adapter) {
  use_llama();
  Curve first;
  ASSERT_TRUE(fit("first", first).ok());
  request_.artifacts["adapter"] = {"", folder_ / "first", ""};
  request_.params.set("learning_rate", 0.0);
  Curve second;
  ASSERT_TRUE(fit("second", second).ok());
  // From development's loss of the first training on; a rate of 0 leaves it there.
  EXPECT_NEAR(second.last("development.loss"), first.last("development.loss"), 1e-5);
  EXPECT_LT(second.last("development.loss"), first.first("loss") - 0.5);

  request_.params.set("rank", int64_t{4});
  EXPECT_THAT(refusal(), HasSubstr("its rank is 8, the training's 4"));
  Params recipe;
  recipe.set("rank", int64_t{8});
  EXPECT_EQ(LoraSpec().check_init(request_.params, recipe).error().message,
            "its rank is 8, the training's 4")
      << "the same when a plan is made";
  request_.params.set("rank", int64_t{8});
  request_.params.set("alpha", 16.0);
  EXPECT_THAT(refusal(), HasSubstr("its alpha is 8"));
  request_.params.set("targets", std::string("q_proj"));
  EXPECT_THAT(refusal(), HasSubstr("its number of layers is 10, the training's 2"));
}

TEST_F(LoraSessionTest, the_file_says_what_it_is) {
  use_llama();
  request_.params.set("steps", int64_t{1});
  request_.params.set("save_dtype", std::string("bfloat16"));
  Curve curve;
  ASSERT_TRUE(fit("a", curve).ok());
  const auto file = checkpoints::open_safetensors(folder_ / "a/adapter_model.safetensors");
  ASSERT_TRUE(file.ok());
  const auto& metadata = (*file)->metadata();
  EXPECT_EQ(metadata.at("format"), "pt");
  EXPECT_EQ(metadata.at("qfs.method"), "lora");
  EXPECT_EQ(metadata.at("qfs.backbone"), request_.backbone->digest);
  EXPECT_EQ(metadata.at("qfs.training_cell"), "cell");
  EXPECT_THAT(metadata.at("qfs.recipe"), HasSubstr("\"rank\":8"));
  EXPECT_THAT(metadata.at("qfs.recipe"), ::testing::Not(HasSubstr("checkpoint_every")));
  const auto* tensor =
      (*file)->find("base_model.model.model.layers.1.self_attn.q_proj.lora_B.weight");
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor->shape, (std::vector<int64_t>{32, 8}));
  EXPECT_EQ(tensor->type, checkpoints::TensorType::bf16);
}

TEST_F(LoraSessionTest, layers_that_are_computed_again_learn_the_same) {
  use_llama();
  Curve kept;
  ASSERT_TRUE(fit("kept", kept).ok());
  request_.params.set("recompute", true);
  Curve again;
  const auto outcome = fit("again", again);
  ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
  EXPECT_NEAR(again.last("loss"), kept.last("loss"), 1e-3);
  request_.params.set("train_dtype", std::string("bfloat16"));
  Curve rounded;
  ASSERT_TRUE(fit("rounded", rounded).ok());
  EXPECT_NEAR(rounded.last("loss"), kept.last("loss"), 0.3);
}

TEST_F(LoraSessionTest, what_cannot_be_learned_from_is_named) {
  use_llama();
  data_.train[3].example.references.clear();
  EXPECT_EQ(refusal(), "the training example 'example-3' has no reference summary");
  data_.train.clear();
  EXPECT_EQ(refusal(), "there are no examples to train with");
  request_.params.set("targets", std::string("q_proj, w3_proj"));
  EXPECT_THAT(refusal(), HasSubstr("no layer 'w3_proj' to adapt"));
}

TEST_F(LoraSessionTest, an_adapter_of_another_backbone_is_refused) {
  use_llama();
  request_.params.set("steps", int64_t{1});
  Curve curve;
  const auto outcome = fit("a", curve);
  ASSERT_TRUE(outcome.ok());
  ResourceCache cache;
  EXPECT_EQ(session_factory().open(request_, cache).error().message, "no adapter was given");
  request_.artifacts["adapter"] = {"", folder_ / "a", ""};
  const std::string other = TinyLlama{.seed = 5}.bytes();
  request_.backbone = Resource{"local:y", folder_.write("n.gguf", other), sha256_hex(other)};
  EXPECT_THAT(session_factory().open(request_, cache).error().message,
              HasSubstr("'local:y' is " + request_.backbone->digest));
}

TEST_F(LoraSessionTest, a_memory_is_learned_with_the_adapter_and_kept_in_its_file) {
  use_llama();
  request_.params.set("memory", std::string("infini"));
  request_.params.set("local_context", int64_t{24});
  request_.params.set("train_segment", int64_t{24});
  request_.params.set("steps", int64_t{60});
  Curve curve;
  const auto outcome = fit("a", curve);
  ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
  EXPECT_LT(curve.last("development.loss"), 0.5);
  // As without one, and beta of 4 heads in 2 layers.
  EXPECT_EQ(outcome->cost.trainable_parameters, 2 * 8 * (64 + 48 + 48 + 64 + 96) + 2 * 4);
  const auto file = checkpoints::open_safetensors(folder_ / "a/adapter_model.safetensors");
  ASSERT_TRUE(file.ok());
  const auto* beta = (*file)->find("llama.layers.1.attention.gate");
  ASSERT_NE(beta, nullptr);
  EXPECT_EQ(beta->shape, (std::vector<int64_t>{1, 4, 1, 1}));
  std::vector<float> values(4);
  ASSERT_TRUE((*file)->read(*beta, values).ok());
  for (const float value : values) EXPECT_NE(value, 0);
  EXPECT_THAT((*file)->metadata().at("qfs.recipe"), HasSubstr(R"("memory":"infini")"));

  request_.artifacts["adapter"] = {"", folder_ / "a", ""};
  const std::string remembered = output();
  EXPECT_THAT(remembered, HasSubstr("abc"));
  request_.runtime.dtype = "bfloat16";
  EXPECT_THAT(output(), HasSubstr("ab"));
  request_.runtime.dtype = "float32";
  // A model that nothing is asked of with the memory would be another one.
  request_.params.set("memory", std::string("none"));
  ResourceCache cache;
  EXPECT_THAT(session_factory().open(request_, cache).error().message,
              HasSubstr("was trained with a memory"));
}

TEST_F(LoraSessionTest, a_memory_begins_with_an_adapter_without_one_and_goes_on_to_the_same_bytes) {
  use_llama();
  Curve plain;
  ASSERT_TRUE(fit("plain", plain).ok());
  request_.artifacts["adapter"] = {"", folder_ / "plain", ""};
  request_.params.set("memory", std::string("infini"));
  request_.params.set("memory_rule", std::string("linear"));
  request_.params.set("segment_loss", std::string("sum"));
  request_.params.set("train_segment", int64_t{500});
  request_.params.set("learning_rate", 0.0);
  Curve whole;
  ASSERT_TRUE(fit("whole", whole).ok());
  // One segment has no past: the loss of an example is the mean of its tokens.
  EXPECT_NEAR(whole.last("development.loss"), plain.last("development.loss"), 0.1);
  request_.params.set("train_segment", int64_t{24});
  request_.params.set("learning_rate", 0.02);
  Curve segments;
  ASSERT_TRUE(fit("segments", segments).ok());
  EXPECT_GT(segments.first("loss"), whole.first("loss"));  // half is read from a memory untrained
  EXPECT_LT(segments.last("development.loss"), segments.first("loss"));
  Curve parts;
  for (const int64_t steps : {5, 4}) ASSERT_TRUE(fit("parts", parts, steps).ok());
  ASSERT_TRUE(fit("parts", parts).ok());
  EXPECT_EQ(trained_bytes("parts"), trained_bytes("segments"));
  request_.params.set("recompute", true);
  Curve again;
  ASSERT_TRUE(fit("again", again).ok());
  EXPECT_NEAR(again.last("loss"), segments.last("loss"), 1e-3);
  // A training without a memory does not begin with one.
  request_.artifacts["adapter"].path = folder_ / "segments";
  request_.params.set("memory", std::string("none"));
  Curve refused;
  EXPECT_THAT(fit("refused", refused).error().message, HasSubstr("it has a memory"));
}

TEST_F(LoraSessionTest, a_query_asks_a_memory_that_begins_with_an_adapter) {
  TrainedSessionTest::use_llama({}, "Q: {query}\nD: {document}\nA:");
  request_.params.set("steps", int64_t{60});
  Curve plain;
  ASSERT_TRUE(fit("plain", plain).ok());
  request_.artifacts["adapter"] = {"", folder_ / "plain", ""};
  request_.params.set("memory", std::string("qf_infini"));
  request_.params.set("local_context", int64_t{24});
  request_.params.set("train_segment", int64_t{24});
  request_.params.set("repeat_query", true);
  request_.params.set("first_beta", -2.0);
  request_.params.set("memory_rate", 0.0);
  Curve still;
  ASSERT_TRUE(fit("still", still).ok());
  const double share = 1 / (1 + std::exp(2.0));
  EXPECT_NEAR(still.last("memory.share"), share, 1e-6);
  const auto scalars = [&](const std::string& name) {
    return peft::read_lora(folder_ / name)->memory.at("llama.layers.1.attention.gate");
  };
  EXPECT_EQ(scalars("still").min().item<float>(), -2);
  request_.params.set("memory_rate", 3.0);
  Curve moved;
  ASSERT_TRUE(fit("moved", moved).ok());
  EXPECT_GT(std::abs(moved.last("memory.share") - share), 1e-3);
  EXPECT_LT(moved.last("development.loss"), 1);

  request_.artifacts["adapter"] = {"", folder_ / "moved", ""};
  EXPECT_THAT(output(), HasSubstr("abc"));
}

TEST_F(LoraSessionTest, an_unread_memory_changes_nothing_that_its_window_says) {
  TrainedSessionTest::use_llama({}, "Q: {query}\nD: {document}\nA:");
  request_.params.set("memory", std::string("qf_infini"));
  request_.params.set("local_context", int64_t{24});
  request_.params.set("train_segment", int64_t{24});
  request_.params.set("first_beta", 4.0);
  request_.params.set("learning_rate", 0.0);
  request_.params.set("steps", int64_t{1});
  Curve curve;
  ASSERT_TRUE(fit("read", curve).ok());
  request_.artifacts["adapter"] = {"", folder_ / "read", ""};
  const std::string read = output();
  request_.params.set("memory_read", std::string("none"));
  const std::string unread = output();
  EXPECT_NE(read, unread);
  request_.params.set("memory_read", std::string("trained"));
  request_.params.set("first_beta", -100.0);  // no share either
  request_.artifacts.clear();
  ASSERT_TRUE(fit("none", curve).ok());
  request_.artifacts["adapter"] = {"", folder_ / "none", ""};
  EXPECT_EQ(output(), unread);
}

TEST_F(LoraSessionTest, a_window_alone_needs_no_file_with_a_memory) {
  use_llama();
  request_.params.set("steps", int64_t{60});
  Curve curve;
  ASSERT_TRUE(fit("plain", curve).ok());
  request_.artifacts["adapter"] = {"", folder_ / "plain", ""};
  const std::string whole = output();
  EXPECT_THAT(whole, HasSubstr("abc"));
  request_.params.set("memory", std::string("infini"));
  request_.params.set("local_context", int64_t{120});
  ResourceCache cache;
  EXPECT_FALSE(sessions_.open(request_, cache).ok());  // its scalars are missing
  request_.params.set("memory_read", std::string("none"));
  EXPECT_EQ(output(), whole);
  request_.params.set("local_context", int64_t{8});
  const std::string narrow = output();
  EXPECT_NE(narrow, whole);
  request_.params.set("kept_tokens", int64_t{4});
  EXPECT_NE(output(), narrow);
}

TEST_F(LoraSessionTest, sequences_are_longer_than_the_window_where_it_is_asked_for) {
  const std::string bytes = TinyLlama{.context = 64}.bytes();
  request_.params.set("prompt", std::string("D: {document}\nQ: {query}\nA:"));
  request_.backbone = Resource{"local:x", folder_.write("m.gguf", bytes), sha256_hex(bytes)};
  request_.params.set("memory", std::string("infini"));
  request_.params.set("local_context", int64_t{32});
  request_.params.set("train_segment", int64_t{32});
  request_.params.set("steps", int64_t{2});
  const auto trained = [&](const std::string& name) {
    Curve curve;
    const auto outcome = fit(name, curve);
    return outcome.ok() ? "trained" : outcome.error().message;
  };
  const auto refusal = [&] {
    qfs::test::RecordingSink sink;
    ResourceCache cache;
    auto session = session_factory().open(request_, cache);
    if (!session.ok()) return session.error().message;
    const Status status = (*session)->run({{example(9)}}, sink);
    return status.ok() ? "written" : status.error().message;
  };
  ASSERT_EQ(trained("short"), "trained");  // documents are cut to the window
  request_.artifacts["adapter"] = {"", folder_ / "short", ""};
  EXPECT_THAT(refusal(), AllOf(HasSubstr("window of 64"), HasSubstr("raise positions")));
  request_.params.set("positions", int64_t{400});
  EXPECT_EQ(refusal(), "written");
  request_.artifacts.clear();
  ASSERT_EQ(trained("long"), "trained");
  request_.params.set("positions", int64_t{32});
  EXPECT_THAT(refusal(), HasSubstr("no adapter was given"));
  EXPECT_THAT(trained("refused"), HasSubstr("'positions' are 32; the backbone's window has 64"));
  request_.params.set("positions", int64_t{400});
  request_.params.set("train_segment", int64_t{401});
  EXPECT_THAT(trained("refused"), HasSubstr("segments of 401 tokens"));
}

TEST_F(LoraSessionTest, parameters_of_a_memory_are_checked_before_anything_runs) {
  const LoraSpec spec;
  const auto refusal = [&](const Params& params) {
    const Status status = spec.validate(params);
    return status.ok() ? "fine" : status.error().message;
  };
  Params params = request_.params;
  EXPECT_EQ(refusal(params), "fine");
  params.set("train_segment", int64_t{24});
  EXPECT_EQ(refusal(params), "'train_segment' needs 'memory'");
  params.set("memory", std::string("infini"));
  EXPECT_THAT(refusal(params), HasSubstr("'memory' needs 'local_context'"));
  params.set("local_context", int64_t{24});
  EXPECT_EQ(refusal(params), "fine");
  params.set("positions", int64_t{23});
  EXPECT_EQ(refusal(params),
            "'local_context' is 24; a sequence has 23 tokens at most ('positions')");
  params.set("positions", int64_t{24});
  EXPECT_EQ(refusal(params), "fine");
  params.set("input_tokens", int64_t{25});
  EXPECT_THAT(refusal(params), HasSubstr("'input_tokens' is 25"));
  params.set("input_tokens", int64_t{20});
  params.set("alpha_scale", std::string("model"));
  EXPECT_EQ(refusal(params), R"('alpha_scale' needs "memory": "qf_infini")");
  params.set("memory", std::string("qf_infini"));
  EXPECT_THAT(refusal(params), HasSubstr("needs {query} in front of {document}"));
  params.set("prompt", std::string("{query} {document}"));
  EXPECT_EQ(refusal(params), "fine");
  params.set("kept_tokens", int64_t{24});
  EXPECT_EQ(refusal(params), "'kept_tokens' is 24, and 24 tokens are attended to at once");
  params.set("kept_tokens", int64_t{4});
  EXPECT_EQ(refusal(params), "fine");
  params.set("prompt", std::string("{document}"));
  EXPECT_THAT(refusal(params), HasSubstr("needs {query} in front of {document}"));
  params.set("prompt", std::string("{query} {document}"));
  params.set("batch_size", int64_t{2});
  params.set("prefix_reuse", true);
  EXPECT_THAT(refusal(params), HasSubstr("'prefix_reuse' is for attention without 'memory'"));
}

TEST_F(LoraSessionTest, a_query_focused_memory_is_what_its_parameters_say) {
  std::vector<std::string> names;
  for (const ParamSpec& param : prompted::memory_params()) {
    names.push_back(param.name);
    EXPECT_FALSE(param.default_value) << param.name;  // it would be in the ids of other cells
  }
  EXPECT_THAT(names, ::testing::IsSupersetOf({"alpha_scale", "gamma_bias", "memory_rule"}));
  use_llama();
  ResourceCache cache;
  const auto backbone = architectures::open_backbone(*request_.backbone, cache);
  ASSERT_TRUE(backbone.ok()) << backbone.error().to_string();
  const auto decoder = *(*backbone)->network->decoder({}, "x", cache);
  Params params;
  params.set("memory", std::string("qf_infini"));
  params.set("alpha_scale", std::string("model"));
  params.set("local_context", int64_t{16});
  params.set("first_beta", -4.0);
  params.set("memory_rule", std::string("linear"));
  peft::InfiniTensors tensors = prompted::first_memory(params, decoder->shape(), 1);
  EXPECT_EQ(tensors.size(), 2U * 3U);
  EXPECT_EQ(tensors.at("llama.layers.1.attention.gate").min().item<float>(), -4);
  const auto bound = [&] {
    return (*prompted::written_memory(params, tensors, "the file"))(*decoder);
  };
  ASSERT_TRUE(bound().ok()) << bound().error().to_string();
  const nn::InfiniMemory& memory = **bound();
  EXPECT_TRUE(memory.options.query_focused);
  EXPECT_EQ(memory.options.rule, nn::MemoryRule::linear);
  EXPECT_DOUBLE_EQ(memory.relevance_divisor * memory.relevance_divisor, 32);  // of the stream
  EXPECT_EQ(memory.options.kept, 0);
  params.set("kept_tokens", int64_t{4});
  EXPECT_EQ((*bound())->options.window(), 20);
  params.set("memory", std::string("infini"));
  EXPECT_THAT(bound().error().message, HasSubstr("gate_memory.bias' is of a query-focused memory"));
  params.set("memory", std::string("qf_infini"));
  params.set("gamma_bias", false);
  tensors = prompted::first_memory(params, decoder->shape(), 1);
  EXPECT_EQ(tensors.size(), 2U * 2U);
  EXPECT_TRUE(bound().ok());
  tensors.erase("llama.layers.1.attention.gate");
  EXPECT_THAT(bound().error().message, HasSubstr("no 'llama.layers.1.attention.gate'"));
}

}  // namespace
}  // namespace qfs::lora

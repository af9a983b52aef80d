// Adapters of lora beside a memory: what is learned and kept of both, and what is refused.
#include <cmath>

#include "methods/models/architectures/backbone.h"
#include "methods/models/checkpoints/safetensors.h"
#include "methods/models/nn/decoder.h"
#include "methods/models/peft/lora.h"
#include "methods/models/prompted/memory_params.h"
#include "methods/models/prompted/memory_session.h"
#include "metrics/rouge/rouge_scorer.h"
#include "tests/unit/lora/lora_session.h"

namespace qfs::lora {
namespace {

using ::qfs::test::Curve;
using ::qfs::test::TinyLlama;
using ::testing::HasSubstr;

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
  EXPECT_THAT((*file)->metadata().at("qfs.recipe"),
              HasSubstr(R"("memory":"infini","memory_rule":"delta")"));

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

TEST_F(LoraSessionTest, outputs_that_choose_are_read_in_the_segments_that_were_learned) {
  use_llama();
  request_.params.set("memory", std::string("infini"));
  request_.params.set("train_segment", int64_t{24});
  request_.params.set("select_by", std::string("rouge1"));
  request_.params.set("steps", int64_t{40});
  Curve curve;
  const auto outcome = fit("a", curve);
  ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
  const double chosen = curve.points.back().values.at("development.rouge1");

  request_.artifacts["adapter"] = {"", folder_ / "a", ""};
  request_.params.set("max_new_tokens", request_.params.get<int64_t>("label_tokens"));
  request_.params.set("local_context", int64_t{24});
  request_.params.set("input_tokens", request_.params.get<int64_t>("train_tokens"));
  double sum = 0;
  for (const NumberedExample& one : data_.development) {
    const std::vector<std::string> texts = outputs({one});
    ASSERT_EQ(texts.size(), 1U);
    sum += metrics::RougeScorer().score_multi(one.example.references, texts.front())->rouge1.f;
  }
  EXPECT_GT(chosen, 0);
  EXPECT_NEAR(sum / 3, chosen, 1e-12);
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

TEST_F(LoraSessionTest, a_loss_of_examples_means_needs_no_memory) {
  use_llama();
  request_.params.set("steps", int64_t{1});
  data_.development.clear();
  data_.train.resize(2);
  data_.train[0].example.references = {"a"};
  data_.train[1].example.references = {"abc abc abc abc"};
  const auto loss_of = [&](const std::vector<NumberedExample>& train, const std::string& loss) {
    const TrainingData before = std::exchange(data_, {train, {}});
    request_.params.set("train_batch", static_cast<int64_t>(train.size()));
    request_.params.set("segment_loss", loss);
    Curve curve;
    EXPECT_TRUE(
        fit(loss + std::to_string(train.size()) + train[0].example.references[0], curve).ok());
    data_ = before;
    return curve.first("loss");
  };
  const double first = loss_of({data_.train[0]}, "token_mean");
  const double second = loss_of({data_.train[1]}, "token_mean");
  EXPECT_NEAR(loss_of(data_.train, "sum"), (first + second) / 2, 1e-5);
  EXPECT_GT(std::abs(loss_of(data_.train, "token_mean") - (first + second) / 2), 1e-3);
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
  request_.params.set("memory", std::string("infini"));
  Curve refused;
  EXPECT_THAT(
      fit("refused", refused).error().message,
      HasSubstr("'llama.layers.0.attention.gate_memory.bias', which the training's has not"));
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

TEST_F(LoraSessionTest, a_memory_may_be_of_another_document) {
  const std::string prompt = "Q: {query}\nD: {document}\nA:";
  TrainedSessionTest::use_llama({}, prompt);
  request_.params.set("memory", std::string("qf_infini"));
  request_.params.set("local_context", int64_t{24});
  request_.params.set("train_segment", int64_t{24});
  request_.params.set("first_beta", 4.0);
  request_.params.set("learning_rate", 0.0);
  request_.params.set("steps", int64_t{1});
  Curve curve;
  ASSERT_TRUE(fit("read", curve).ok());
  request_.artifacts["adapter"] = {"", folder_ / "read", ""};
  request_.params.set("temperature", 2.0);  // draws of one seed, which any other logits show
  NumberedExample own = example(3);
  own.example.other_document = own.example.document;
  NumberedExample other = example(3);
  other.example.other_document = {{"Zebras, quietly", "Bob"}};
  EXPECT_EQ(outputs({own}), outputs({example(3)}));
  EXPECT_NE(outputs({other}), outputs({example(3)}));

  // In one layer what the window holds does not depend on what has left it, and what is kept, of
  // the document as well, never leaves.
  TrainedSessionTest::use_llama({.layers = 1}, prompt);
  request_.params.set("kept_tokens", int64_t{16});
  request_.artifacts.clear();
  ASSERT_TRUE(fit("one", curve).ok());
  request_.artifacts["adapter"] = {"", folder_ / "one", ""};
  request_.params.set("memory_read", std::string("none"));
  EXPECT_EQ(outputs({other}), outputs({example(3)}));
  EXPECT_TRUE(LoraSpec().needs(request_.params).memory);
  request_.params.set("memory", std::string("none"));
  EXPECT_FALSE(LoraSpec().needs(request_.params).memory);
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
  EXPECT_THAT(refusal(), HasSubstr("no adapter was given"));
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

TEST_F(LoraSessionTest, what_is_longer_than_a_sequence_asks_for_positions) {
  const LoraSpec spec;
  for (const char* name : {"local_context", "train_segment", "input_tokens", "train_tokens"}) {
    Params params = request_.params;
    params.set("local_context", int64_t{24});
    params.set("memory", std::string("infini"));
    params.set(name, int64_t{6000});
    const auto refusal = [&](int64_t context) {
      const Status status =
          spec.check_backbone(params, {.architecture = "llama", .context = context});
      return status.ok() ? "fine" : status.error().message;
    };
    EXPECT_EQ(refusal(4096), "'" + std::string(name) +
                                 "' is 6000; a sequence has 4096 tokens at most, unless "
                                 "'positions' asks for more");
    EXPECT_EQ(refusal(6000), "fine");
    EXPECT_EQ(refusal(0), "fine") << "nothing is known";
    params.set("positions", int64_t{5999});
    EXPECT_THAT(refusal(4096), HasSubstr("a sequence has 5999 tokens at most"));
    EXPECT_THAT(refusal(0), HasSubstr("a sequence has 5999 tokens at most"));
    EXPECT_EQ(refusal(8192), "fine") << "a window that holds more stays as it is";
    params.set("positions", int64_t{6000});
    EXPECT_EQ(refusal(0), "fine");
    if (name == std::string("local_context")) {
      EXPECT_THAT(refusal(4096), HasSubstr("was trained to read 4096 tokens at once"));
    } else {
      EXPECT_EQ(refusal(4096), "fine");
    }
  }
}

TEST_F(LoraSessionTest, a_window_holds_its_kept_tokens) {
  for (const char* name : {"local_context", "train_segment", "input_tokens"}) {
    Params params = request_.params;
    params.set("local_context", int64_t{24});
    params.set("memory", std::string("infini"));
    params.set("kept_tokens", int64_t{8});
    params.set(name, int64_t{6000});
    const auto refusal = [&](int64_t context) {
      const Status status =
          LoraSpec().check_backbone(params, {.architecture = "llama", .context = context});
      return status.ok() ? "fine" : status.error().message;
    };
    if (name == std::string("input_tokens")) {
      EXPECT_EQ(refusal(6007), "fine") << "these are what passes through";
    } else {
      EXPECT_THAT(refusal(6007), HasSubstr("6000 behind 8 'kept_tokens'; a sequence has 6007"));
    }
    EXPECT_EQ(refusal(6008), "fine");
  }
}

TEST_F(LoraSessionTest, training_on_more_than_the_window_is_refused) {
  const LoraSpec spec;
  const BackboneFacts small = {.architecture = "llama", .context = 64};
  Params params = request_.params;
  params.set("train_tokens", int64_t{1024});  // when left out
  EXPECT_TRUE(spec.check_backbone(params, small).ok());
  params.set("train_tokens", int64_t{1025});
  EXPECT_EQ(spec.check_backbone(params, small).error().message,
            "'train_tokens' is 1025; a sequence has 64 tokens at most");
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

// Sessions of parallel_adapter, prompt_tuning and ideal on tiny models: what is learned, kept,
// continued after a crash, and written with.
#include "methods/ideal/sessions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "methods/ideal/specs.h"
#include "methods/models/checkpoints/safetensors.h"
#include "methods/models/prompted/prompted_model.h"
#include "tests/support/trained_session.h"

namespace qfs::ideal {
namespace {

using ::qfs::test::Curve;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kPrompt = "Q: {query}\nD: {document}\nA:";

const MethodSpec& spec_named(const std::string& name) {
  static const ParallelAdapterSpec kParallel;
  static const PromptTuningSpec kPrompts;
  static const IdealSpec kIdeal;
  if (name == "parallel_adapter") return kParallel;
  if (name == "prompt_tuning") return kPrompts;
  return kIdeal;
}

SessionFactory factory_named(const std::string& name) {
  for (SessionFactory& factory : session_factories()) {
    if (factory.method == name) return factory;
  }
  return {};
}

class IdealSessionsTest : public qfs::test::TrainedSessionTest {
 protected:
  IdealSessionsTest() : TrainedSessionTest(spec_named("ideal"), factory_named("ideal")) {
    use_llama({.layers = 4}, kPrompt);
    request_.params.set("train_batch", int64_t{2});
  }
  void use_method(const std::string& name) {
    use(spec_named(name), factory_named(name));
    request_.params.set("prompt", std::string(kPrompt));
  }
  std::string trained_bytes(const std::string& name) {
    return *read_file(folder_ / (name + "/adapter.safetensors"));
  }
  std::map<std::string, std::string> metadata(const std::string& name) {
    const auto file = checkpoints::open_safetensors(folder_ / (name + "/adapter.safetensors"));
    EXPECT_TRUE(file.ok());
    return (*file)->metadata();
  }
  void write_with(const std::string& name) {
    request_.artifacts["adapter"] = {"", folder_ / (name + "/adapter.safetensors"), ""};
  }
};

/// GoogleTest runs suites of this name before others, while this process has passed no failpoint.
using IdealSessionsDeathTest = IdealSessionsTest;

TEST_F(IdealSessionsDeathTest, a_kill_is_continued_to_the_same_bytes) {
  expect_kills_change_nothing({"training.step:2", "training.after_checkpoint:1"},
                              "adapter.safetensors");
}

TEST_F(IdealSessionsTest, baselines_learn_what_they_then_write) {
  for (const std::string name : {"parallel_adapter", "prompt_tuning"}) {
    SCOPED_TRACE(name);
    use_method(name);
    request_.artifacts.clear();
    request_.params.set("steps", int64_t{80});
    request_.params.set("learning_rate", name == "prompt_tuning" ? 0.1 : 0.02);
    Curve curve;
    const auto outcome = fit(name, curve);
    ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
    EXPECT_LT(curve.last("development.loss"), curve.first("loss") / 2);
    // 4 layers of width 32 with a bottleneck of 16; 2 of them with 10 rows and a gate for 4 heads.
    EXPECT_EQ(outcome->cost.trainable_parameters,
              name == "prompt_tuning" ? 2 * (10 * 32 + 4) : 4 * (2 * 16 * 32 + 16 + 32));
    EXPECT_FALSE(curve.points.front().values.contains("generated.beside"));
    write_with(name);
    EXPECT_THAT(output(), HasSubstr("abc"));
  }
}

TEST_F(IdealSessionsTest, generated_adapters_of_every_kind_learn) {
  for (const std::string adapter : {"lora", "parallel_adapter", "prompt"}) {
    SCOPED_TRACE(adapter);
    request_.artifacts.clear();
    request_.params.set("adapter", adapter);
    request_.params.set("steps", int64_t{80});
    if (adapter == "prompt") request_.params.set("first_layer", int64_t{0});
    Curve curve;
    const auto outcome = fit(adapter, curve);
    ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
    EXPECT_LT(curve.last("development.loss"), 0.75 * curve.first("loss"));
    EXPECT_FALSE(metadata(adapter).contains("qfs.dead_hypernetwork"));
    write_with(adapter);
    EXPECT_THAT(output(), HasSubstr("a"));
  }
}

TEST_F(IdealSessionsTest, all_layers_may_be_generated_from_the_first_on) {
  request_.params.set("generated_layers", int64_t{4});
  request_.params.set("steps", int64_t{20});
  Curve all;
  const auto outcome = fit("all", all);
  ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
  EXPECT_LT(all.last("development.loss"), all.first("loss"));
  EXPECT_GT(all.last("generated.q_l1"), 100 * all.first("generated.q_l1"));
  write_with("all");
  const auto of = [&](const std::string& query) {
    return nlohmann::json::parse(predictions({example(3, query)}).front().extra.text)
        .at("observed")
        .at("generated_norm")
        .get<double>();
  };
  EXPECT_GT(of("why?"), 0);
  EXPECT_NE(of("why?"), of("who was there?"));
}

TEST_F(IdealSessionsTest, half_precision_is_dead_and_said_to_be) {
  request_.params.set("hyper_precision", std::string("fp16_as_released"));
  Curve dead;
  ASSERT_TRUE(fit("dead", dead).ok());
  for (const char* value : {"generated.q_l1", "generated.ffn_up_l1", "generated.beside"}) {
    EXPECT_EQ(dead.last(value), 0) << value;
  }
  EXPECT_EQ(metadata("dead").at("qfs.dead_hypernetwork"), "ffn_up_l1,k_l1,o_l1,q_l1,v_l1");
  EXPECT_EQ(dead.last("warning.dead_hypernetwork"), 1);
  write_with("dead");
  const auto warned = [&] {
    return nlohmann::json::parse(predictions({example(3)}).front().extra.text)
        .at("observed")
        .contains("warning.dead_hypernetwork");
  };
  EXPECT_TRUE(warned());
  request_.artifacts.clear();

  request_.params.set("hyper_precision", std::string("fp32"));
  Curve alive;
  ASSERT_TRUE(fit("alive", alive).ok());
  EXPECT_GT(alive.first("generated.q_l1"), 0);
  EXPECT_LT(alive.first("generated.q_l1"), 1e-5);
  EXPECT_GT(alive.last("generated.q_l1"), 100 * alive.first("generated.q_l1"));
  EXPECT_FALSE(metadata("alive").contains("qfs.dead_hypernetwork"));
  write_with("alive");
  EXPECT_FALSE(warned());
  request_.artifacts.clear();
  EXPECT_FALSE(alive.points.back().values.contains("warning.dead_hypernetwork"));

  // What is dead learns what the control without a hypernetwork learns, but for its dropout, which
  // falls on zeros.
  request_.params.set("generated", std::string("none"));
  Curve control;
  const auto outcome = fit("control", control);
  ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
  EXPECT_NEAR(control.last("development.loss"), dead.last("development.loss"), 1e-4);
  EXPECT_NE(control.last("development.loss"), alive.last("development.loss"));
  EXPECT_EQ(outcome->cost.trainable_parameters, 2 * 8 * (64 + 48 + 48 + 64 + 96));
}

TEST_F(IdealSessionsTest, half_precision_leaves_biases_of_parallel_adapters_alive) {
  request_.params.set("hyper_precision", std::string("fp16_as_released"));
  request_.params.set("adapter", std::string("prompt"));
  Curve prompts;
  ASSERT_TRUE(fit("prompts", prompts).ok());
  EXPECT_EQ(prompts.last("generated.prompt_weight"), 0);
  EXPECT_EQ(metadata("prompts").at("qfs.dead_hypernetwork"), "prompt_weight");

  request_.params.set("adapter", std::string("parallel_adapter"));
  Curve parallel;
  ASSERT_TRUE(fit("parallel", parallel).ok());
  EXPECT_GT(parallel.first("generated.bias_up"), 0);
  for (const char* weight : {"generated.weight_down", "generated.weight_up"}) {
    EXPECT_EQ(parallel.first(weight), 0) << weight;
    EXPECT_GT(parallel.last(weight), 0) << "the bias moved the encoders that all share";
  }
}

TEST_F(IdealSessionsTest, rows_of_a_batch_have_the_adapters_of_their_instructions) {
  request_.params.set("steps", int64_t{20});
  request_.params.set("hyper_detach", false);
  data_.train.clear();
  for (int64_t i = 0; i < 10; ++i) {
    data_.train.push_back(example(i, i % 2 == 0 ? "why?" : "who was there?"));
    data_.train.back().example.references = {i % 2 == 0 ? "abcabc" : "xyzxyz"};
  }
  Curve curve;
  ASSERT_TRUE(fit("a", curve).ok());
  write_with("a");
  const std::vector<NumberedExample> both = {example(3, "why?"), example(4, "who was there?")};
  const auto together = outputs(both);
  ASSERT_EQ(together.size(), 2U);
  EXPECT_EQ(together[0], outputs({both[0]}).front());
  EXPECT_EQ(together[1], outputs({both[1]}).front());
  EXPECT_NE(together[0], together[1]);
}

TEST_F(IdealSessionsTest,
       outputs_say_how_much_was_generated_and_how_much_it_depends_on_the_request) {
  request_.params.set("steps", int64_t{20});
  Curve curve;
  ASSERT_TRUE(fit("a", curve).ok());
  write_with("a");
  const auto said = [&](const std::vector<NumberedExample>& unit) {
    const auto facts = nlohmann::json::parse(predictions(unit).front().extra.text).at("observed");
    return std::pair(facts.at("generated_norm").get<double>(),
                     facts.at("likeness_to_general").get<double>());
  };
  const auto [norm, likeness] = said({example(3, "why?")});
  EXPECT_GT(norm, 0);
  EXPECT_LT(likeness, 1 - 1e-6);
  EXPECT_GT(likeness, -1);
  EXPECT_NEAR(said({example(3, "")}).second, 1, 1e-6);
  request_.params.set("hyper_instruction", std::string("general"));
  const auto [general_norm, general_likeness] = said({example(3, "why?")});
  EXPECT_NEAR(general_likeness, 1, 1e-6);
  EXPECT_NE(general_norm, norm);
}

TEST_F(IdealSessionsTest, weights_of_the_general_request_depend_on_no_other_example) {
  request_.params.set("prompt", std::string("D: {document}\nQ: {query}\nA:"));
  request_.params.set("steps", int64_t{20});
  Curve curve;
  ASSERT_TRUE(fit("a", curve).ok());
  write_with("a");
  request_.params.set("hyper_instruction", std::string("general"));
  const NumberedExample two = example(4);
  const auto norm = [](const Prediction& made) {
    return nlohmann::json::parse(made.extra.text).at("observed").at("generated_norm");
  };
  EXPECT_EQ(norm(predictions({example(3), two}).back()), norm(predictions({two}).front()));
}

TEST_F(IdealSessionsTest, weights_may_be_of_another_instruction) {
  request_.params.set("steps", int64_t{20});
  Curve curve;
  ASSERT_TRUE(fit("a", curve).ok());
  write_with("a");
  NumberedExample shuffled = example(3, "why?");
  shuffled.example.other_query = "who was there?";
  NumberedExample asking = example(3, "who was there?");
  asking.ordinal = 4;
  NumberedExample own = example(3, "why?");
  own.ordinal = 5;
  const auto made = predictions({shuffled, own, asking});
  const auto facts = [&](size_t i) {
    return nlohmann::json::parse(made.at(i).extra.text).at("observed");
  };
  const auto norm = [&](size_t i) { return facts(i).at("generated_norm"); };
  EXPECT_EQ(made.at(0).prompt, made.at(1).prompt);
  EXPECT_EQ(norm(0), norm(2));
  EXPECT_NE(norm(0), norm(1));
  EXPECT_LT(facts(0).at("likeness_to_own"), 1 - 1e-6);
  EXPECT_FALSE(facts(1).contains("likeness_to_own"));
  asking.example.other_query = "who was there?";
  EXPECT_NEAR(nlohmann::json::parse(predictions({asking}).front().extra.text)
                  .at("observed")
                  .at("likeness_to_own")
                  .get<double>(),
              1, 1e-6);

  const MethodSpec& spec = spec_named("ideal");
  EXPECT_TRUE(spec.needs(request_.params).instruction);
  request_.params.set("hyper_instruction", std::string("general"));
  EXPECT_FALSE(spec.needs(request_.params).instruction);

  request_.params.set("hyper_instruction", std::string("own"));
  request_.params.set("generated", std::string("none"));
  request_.artifacts.clear();
  ASSERT_TRUE(fit("control", curve).ok());
  write_with("control");
  qfs::test::RecordingSink sink;
  ResourceCache cache;
  auto session = sessions_.open(request_, cache);
  ASSERT_TRUE(session.ok());
  EXPECT_THAT((*session)->run(std::vector{shuffled}, sink).error().message,
              HasSubstr("no hypernetwork"));
  request_.params.set("hyper_instruction", std::string("general"));
  auto general = sessions_.open(request_, cache);
  ASSERT_TRUE(general.ok());
  EXPECT_THAT((*general)->run(std::vector{own}, sink).error().message,
              HasSubstr("no hypernetwork"));
}

TEST_F(IdealSessionsTest, memory_policies_and_types_learn_the_same) {
  Curve kept;
  ASSERT_TRUE(fit("kept", kept).ok());
  request_.params.set("recompute", true);
  Curve again;
  ASSERT_TRUE(fit("again", again).ok());
  EXPECT_NEAR(again.last("loss"), kept.last("loss"), 1e-3);
  request_.params.set("train_dtype", std::string("bfloat16"));
  Curve rounded;
  ASSERT_TRUE(fit("rounded", rounded).ok());
  EXPECT_NEAR(rounded.last("loss"), kept.last("loss"), 0.5);
}

TEST_F(IdealSessionsTest, the_ablations_are_what_they_say) {
  struct Trained {
    double loss;
    double norm;  ///< of a generated tensor at first
    std::shared_ptr<const checkpoints::Checkpoint> file;

    std::vector<int64_t> shape(const std::string& name) const {
      const auto* entry = file->find("lora_hyper_net." + name);
      return entry == nullptr ? std::vector<int64_t>() : entry->shape;
    }
  };
  int trained = 0;
  const auto train_with = [&](const std::string& param, const ParamValue& value) {
    const Params before = request_.params;
    const std::string name = "trained-" + std::to_string(++trained);
    request_.artifacts.clear();
    request_.params.set("steps", int64_t{6});
    request_.params.set(param, value);
    Curve curve;
    const auto outcome = fit(name, curve);
    EXPECT_TRUE(outcome.ok()) << param << ": " << outcome.error().to_string();
    write_with(name);
    EXPECT_EQ(outputs({example(3)}).size(), 1U) << param;
    request_.params = before;
    return Trained{curve.last("loss"), curve.first("generated.q_l1"),
                   *checkpoints::open_safetensors(folder_ / (name + "/adapter.safetensors"))};
  };
  using Shape = std::vector<int64_t>;
  const std::string encoder = "encoder.linear0.weight";
  const Trained own = train_with("hyper_encoder", std::string("own"));
  EXPECT_EQ(own.shape(encoder), (Shape{2 * 64, 32}));
  EXPECT_EQ(train_with("hyper_encoder", std::string("common")).shape(encoder), (Shape{64, 32}));
  const Trained serial = train_with("hyper_encoder", std::string("serial"));
  EXPECT_EQ(serial.shape("encoders.1.linear0.weight"), (Shape{64, 32}));
  EXPECT_EQ(train_with("generated_layers", int64_t{1}).shape(encoder), (Shape{64, 32}));
  const Trained pooled = train_with("pooling", std::string("document"));
  const Trained all = train_with("pooling", std::string("all"));
  EXPECT_EQ(own.shape("norm.weight"), Shape{32});
  EXPECT_EQ(train_with("pooling", std::string("both")).shape("norm.weight"), Shape{64});
  const Trained attached = train_with("hyper_detach", false);
  for (const Trained* other : {&pooled, &all, &attached}) EXPECT_NE(other->loss, own.loss);
  EXPECT_NE(pooled.loss, all.loss);
  EXPECT_NE(train_with("hyper_precision", std::string("bf16")).norm, own.norm);
  const Trained targets = train_with("targets", std::string("q_proj,v_proj,down_proj"));
  EXPECT_NE(targets.shape("decoder.ffn_down_l1.weight"), Shape());
  EXPECT_EQ(targets.shape("decoder.k_l1.weight"), Shape());
}

TEST_F(IdealSessionsTest, a_training_begins_with_adapters) {
  Curve first;
  ASSERT_TRUE(fit("first", first).ok());
  write_with("first");
  request_.params.set("learning_rate", 0.0);
  Curve second;
  ASSERT_TRUE(fit("second", second).ok());
  EXPECT_NEAR(second.last("development.loss"), first.last("development.loss"), 1e-5);
  request_.params.set("rank", int64_t{4});
  EXPECT_THAT(refusal(), HasSubstr("of other adapters than the training's"));
}

TEST_F(IdealSessionsTest, generated_adapters_learn_with_either_memory) {
  Curve plain;
  ASSERT_TRUE(fit("plain", plain).ok());
  for (const std::string memory : {"infini", "qf_infini"}) {
    SCOPED_TRACE(memory);
    request_.params.set("memory", memory);
    request_.params.set("local_context", int64_t{24});
    request_.params.set("train_segment", int64_t{24});
    request_.params.set("repeat_query", true);
    request_.params.set("steps", int64_t{80});
    write_with("plain");  // which has no memory: one begins here
    Curve curve;
    const auto outcome = fit(memory, curve);
    ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
    EXPECT_LT(curve.last("development.loss"), 0.75 * curve.first("loss"));
    EXPECT_FALSE(metadata(memory).contains("qfs.dead_hypernetwork")) << "it began alive";
    write_with(memory);
    EXPECT_THAT(output(), HasSubstr("a"));
  }
  const auto file = checkpoints::open_safetensors(folder_ / "qf_infini/adapter.safetensors");
  ASSERT_TRUE(file.ok());
  EXPECT_NE((*file)->find("llama.layers.3.attention.gate_memory.weight"), nullptr);
  // One that reads with the memory it was not trained with would be another model.
  ResourceCache cache;
  request_.params.set("memory", std::string("infini"));
  EXPECT_THAT(sessions_.open(request_, cache).error().message,
              HasSubstr("is of a query-focused memory, which was not asked for"));
  request_.params.set("memory", std::string("none"));
  EXPECT_THAT(sessions_.open(request_, cache).error().message,
              HasSubstr("was trained with a memory"));
  EXPECT_THAT(refusal(), HasSubstr("it has a memory, which the training does not"));
}

TEST_F(IdealSessionsTest, a_query_lies_in_the_first_segment_of_a_memory_that_asks_by_it) {
  request_.params.set("memory", std::string("qf_infini"));
  request_.params.set("local_context", int64_t{24});
  Curve curve;
  for (const std::string memory : {"qf_infini", "infini"}) {
    SCOPED_TRACE(memory);
    request_.params.set("memory", memory);
    request_.params.set("local_context", int64_t{24});
    request_.params.set("train_segment", int64_t{6});
    EXPECT_THAT(refusal(),
                HasSubstr("the first segment, which " +
                          std::string(memory == "infini" ? "the hypernetwork pools" : "asks")));
    request_.params.set("train_segment", int64_t{24});
    request_.params.set("steps", int64_t{1});
    ASSERT_TRUE(fit(memory, curve).ok());
    write_with(memory);
    request_.params.set("local_context", int64_t{6});
    ResourceCache cache;
    const auto session = sessions_.open(request_, cache);
    ASSERT_TRUE(session.ok()) << session.error().to_string();
    qfs::test::RecordingSink sink;
    EXPECT_THAT((*session)->run({{example(9)}}, sink).error().message,
                HasSubstr("('local_context')"));
    request_.artifacts.clear();
  }
}

TEST_F(IdealSessionsTest, what_does_not_fit_is_refused) {
  request_.params.set("steps", int64_t{1});
  Curve curve;
  ASSERT_TRUE(fit("a", curve).ok());
  const auto open = [&] {
    ResourceCache cache;
    const auto session = sessions_.open(request_, cache);
    return session.ok() ? "opened" : session.error().to_string();
  };
  EXPECT_THAT(open(), HasSubstr("no adapter was given"));
  write_with("a");
  EXPECT_EQ(open(), "opened");
  request_.params.set("adapter", std::string("prompt"));
  EXPECT_THAT(open(), HasSubstr("another kind than the cell's"));
  request_.params.set("adapter", std::string("lora"));
  request_.params.set("rank", request_.params.get<int64_t>("rank") + 1);
  EXPECT_THAT(open(), HasSubstr("their recipe says"));
  request_.params.set("rank", request_.params.get<int64_t>("rank") - 1);
  use_llama({.layers = 4, .seed = 5}, kPrompt);
  EXPECT_THAT(open(), HasSubstr("'local:x' is " + request_.backbone->digest));
  use_llama({.layers = 6}, kPrompt);
  EXPECT_THAT(open(), HasSubstr("adapter.safetensors"));
  request_.artifacts.clear();
  const Params whole = request_.params;
  request_.params.set("generated_layers", int64_t{7});
  EXPECT_THAT(refusal(), HasSubstr("the backbone has 6"));
  request_.params = whole;
  request_.params.set("first_layer", int64_t{5});
  EXPECT_THAT(refusal(), HasSubstr("5 of 6 layers; behind it is no upper half to generate"));
  request_.params = whole;
  request_.params.set("generated_layers", int64_t{2});
  request_.params.set("targets", std::string("q_prj"));
  EXPECT_THAT(refusal(), HasSubstr("did you mean 'q_proj'?"));
  request_.params.set("targets", std::string("q_proj"));
  request_.params.set("prompt", std::string("{document}:"));
  EXPECT_THAT(refusal(), HasSubstr("does not show its query"));
}

/// What the tokens of a span say.
std::string text_of(const prompted::Prompts& prompts, const nn::SequenceInput& input,
                    const nn::TokenSpan& span) {
  const std::span<const int32_t> ids = input.ids;
  return prompts.backbone->tokenizer->decode(
      ids.subspan(static_cast<size_t>(span.first), static_cast<size_t>(span.count)));
}

TEST_F(IdealSessionsTest, prompts_know_where_their_query_and_document_stand) {
  const auto expect_places = [&] {
    ResourceCache cache;
    const auto prompts = prompted::open_prompts(request_, cache);
    ASSERT_TRUE(prompts.ok()) << prompts.error().to_string();
    const auto prompt = prompts->maker.prepare(example(0, "D: why?").example, 8);
    ASSERT_TRUE(prompt.ok()) << prompt.error().to_string();
    EXPECT_EQ(text_of(*prompts, prompt->input, prompt->input.query), "D: why?");
    EXPECT_EQ(text_of(*prompts, prompt->input, prompt->input.document),
              "Ann: line 0\nAnn: line 0\nAnn: line 0");
  };
  expect_places();
  use_llama({.chat_template = "D: why? {% for m in messages %}<|im_start|>{{ m.content | trim }}"
                              "<|im_end|>{% endfor %}"},
            "  Q: {query}\nD: {document}\nA: ");
  request_.params.set("chat", true);
  expect_places();
}

}  // namespace
}  // namespace qfs::ideal

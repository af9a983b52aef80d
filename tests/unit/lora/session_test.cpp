// Sessions of lora on tiny models: what is learned, kept, continued after a crash, and written
// with.
#include <cmath>

#include "methods/models/architectures/backbone.h"
#include "methods/models/checkpoints/safetensors.h"
#include "methods/models/nn/decoder.h"
#include "methods/models/peft/lora.h"
#include "metrics/rouge/rouge_scorer.h"
#include "tests/unit/lora/lora_session.h"

namespace qfs::lora {
namespace {

using ::qfs::test::Curve;
using ::qfs::test::TinyLlama;
using ::qfs::test::TinySeq2Seq;
using ::testing::HasSubstr;

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

TEST_F(LoraSessionTest, a_step_is_counted_by_hand) {
  use_llama();
  request_.params.set("steps", int64_t{1});
  request_.params.set("train_batch", int64_t{1});
  request_.params.set("evaluate_every", int64_t{0});
  data_.train.resize(1);
  data_.development.clear();
  Curve curve;
  const auto outcome = fit("a", curve);
  ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
  const int64_t tokens = outcome->cost.tokens;
  // Two layers of width 32, keys and values of 16, an MLP of 64; a blank, "abcabc" and the end are
  // labels.
  const int64_t products = 2 * 2 * (2 * 32 * 32 + 2 * 32 * 16 + 3 * 32 * 64) * tokens;
  const int64_t attention = 2 * 4 * 32 * tokens * (tokens + 1) / 2;
  const int64_t head = 2 * 32 * 258 * 8;
  EXPECT_EQ(outcome->cost.flops, 2 * products + 7 * attention / 2 + 2 * head);
}

TEST_F(LoraSessionTest, a_summary_behind_pieces_is_one_itself) {
  use_llama();
  request_.params.set("steps", int64_t{1});
  request_.params.set("train_tokens", int64_t{400});  // nothing is cut
  Curve curve;
  const auto whole = fit("whole", curve);
  ASSERT_TRUE(whole.ok());
  request_.params.set("prompt_pieces", true);
  const auto pieces = fit("pieces", curve);
  ASSERT_TRUE(pieces.ok());
  // Without the blank that a text is gone on with, in each of four.
  EXPECT_EQ(pieces->cost.tokens, whole->cost.tokens - 4);

  Params recipe;
  recipe.set("prompt", std::string("{document}"));
  EXPECT_THAT(LoraSpec().check_file(request_.params, recipe).error().message,
              HasSubstr("'prompt_pieces' is not as the file was trained"));
  recipe.set("prompt_pieces", true);
  EXPECT_TRUE(LoraSpec().check_file(request_.params, recipe).ok());
  request_.params.set("repeat_query", true);
  EXPECT_THAT(LoraSpec().check_file(request_.params, recipe).error().message,
              HasSubstr("'repeat_query' is not as the file was trained"));
  recipe.set("repeat_query", true);
  EXPECT_TRUE(LoraSpec().check_file(request_.params, recipe).ok());
}

TEST_F(LoraSessionTest, what_is_written_may_choose) {
  use_llama();
  request_.params.set("save_dtype", std::string("bfloat16"));
  request_.params.set("steps", int64_t{60});
  request_.params.set("evaluate_every", int64_t{20});
  for (NumberedExample& one : data_.train) one.example.references = {"abc abc"};
  for (NumberedExample& one : data_.development) one.example.references = {"nothing", "abc abc"};
  const Params training = request_.params;
  struct Case {
    std::string name;
    std::string score;
    int64_t beams;
    int64_t least;  // tokens of an output
  };
  std::set<double> found;
  for (const Case& one : {Case{"rouge1", "rouge1", 1, 0}, Case{"rouge_sum", "rouge_sum", 1, 0},
                          Case{"searched", "rouge1", 3, 7}}) {
    SCOPED_TRACE(one.name);
    request_.params = training;
    request_.params.set("select_by", one.score);
    if (one.beams > 1) {
      request_.params.set("select_num_beams", one.beams);
      request_.params.set("select_min_new_tokens", one.least);
    }
    request_.artifacts.clear();
    Curve curve;
    const auto outcome = fit(one.name, curve);
    ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
    EXPECT_EQ(curve.points.front().values.count("development." + one.score), 0U);
    double best = 0;
    for (const size_t step : {19, 39, 59}) {
      best = std::max(best, curve.points[step].values.at("development." + one.score));
    }
    EXPECT_TRUE(found.insert(best).second);

    // The kept file writes what was scored when it was chosen.
    request_.artifacts["adapter"] = {"", folder_ / (one.name + "/adapter_model.safetensors"), ""};
    request_.params.set("max_new_tokens", request_.params.get<int64_t>("label_tokens"));
    request_.params.set("local_context", request_.params.get<int64_t>("train_tokens"));
    request_.params.set("num_beams", one.beams);
    request_.params.set("min_new_tokens", one.least);
    double sum = 0;
    for (const NumberedExample& example : data_.development) {
      metrics::RougeScorer rouge;
      const std::vector<std::string> texts = outputs({example});
      ASSERT_EQ(texts.size(), 1U);
      const auto scores = *rouge.score_multi(example.example.references, texts.front());
      sum += scores.rouge1.f;
      if (one.score == "rouge_sum") sum += scores.rouge2.f + scores.rougeL.f;
    }
    EXPECT_GT(best, 0);
    EXPECT_NEAR(sum / 3, best, 1e-12);
  }
}

TEST_F(LoraSessionTest, nothing_is_chosen_by_examples_that_are_not_there) {
  use_llama();
  data_.development.clear();
  const Params training = request_.params;
  const auto refusal = [&](const std::string& name, ParamValue value) {
    request_.params = training;
    request_.params.set(name, std::move(value));
    Curve curve;
    const auto outcome = fit(name, curve);
    return outcome.ok() ? "learned" : outcome.error().message;
  };
  for (const auto& message : {refusal("patience", int64_t{2}), refusal("halve_after", int64_t{5}),
                              refusal("select_by", std::string("rouge1"))}) {
    EXPECT_THAT(message, HasSubstr("'training' has no 'development'"));
  }
  EXPECT_EQ(refusal("select_by", std::string("loss")), "learned");
}

TEST_F(LoraSessionTest, layers_that_are_computed_again_have_the_bits_of_those_that_are_kept) {
  use_llama();
  Curve kept;
  ASSERT_TRUE(fit("kept", kept).ok());
  request_.params.set("recompute", true);
  Curve again;
  ASSERT_TRUE(fit("again", again).ok());
  EXPECT_EQ(again.first("loss"), kept.first("loss"));
}

TEST_F(LoraSessionTest, steps_and_epochs_are_not_given_together) {
  Params params = request_.params;
  params.set("steps", int64_t{3});
  EXPECT_TRUE(LoraSpec().validate(params).ok());
  params.set("epochs", int64_t{2});
  const Status refused = LoraSpec().validate(params);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("'steps' and 'epochs'"));
}

TEST_F(LoraSessionTest, an_epoch_of_whole_batches_has_no_step_for_the_rest) {
  use_llama();
  Params params;
  for (const auto& [name, value] : request_.params.values()) {
    if (name != "steps") params.set(name, value);
  }
  request_.params = std::move(params);
  const auto examples = static_cast<int64_t>(data_.train.size());
  request_.params.set("train_batch", examples - 1);
  request_.params.set("epochs", int64_t{3});
  Curve curve;
  const auto all = fit("all", curve);
  ASSERT_TRUE(all.ok()) << all.error().to_string();
  EXPECT_EQ(all->cost.steps, (3 * examples + examples - 2) / (examples - 1));
  request_.params.set("whole_batches", true);
  const auto whole = fit("whole", curve);
  ASSERT_TRUE(whole.ok()) << whole.error().to_string();
  EXPECT_EQ(whole->cost.steps, 3);
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
  recipe.set("rank", true);  // a file may say anything
  EXPECT_EQ(LoraSpec().check_init(request_.params, recipe).error().message,
            "its rank is true, the training's 4");
  request_.params.set("rank", int64_t{8});
  request_.params.set("alpha", 16.0);
  EXPECT_THAT(refusal(), HasSubstr("its alpha / rank is 1.0, the training's 2.0"));
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

}  // namespace
}  // namespace qfs::lora

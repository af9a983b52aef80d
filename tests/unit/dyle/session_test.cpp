// The sessions of dyle on tiny models: what both models learn, what is kept, continued after a
// crash, and written with.
#include "methods/dyle/session.h"

#include <ATen/ops/equal.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>
#include <utility>

#include "methods/dyle/session_losses.h"
#include "methods/dyle/spec.h"
#include "methods/models/checkpoints/safetensors.h"
#include "methods/models/peft/tensor_files.h"
#include "methods/models/ranking/scorer_tensors.h"
#include "methods/models/registry/registry.h"
#include "tests/support/dyle_session.h"
#include "tests/support/tiny_seq2seq.h"

namespace qfs::dyle {
namespace {

using ::qfs::test::Curve;
using ::testing::HasSubstr;

const DyleSpec& the_spec() { return qfs::test::dyle_spec(); }

using DyleSessionTest = qfs::test::DyleSessionTest;

/// GoogleTest runs suites of this name before others, while this process has passed no failpoint.
using DyleSessionDeathTest = DyleSessionTest;

TEST_F(DyleSessionDeathTest, a_kill_is_continued_to_the_same_bytes) {
  request_.params.set("steps", int64_t{5});
  request_.params.set("checkpoint_every", int64_t{1});
  request_.params.set("extractor_steps", int64_t{1});  // counts of steps differ, too
  const std::vector<std::string> kinds = {"lora", "weights"};
  const auto fitted = [&](const std::string& kind, const std::string& name) {
    request_.params.set("trained", kind);
    Curve curve;
    EXPECT_TRUE(fit(name + kind, curve).ok());
    return curve.points;
  };
  const auto killed = [&](const std::string& kind) {
    ::setenv("QFS_FAILPOINT", "training.step:4", 1);
    static_cast<void>(fitted(kind, "killed-"));
  };
  for (const std::string& kind : kinds) {
    EXPECT_EXIT(killed(kind), ::testing::KilledBySignal(SIGKILL), "");
  }
  for (const std::string& kind : kinds) {
    EXPECT_EQ(fitted(kind, "killed-"), fitted(kind, "whole-"));
    EXPECT_EQ(*read_file(trained_path("killed-" + kind)),
              *read_file(trained_path("whole-" + kind)));
  }
}

TEST_F(DyleSessionTest, both_models_learn_and_then_write) {
  const Curve curve = trained("a", 60);
  EXPECT_LT(curve.last("loss.generation"), curve.first("loss.generation") / 2);
  EXPECT_LT(curve.last("loss.oracle"), curve.first("loss.oracle") / 2);
  EXPECT_LT(curve.last("development.loss"), curve.first("loss.generation") / 10);
  EXPECT_GE(curve.last("loss.consistency"), 0);
  EXPECT_GT(curve.last("gate.entropy"), 0);
  EXPECT_LE(curve.last("gate.entropy"), 1.0987);  // log 3
  const Prediction prediction = predicted(meeting(30));
  EXPECT_THAT(prediction.text, HasSubstr("us"));
  EXPECT_EQ(prediction.truncation->document_tokens > prediction.truncation->kept_tokens, true);
  // The turn that the summary is about comes first.
  EXPECT_EQ(extra_of(meeting(30)).at("snippets").at(0), 2);
  // Rank 8 over 2 layers of width 32 (q, k, v, o, up) and of 16 (4 of attention and the MLP's
  // first), the score head and the gate.
  const int64_t generator = 2 * 8 * (64 + 48 + 48 + 64 + 96);
  const int64_t extractor = 2 * 8 * (4 * 32 + 16 + 24);
  Curve again;
  EXPECT_EQ(fit("a", again)->cost.trainable_parameters,
            generator + extractor + 17 + 2 * (32 * 32 + 32) + 33);
}

TEST_F(DyleSessionTest, the_extractor_can_learn_alone_first) {
  request_.params.set("extractor_steps", int64_t{6});
  const Curve curve = trained("first", 8);
  EXPECT_FALSE(curve.points[5].values.contains("loss.generation"));
  EXPECT_TRUE(curve.points[6].values.contains("loss.generation"));
  EXPECT_LT(curve.points[5].values.at("loss.oracle"), curve.points[0].values.at("loss.oracle"));
}

TEST_F(DyleSessionTest, what_learns_later_begins_as_adam_begins) {
  // Without a gradient in the steps of the extractor alone, a tensor's first step is its first.
  request_.params.set("extractor_steps", int64_t{6});
  request_.params.set("schedule", std::string("constant"));
  request_.params.set("warmup", 0.0);
  request_.params.set("weight_decay", 0.5);
  request_.params.set("evaluate_every", int64_t{0});
  trained("late", 7);
  const auto file = checkpoints::open_safetensors(trained_path("late"));
  const training::NamedTensors gate = new_gate(32, request_.seed);
  double most = 0;
  for (const checkpoints::TensorEntry& entry : (*file)->tensors()) {
    at::Tensor moved = *peft::read_tensor(**file, entry);
    const bool of_gate = gate.contains(entry.name);
    const bool up = entry.name.starts_with("generator.") && entry.name.ends_with("lora_B.weight");
    if (!of_gate && !up) continue;  // these began as zeros
    if (of_gate) {
      // The decay of this one step.
      const double left = moved.dim() < 2 ? 1 : 1 - 0.02 * 0.5;
      moved = moved - gate.at(entry.name) * left;
    }
    const double largest = moved.abs().max().item<double>();
    EXPECT_LE(largest, 0.02 * 1.0001) << entry.name;  // the learning rate
    most = std::max(most, largest);
  }
  EXPECT_GT(most, 0.0195);
}

TEST_F(DyleSessionTest, epochs_leave_steps_for_the_generator_or_nothing_is_trained) {
  Params params;
  for (const auto& [name, value] : request_.params.values()) {
    if (name != "steps") params.set(name, value);
  }
  request_.params = std::move(params);
  request_.params.set("extractor_steps", int64_t{3});  // six examples, two a step
  EXPECT_THAT(refusal(), HasSubstr("'extractor_steps' is 3 of 3 steps"));
  request_.params.set("epochs", int64_t{2});
  EXPECT_EQ(refusal(), "trained");
}

TEST_F(DyleSessionTest, steps_without_an_oracle_leave_the_extractor_as_it_is) {
  request_.params.set("extractor_steps", int64_t{2});
  request_.params.set("weight_decay", 0.5);
  request_.params.set("data_order", std::string("file"));
  request_.params.set("evaluate_every", int64_t{0});
  data_.train = {meeting(0), meeting(1), meeting(2)};
  for (NumberedExample& one : data_.train) one.example.references = {"zzz"};
  const auto head_after = [&](const std::string& name, int64_t steps) {
    trained(name, steps);
    const auto file = checkpoints::open_safetensors(trained_path(name));
    return *peft::read_tensor(**file, *(*file)->find("classifier.weight"));
  };
  training::NamedTensors first;
  ranking::add_linear("classifier", 1, 16, request_.seed, first);
  request_.params.set("prior", std::string("static"));  // whose loss does not reach the extractor
  EXPECT_TRUE(at::equal(head_after("static", 4), first.at("classifier.weight")));
  request_.params.set("prior", std::string("dynamic"));
  EXPECT_FALSE(at::equal(head_after("dynamic", 4), first.at("classifier.weight")));
}

TEST_F(DyleSessionTest, cost_is_of_what_was_read) {
  request_.params.set("steps", int64_t{4});
  const auto cost = [&](const std::string& name, std::optional<int64_t> steps = {}) {
    Curve curve;
    const auto outcome = fit(name, curve, steps);
    EXPECT_TRUE(outcome.ok()) << outcome.error().to_string();
    return outcome.ok() ? outcome->cost : TrainingCost();
  };
  const TrainingCost joint = cost("joint");
  request_.params.set("steps", int64_t{5});
  request_.params.set("extractor_steps", int64_t{4});
  const TrainingCost alone = cost("alone", 4);
  request_.params.set("train_chunks", int64_t{1});
  const TrainingCost part = cost("part", 4);
  // Padded chunks of 48 tokens, two examples a step.
  EXPECT_EQ(part.tokens, 4 * 2 * 48);
  EXPECT_EQ(alone.tokens % 48, 0);
  EXPECT_GT(alone.tokens, part.tokens);
  EXPECT_GT(joint.tokens, alone.tokens);
  // Two layers of width 16, forth and back.
  const int64_t flops = 2 * 2 * (2 * 48 * (4 * 16 * 16 + 2 * 16 * 24) + 4 * 48 * 48 * 16);
  EXPECT_EQ(part.flops, 4 * 2 * flops);
  EXPECT_GT(joint.flops, alone.flops);
}

TEST_F(DyleSessionTest, ablations_and_profiles_train_and_write) {
  const auto with = [&](const std::string& name, const std::string& param,
                        const ParamValue& value) {
    const Params before = request_.params;
    request_.params.set(param, value);
    const Curve curve = trained(name, 3);
    EXPECT_EQ(outputs({meeting(31)}).size(), 1U) << name;
    double sum = 0;
    for (const std::string part : {"generation", "oracle", "consistency"}) {
      sum += request_.params.get<double>("lambda_" + part) * curve.first("loss." + part);
    }
    EXPECT_NEAR(curve.first("loss"), sum, 1e-4 * sum) << name;
    request_.params = before;
    return curve;
  };
  const Curve full = with("full", "profile", std::string("released"));
  EXPECT_EQ(with("paper", "profile", std::string("paper")).first("loss.generation"),
            full.first("loss.generation"));
  EXPECT_NE(with("no-hybrid", "hybrid", false).first("loss.generation"),
            full.first("loss.generation"));
  const Curve fixed = with("static", "prior", std::string("static"));
  EXPECT_EQ(fixed.first("loss.consistency"), 0);
  with("recomputed", "recompute", true);
  with("free", "lambda_consistency", 0.0);
  with("unsupervised", "lambda_oracle", 0.0);
  request_.params.set("hybrid", false);
  const Curve taught = with("oracle-fed", "lambda_oracle", 0.5);
  EXPECT_NE(with("no-oracle", "lambda_oracle", 0.0).first("loss.generation"),
            taught.first("loss.generation"))
      << "without any oracle the generator reads what the extractor finds";
  request_.params.set("hybrid", true);
  EXPECT_NE(with("pieces", "piece_words", int64_t{3}).first("loss.oracle"),
            full.first("loss.oracle"));
  EXPECT_NE(with("passages", "passage_words", int64_t{12}).first("loss.oracle"),
            full.first("loss.oracle"));
  with("similar", "score", std::string("similarity"));
  with("half", "train_dtype", std::string("bfloat16"));
  with("kept", "save_dtype", std::string("bfloat16"));
}

TEST_F(DyleSessionTest, the_generators_loss_reaches_the_extractor_as_in_rag_alone) {
  request_.params.set("prior", std::string("static"));
  request_.params.set("lambda_oracle", 0.0);
  const auto head_after = [&](const std::string& name) {
    trained(name, 2);
    const auto file = checkpoints::open_safetensors(trained_path(name));
    const auto* entry = (*file)->find("classifier.weight");
    std::vector<float> values(static_cast<size_t>(entry->elements));
    EXPECT_TRUE((*file)->read(*entry, values).ok());
    return values;
  };
  const auto still = head_after("dyle");
  request_.params.set("learning_rate", 0.03);
  request_.params.set("extractor_learning_rate", 0.05);
  EXPECT_EQ(head_after("faster"), still);
  request_.params.set("static_prior_grad", true);
  EXPECT_NE(head_after("rag"), still);
}

TEST_F(DyleSessionTest, writing_reads_the_snippets_it_is_asked_for) {
  trained("a", 12);
  const NumberedExample one = meeting(33);
  EXPECT_EQ(extra_of(one).at("snippets").size(), 3U);
  request_.params.set("snippets", std::string("oracle"));
  EXPECT_EQ(extra_of(one).at("snippets"), nlohmann::json({2}));
  request_.params.set("snippets", std::string("all"));
  EXPECT_EQ(extra_of(one).at("snippets").size(), 5U);
  request_.params.set("snippets", std::string("random"));
  const auto drawn = extra_of(one).at("snippets");
  EXPECT_EQ(drawn.size(), 3U);
  EXPECT_EQ(extra_of(one).at("snippets"), drawn);
  request_.params.set("snippets", std::string("extracted"));
  request_.params.set("k", int64_t{9});
  EXPECT_EQ(extra_of(one).at("snippets").size(), 5U);
  request_.params.set("k", int64_t{2});
  request_.params.set("num_beams", int64_t{2});
  EXPECT_EQ(extra_of(one).at("snippets").size(), 2U);
}

TEST_F(DyleSessionTest, what_is_read_can_stand_for_a_summary) {
  trained("a", 12);
  request_.params.set("output", std::string("snippets"));
  request_.params.set("snippets", std::string("oracle"));
  request_.params.set("snippet_tokens", int64_t{64});
  const Prediction read = predicted(meeting(33));
  EXPECT_EQ(read.text, "all of us buy a red hat");
  EXPECT_EQ(read.finish, FinishReason::stop);
  EXPECT_FALSE(nlohmann::json::parse(read.extra.text).at("observed").contains("gate_entropy"));
  request_.params.set("snippet_tokens", int64_t{24});
  EXPECT_EQ(predicted(meeting(33)).text, "all of us buy");
  request_.params.set("snippets", std::string("all"));
  request_.params.set("snippet_tokens", int64_t{64});
  EXPECT_EQ(
      predicted(meeting(33)).text.size(),
      std::string("we begin now then is it late 33 all of us buy a red hat hm good bye to you")
          .size());
}

TEST_F(DyleSessionTest, the_gate_of_a_text_is_kept_where_it_is_asked_for) {
  trained("a", 12);
  const Prediction plain = predicted(meeting(33));
  request_.params.set("gate_map", std::string("output"));
  const Prediction mapped = predicted(meeting(33));
  EXPECT_EQ(mapped.text, plain.text);
  const auto facts = nlohmann::json::parse(mapped.extra.text);
  const int64_t ended = mapped.finish == FinishReason::stop ? 1 : 0;
  ASSERT_EQ(facts.at("gate").size(), static_cast<size_t>(mapped.tokens_out + ended));
  double entropy = 0;
  for (const auto& step : facts.at("gate")) {
    ASSERT_EQ(step.size(), 3U);
    int64_t sum = 0;
    for (const int64_t part : step) {
      sum += part;
      const double weight = static_cast<double>(part) / 1e4;
      if (part > 0) entropy -= weight * std::log(weight);
    }
    EXPECT_NEAR(static_cast<double>(sum), 10000, 2);
  }
  // The text as it was written has the gate that wrote it, all tokens that were chosen among.
  const double steps = static_cast<double>(facts.at("gate").size());
  EXPECT_NEAR(entropy / steps, facts.at("observed").at("gate_entropy"), 2e-3);
  EXPECT_EQ(facts.at("extractor").size(), 3U);
  request_.params.set("stop", plain.text.substr(2, 2));
  const Prediction cut = predicted(meeting(33));
  EXPECT_EQ(cut.finish, FinishReason::stop);
  EXPECT_EQ(nlohmann::json::parse(cut.extra.text).at("gate").size(),
            static_cast<size_t>(cut.tokens_out))
      << "no end token was chosen";
  request_.params.set("gate_map", std::string("reference"));
  EXPECT_TRUE(the_spec().needs(request_.params).references);
  EXPECT_NE(extra_of(meeting(33)).at("gate"), facts.at("gate"));
}

TEST_F(DyleSessionTest, encoder_decoders_learn_and_write_too) {
  const qfs::test::TemporaryFolder folder;
  request_.backbone = *registry::resolve_backbone(qfs::test::TinySeq2Seq().write(folder));
  request_.params.set("prompt", default_prompt());
  for (const std::string profile : {"released", "paper"}) {
    request_.params.set("profile", profile);
    request_.params.set("label_tokens", int64_t{24});
    const Curve curve = trained(profile, 30);
    EXPECT_LT(curve.last("loss.generation"), curve.first("loss.generation")) << profile;
    EXPECT_EQ(outputs({meeting(34)}).size(), 1U);
  }
  request_.params.set("output", std::string("snippets"));
  request_.params.set("snippets", std::string("oracle"));
  EXPECT_EQ(predicted(meeting(34)).text, "all of us buy a r");  // of 24 ids two are the frame's
  request_.params.set("gate_map", std::string("reference"));
  EXPECT_GT(extra_of(meeting(34)).at("gate").size(), 1U);
}

TEST_F(DyleSessionTest, both_models_drop_the_same_where_layers_are_computed_again) {
  const qfs::test::TemporaryFolder folder;
  request_.backbone = *registry::resolve_backbone(qfs::test::TinySeq2Seq().write(folder));
  request_.params.set("prompt", default_prompt());
  request_.params.set("hybrid", false);  // what the generator reads does not depend on scores
  const auto curve_of = [&](const std::string& name, double dropout, bool recompute) {
    request_.params.set("dropout", dropout);
    request_.params.set("recompute", recompute);
    return trained(name, 4);
  };
  const Curve without = curve_of("without", 0, false);
  const Curve kept = curve_of("kept", 0.3, false);
  const Curve again = curve_of("again", 0.3, true);
  for (const char* loss : {"loss.oracle", "loss.generation"}) {
    SCOPED_TRACE(loss);
    EXPECT_GT(std::abs(kept.first(loss) - without.first(loss)), 1e-3);
    EXPECT_NEAR(again.last(loss), kept.last(loss), 1e-4);
  }
}

TEST_F(DyleSessionTest, roberta_scores_snippets) {
  const qfs::test::TemporaryFolder folder;
  request_.backbones[kExtractor] = qfs::test::TinyEncoder{.roberta = true}.write(folder);
  const Curve curve = trained("roberta", 12);
  EXPECT_LT(curve.last("loss.oracle"), curve.first("loss.oracle"));
}

TEST_F(DyleSessionTest, a_training_begins_with_another) {
  const Curve first = trained("first", 12);
  request_.params.set("steps", int64_t{1});
  Curve second;
  ASSERT_TRUE(fit("second", second).ok());
  EXPECT_LT(second.first("loss.oracle"), first.first("loss.oracle"));
  request_.params.set("alpha", 64.0);
  EXPECT_THAT(refusal(), HasSubstr("its alpha / rank is"));
}

TEST_F(DyleSessionTest, prompts_can_be_turns_of_a_conversation) {
  const Curve plain = trained("plain", 1);
  use_llama({.layers = 2,
             .chat_template = "{% for m in messages %}<|im_start|>{{ m.content | trim }}"
                              "<|im_end|>{% endfor %}"},
            "{snippet}/{query}:");
  request_.params.set("snippet_tokens", int64_t{26});
  request_.params.set("chat", true);
  EXPECT_TRUE(the_spec().validate(request_.params).ok());
  const Curve chat = trained("chat", 1);
  EXPECT_GT(std::abs(chat.first("loss.generation") - plain.first("loss.generation")), 1e-3);
  EXPECT_EQ(outputs({meeting(34)}).size(), 1U);

  Params recipe = request_.params;
  recipe = {};
  recipe.set("k", int64_t{3});
  EXPECT_THAT(the_spec().check_file(request_.params, recipe).error().message,
              HasSubstr("without 'chat'"));
  recipe.set("chat", true);
  EXPECT_TRUE(the_spec().check_file(request_.params, recipe).ok());
  Params other = request_.params;
  other.set("system", std::string("be brief"));
  EXPECT_THAT(the_spec().check_file(other, recipe).error().message, HasSubstr("without 'system'"));
  Params without = request_.params;
  without.set("chat", false);
  without.set("system", std::string("be brief"));
  EXPECT_THAT(the_spec().validate(without).error().message, HasSubstr("'system' needs"));
  EXPECT_THAT(the_spec().check_backbone(request_.params, {.architecture = "bart"}).error().message,
              HasSubstr("for decoder-only generators"));
}

TEST_F(DyleSessionTest, a_training_goes_on_with_the_score_that_it_began_with) {
  request_.params.set("score", std::string("similarity"));
  trained("similar", 1);
  request_.params.set("score", std::string("head"));
  EXPECT_THAT(refusal(), HasSubstr("its training's 'score' is another"));
  Params recipe = request_.params;
  EXPECT_TRUE(the_spec().check_init(request_.params, recipe).ok());
  recipe.set("score", std::string("similarity"));
  EXPECT_EQ(the_spec().check_init(request_.params, recipe).error().message,
            "its 'score' is similarity, not head");
  EXPECT_TRUE(the_spec().check_init(request_.params, {}).ok()) << "an adapter of the generator";
}

TEST_F(DyleSessionTest, what_cannot_be_read_is_refused_by_name) {
  trained("a", 1);
  NumberedExample empty = meeting(35);
  empty.example.document = {{" ", "ann"}};
  EXPECT_THAT(write_refusal(empty), HasSubstr("document of example 'example-35' has no text"));
  NumberedExample wordy = meeting(36);
  wordy.example.query = std::string(60, 'q');
  EXPECT_THAT(write_refusal(wordy), HasSubstr("example 'example-36': a query of"));
  wordy.example.query = std::string(30, 'q');
  EXPECT_THAT(write_refusal(wordy), HasSubstr("leave no room for a snippet in 24"));
  request_.params.set("chunk_tokens", int64_t{512});
  EXPECT_THAT(write_refusal(meeting(37)), HasSubstr("the extractor reads 64"));
  request_.params.set("chunk_tokens", int64_t{48});

  const qfs::test::TemporaryFolder other;
  const Resource own = request_.backbones.at(kExtractor);
  request_.backbones[kExtractor] = qfs::test::TinyEncoder{.layers = 1}.write(other);
  EXPECT_THAT(write_refusal(meeting(37)), HasSubstr("it was trained with the extractor"));
  request_.backbones[kExtractor] = own;
  request_.params.set("prior", std::string("static"));
  trained("static", 1);
  request_.params.set("prior", std::string("dynamic"));
  EXPECT_THAT(write_refusal(meeting(37)), HasSubstr("there is no gate"));
  request_.artifacts.clear();
  data_.train.front().example.references.clear();
  EXPECT_THAT(refusal(), HasSubstr("'example-0' has no reference summary"));
}

}  // namespace
}  // namespace qfs::dyle

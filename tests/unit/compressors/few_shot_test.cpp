// Demonstrations of methods whose bank holds tokens: the same for all methods and all examples,
// read as they are or compressed as the method compresses, in the place that its memory has.
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "harness/core/utf8.h"
#include "methods/compressors/demonstrations.h"
#include "methods/compressors/session_demonstrations.h"
#include "methods/compressors/session_files.h"
#include "methods/compressors/session_lingua.h"
#include "methods/models/checkpoints/safetensors.h"
#include "methods/models/nn/sequences.h"
#include "methods/zero_shot/session.h"
#include "methods/zero_shot/spec.h"
#include "tests/support/compressor_sessions.h"

namespace qfs::compressors {
namespace {

using ::qfs::test::compressor_factory;
using ::qfs::test::compressor_spec;
using ::qfs::test::Curve;
using ::qfs::test::kChat;
using ::qfs::test::kCompressorPrompt;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class FewShotTest : public qfs::test::CompressorSessionsTest {
 protected:
  FewShotTest() { use_few_shot(); }

  /// Prompts, cuts and the bank as the other methods of these tests have them.
  void use_few_shot() {
    use_method("few_shot");
    request_.params.set("bank", int64_t{5});
  }
  /// A method that reads the bank of few_shot, with a file of its own where it trains.
  void use_with_bank(const std::string& name) {
    use_method(name);
    if (name != "llmlingua") trained(name, 6);
    request_.params.set("bank", int64_t{5});
    use_bank("bank");
  }
  TrainingOutcome make_bank(const std::string& name) {
    Curve curve;
    auto outcome = fit(name, curve);
    EXPECT_TRUE(outcome.ok()) << outcome.error().to_string();
    EXPECT_EQ(curve.points.back().step, curve.points.back().steps);
    EXPECT_FALSE(curve.points.back().values.contains("loss")) << "nothing is learned";
    use_bank(name);
    return outcome.ok() ? *outcome : TrainingOutcome{};
  }
  void use_bank(const std::string& name) {
    request_.artifacts["bank"] = {"", folder_ / (name + "/bank.safetensors"), ""};
  }
  Bank bank_of(const std::string& name) {
    auto bank = read_token_bank(folder_ / (name + "/bank.safetensors"));
    EXPECT_TRUE(bank.ok()) << bank.error().to_string();
    return bank.ok() ? *std::move(bank) : Bank{};
  }
  ChosenDemonstrations shown_by(const Compressor& compressor) {
    const auto opened = open_token_demonstrations(
        request_, std::shared_ptr<const Compressor>(std::shared_ptr<void>(), &compressor));
    EXPECT_TRUE(opened.ok()) << opened.error().to_string();
    return opened.ok() ? *(*opened)->chosen_for(example(0).example) : ChosenDemonstrations{};
  }
  int64_t tokens_in(int64_t ordinal) { return predictions({example(ordinal)}).front().tokens_in; }

  ResourceCache cache_;
};

TEST_F(FewShotTest, without_demonstrations_reads_as_zero_shot_does) {
  const std::vector<NumberedExample> unit = {example(0), example(3), example(6)};
  const auto own = predictions(unit);
  use(zero_shot::ZeroShotSpec(), zero_shot::session_factory());
  request_.params.set("prompt", std::string(kCompressorPrompt));
  request_.params.set("local_context", int64_t{24});
  const auto plain = predictions(unit);
  for (size_t i = 0; i < unit.size(); ++i) {
    EXPECT_EQ(own[i].text, plain[i].text);
    EXPECT_EQ(own[i].prompt, plain[i].prompt);
    EXPECT_EQ(own[i].tokens_in, plain[i].tokens_in);
    EXPECT_EQ(own[i].truncation->kept_tokens, plain[i].truncation->kept_tokens);
  }
}

TEST_F(FewShotTest, a_bank_holds_tokens_of_the_training_split) {
  const TrainingOutcome outcome = make_bank("bank");
  ASSERT_EQ(outcome.files.size(), 1U);
  EXPECT_EQ(outcome.files[0].role, "bank");
  EXPECT_EQ(outcome.files[0].sha256, *sha256_file(folder_ / "bank/bank.safetensors"));
  EXPECT_EQ(outcome.cost.steps, 0);
  const Bank bank = bank_of("bank");
  EXPECT_EQ(bank.metadata.at("qfs.method"), "few_shot");
  const auto drawn = drawn_examples(data_.train.size(), 5, request_.seed);
  ASSERT_THAT(bank.demonstrations, SizeIs(5));
  for (size_t i = 0; i < 5; ++i) {
    const Example& one = data_.train[drawn[i]].example;
    EXPECT_EQ(bank.demonstrations[i].key, one.key);
    const std::string text =
        demonstration_text(demonstration_template({}), one, one.references.front()).text;
    const std::string kept = text.substr(0, 24);  // bytes are tokens; demonstration_tokens
    EXPECT_EQ(bank.demonstrations[i].ids, std::vector<int32_t>(kept.begin(), kept.end()));
    EXPECT_FALSE(bank.demonstrations[i].memory.defined());
  }
  const std::string bytes = *read_file(folder_ / "bank/bank.safetensors");
  make_bank("bank");
  EXPECT_EQ(*read_file(folder_ / "bank/bank.safetensors"), bytes);
  data_.train[drawn[2]].example.references = {""};
  EXPECT_THAT(refusal(), AllOf(HasSubstr("no reference summary"),
                               HasSubstr(data_.train[drawn[2]].example.key)));
}

TEST_F(FewShotTest, demonstrations_are_the_same_for_all_examples_and_drawn_by_the_seed) {
  make_bank("bank");
  const int64_t alone = tokens_in(3);
  request_.params.set("shots", int64_t{2});
  const auto two = compression(3);
  EXPECT_THAT(two.at("demonstrations"), SizeIs(2));
  EXPECT_EQ(two.at("demonstration_memory"), 48) << "token by token";
  EXPECT_EQ(tokens_in(3), alone + 48);
  EXPECT_EQ(two.at("demonstrations"), compression(7).at("demonstrations"));
  request_.params.set("shots", int64_t{4});
  EXPECT_EQ(compression(3).at("demonstrations")[1], two.at("demonstrations")[1])
      << "fewer are the first of more";
  const auto four = compression(3).at("demonstrations");
  request_.seed = 5;
  EXPECT_NE(compression(3).at("demonstrations"), four);
}

TEST_F(FewShotTest, stand_behind_what_a_conversation_opens_with) {
  use_llama({.layers = 2, .chat_template = kChat}, kCompressorPrompt);
  request_.params.set("chat", true);
  make_bank("bank");
  request_.params.set("shots", int64_t{2});
  const auto prompts = prompted::open_prompts(request_, cache_);
  ASSERT_TRUE(prompts.ok());
  const auto opening = *opening_of(*prompts);
  ASSERT_EQ(prompts->backbone->tokenizer->decode(opening), "user\n");
  // What the session reads is what one would write by hand.
  const auto plain = prompts->maker.prepare(example(3).example, 8);
  nn::SequenceInput input{.ids = opening};
  for (const Piece& piece : shown_by(NoCompressor()).pieces) {
    input.ids.insert(input.ids.end(), piece.ids.begin(), piece.ids.end());
  }
  input.ids.insert(input.ids.end(),
                   plain->input.ids.begin() + static_cast<std::ptrdiff_t>(opening.size()),
                   plain->input.ids.end());
  auto model = prompted::open_prompted_model(request_, cache_);
  ASSERT_TRUE(model.ok());
  const std::vector<uint64_t> seeds = {0};
  const auto written =
      model->generator.generate(std::vector<nn::SequenceInput>{input}, model->options, seeds);
  ASSERT_TRUE(written.ok());
  EXPECT_EQ(output(), repair_utf8(written->rows.front().text).text);
}

TEST_F(FewShotTest, every_method_shows_the_same_demonstrations_as_it_compresses) {
  make_bank("bank");
  request_.params.set("shots", int64_t{3});
  const auto keys = compression(3).at("demonstrations");
  for (const std::string name : {"llmlingua", "autocompressor", "icae"}) {
    SCOPED_TRACE(name);
    use_with_bank(name);
    const int64_t alone = tokens_in(3);
    const std::string without = output();
    request_.params.set("shots", int64_t{3});
    const auto with = compression(3);
    EXPECT_EQ(with.at("demonstrations"), keys);
    const int64_t read = name == "icae" ? 23 : 24;  // behind a token of its own
    EXPECT_EQ(with.at("demonstration_tokens"), 3 * read);
    EXPECT_EQ(with.at("demonstration_memory"), 3 * 6) << "24 tokens, four to one";
    EXPECT_DOUBLE_EQ(with.at("demonstration_ratio"), static_cast<double>(read) / 6);
    EXPECT_EQ(tokens_in(3), alone + 18);
    if (name == "llmlingua") {
      request_.params.set("n_mem_rounding", std::string("floor"));
      request_.params.set("ratio", 5.0);
      EXPECT_EQ(compression(3).at("demonstration_memory"), 3 * 5) << "as SelfCP's bank has them";
      request_.params.set("ratio", 4.0);
      request_.params.set("n_mem_rounding", std::string("ceil"));
    }
    const std::string once = output();
    EXPECT_NE(once, without);
    // Again for each prompt: the same, and what it takes is counted.
    request_.params.set("shots_as", std::string("recomputed"));
    EXPECT_EQ(output(), once);
    EXPECT_GT(compression(3).at("flops_lean").get<double>(),
              with.at("flops_lean").get<double>() * 1.2);
  }
}

TEST_F(FewShotTest, llmlingua_keeps_of_a_demonstration_what_it_keeps_of_a_segment) {
  make_bank("bank");
  use_with_bank("llmlingua");
  request_.params.set("shots", int64_t{3});
  const auto prompts = prompted::open_prompts(request_, cache_);
  auto decoder =
      prompts->backbone->network->decoder(request_.runtime, prompts->backbone->digest, cache_);
  ASSERT_TRUE(decoder.ok());
  LinguaReading reading;
  reading.rules.ratio = 4;
  const Lingua lingua(*decoder, reading);
  const ChosenDemonstrations shown = shown_by(lingua);
  const Bank bank = bank_of("bank");
  for (size_t i = 0; i < 3; ++i) {
    const auto one = std::ranges::find(bank.demonstrations, shown.keys[i], &Demonstration::key);
    const PromptParts parts{{}, one->ids, {}};
    const Plan plan{{{{0, 24}, 6}}, {}, true};
    const CompressionTask task{parts, plan};
    EXPECT_EQ(shown.pieces[i].ids, lingua.compress({&task, 1})->front().memory.front().ids);
  }
}

TEST_F(FewShotTest, llmlingua_as_its_tool_chooses_among_all_demonstrations) {
  make_bank("bank");
  use_with_bank("llmlingua");
  request_.params.set("shots", int64_t{3});
  request_.params.set("mode", std::string("official"));
  const auto prompts = prompted::open_prompts(request_, cache_);
  auto decoder =
      prompts->backbone->network->decoder(request_.runtime, prompts->backbone->digest, cache_);
  ASSERT_TRUE(decoder.ok());
  LinguaReading reading{.released = true, .window = 20};
  reading.rules.ratio = 4;
  const Lingua lingua(*decoder, reading);
  const ChosenDemonstrations shown = shown_by(lingua);
  ASSERT_EQ(shown.pieces.size(), 1U);
  EXPECT_EQ(shown.keys.size(), 3U);
  const Bank bank = bank_of("bank");
  PromptParts parts;
  for (const std::string& key : shown.keys) {
    const auto one = std::ranges::find(bank.demonstrations, key, &Demonstration::key);
    parts.content.insert(parts.content.end(), one->ids.begin(), one->ids.end());
  }
  // 72 tokens and 18 wanted: no whole one is left out. As one text they have other windows.
  const Plan one_text{{{{0, 72}, 18}}, {}, true};
  const CompressionTask task{parts, one_text};
  EXPECT_NE(shown.pieces[0].ids, lingua.compress({&task, 1})->front().memory.front().ids);
  EXPECT_LT(shown.pieces[0].ids.size(), 72U);
  EXPECT_GT(shown.pieces[0].ids.size(), 18U) << "the tool keeps a rest";
  const LlmlinguaSpec spec;
  const BackboneFacts facts;
  EXPECT_THAT(spec.layers(request_.params, facts), ::testing::Contains("lingua-texts@1"));
  request_.params.set("shots", int64_t{0});
  EXPECT_THAT(spec.layers(request_.params, facts),
              ::testing::Not(::testing::Contains("lingua-texts@1")));
}

TEST_F(FewShotTest, summaries_gather_over_demonstrations_and_contexts_of_icae_do_not) {
  make_bank("bank");
  for (const std::string name : {"autocompressor", "icae"}) {
    SCOPED_TRACE(name);
    use_with_bank(name);
    request_.params.set("shots", int64_t{3});
    const auto prompts = prompted::open_prompts(request_, cache_);
    auto decoder =
        prompts->backbone->network->decoder(request_.runtime, prompts->backbone->digest, cache_);
    ASSERT_TRUE(decoder.ok());
    const bool gathers = name == "autocompressor";
    const LoraForm& form = gathers ? autocompressor_form() : icae_form();
    auto tensors = read_lora_tensors(request_.artifacts.at("adapter").path, name, form, **decoder);
    ASSERT_TRUE(tensors.ok());
    const LoraReading reading{.window = 24, .memory = 6, .begin = 2};
    std::shared_ptr<const Compressor> compressor;
    if (gathers) {
      compressor = std::make_shared<Autocompressor>(form, *tensors, *decoder, reading);
    } else {
      compressor = std::make_shared<Icae>(form, *tensors, *decoder, reading);
    }
    const ChosenDemonstrations shown = shown_by(*compressor);
    ASSERT_THAT(shown.pieces, SizeIs(3));
    const Bank bank = bank_of("bank");
    for (size_t i = 0; i < 3; ++i) {
      const auto one = std::ranges::find(bank.demonstrations, shown.keys[i], &Demonstration::key);
      const PromptParts parts{{}, one->ids, {}};
      const Plan plan{{compressor->demonstration({0, 24})}, {}, true};
      EXPECT_EQ(plan.segments[0].content.count, gathers ? 24 : 23) << "its first token counts";
      const CompressionTask task{parts, plan};
      const at::Tensor alone = compressor->compress({&task, 1})->front().memory.front().rows;
      EXPECT_EQ(at::allclose(alone, shown.pieces[i].rows, 0, 1e-6), i == 0 || !gathers) << i;
    }
    // They stand in front of the document's memory and of all text.
    const PromptParts parts{{7}, {1, 2, 3}, {8}};
    const Plan plan = *compressor->plan(parts);
    const CompressionTask task{parts, plan};
    const auto memory = compressor->compress({&task, 1})->front().memory;
    const auto pieces = read_pieces(*compressor, task, memory, shown.pieces);
    ASSERT_GE(pieces.size(), 6U);
    for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(pieces[i].rows.is_same(shown.pieces[i].rows));
    EXPECT_TRUE(pieces[3].rows.is_same(memory.front().rows));
  }
}

TEST_F(FewShotTest, of_a_demonstration_over_the_window_its_front_is_compressed) {
  request_.params.set("demonstration_tokens", int64_t{60});
  make_bank("bank");
  for (const std::string name : {"autocompressor", "icae"}) {
    SCOPED_TRACE(name);
    use_with_bank(name);
    request_.params.set("demonstration_tokens", int64_t{60});
    request_.params.set("shots", int64_t{3});
    const auto shown = compression(3);
    EXPECT_EQ(shown.at("demonstration_tokens"), 3 * (name == "icae" ? 23 : 24));
    EXPECT_EQ(shown.at("demonstration_memory"), 3 * 6);
  }
}

TEST_F(FewShotTest, labels_are_read_behind_demonstrations) {
  make_bank("bank");
  const auto by_labels = [&] {
    request_.params.set("demonstration", std::string("{document} is {summary}"));
    request_.params.set("labels", std::string("ab, b, xyz"));
  };
  by_labels();
  const auto plain = compression(3).at("choices");
  request_.params.set("shots", int64_t{2});
  const auto shown = compression(3);
  EXPECT_NE(shown.at("choices"), plain);
  EXPECT_THAT(shown.at("demonstrations"), SizeIs(2));
  // A text after demonstrations, as one reads it by hand.
  const auto prompts = prompted::open_prompts(request_, cache_);
  auto decoder =
      prompts->backbone->network->decoder(request_.runtime, prompts->backbone->digest, cache_);
  nn::SequenceInput input;
  for (const Piece& piece : shown_by(NoCompressor()).pieces) {
    input.ids.insert(input.ids.end(), piece.ids.begin(), piece.ids.end());
  }
  for (const char c : rendered_document(example(3).example) + " is b") {
    input.ids.push_back(static_cast<unsigned char>(c));
  }
  const auto logits = nn::sequence_logits(**decoder, input);
  ASSERT_TRUE(logits.ok());
  const auto last = static_cast<int64_t>(input.ids.size()) - 1;
  EXPECT_NEAR(shown.at("choices")[1].at("label").get<double>(),
              std::exp(-logits->log_softmax(1)[last - 1]['b'].item<double>()), 1e-2);
  // What its parts took is what the row says, of all labels.
  const auto sink = run({example(3)});
  EXPECT_EQ(sink.work.at("compress").flops, 0) << "read token by token";
  EXPECT_NEAR(
      static_cast<double>(sink.work.at("prefill").flops) / shown.at("flops_lean").get<double>(), 1,
      1e-9);
  // LLMLingua reads the template whole; AutoCompressor adapts what reads it, ICAE puts a row in
  // front of it.
  use_with_bank("llmlingua");
  by_labels();
  EXPECT_EQ(compression(3).at("choices"), plain);
  for (const std::string name : {"autocompressor", "icae"}) {
    SCOPED_TRACE(name);
    use_with_bank(name);
    by_labels();
    const auto own = compression(3).at("choices");
    EXPECT_NE(own, plain);
    request_.params.set("shots", int64_t{2});
    EXPECT_NE(compression(3).at("choices"), own);
    EXPECT_EQ(compression(3).at("demonstration_memory"), 12);
    // A window of more rows than are trained is read where something is compressed.
    request_.params.set("local_context", int64_t{512});
    EXPECT_THAT(opened(), HasSubstr("takes 128 rows"));
    request_.params.set("shots", int64_t{0});
    EXPECT_EQ(opened(), "opened");
  }
}

TEST_F(FewShotTest, a_bank_comes_with_a_training_that_learns) {
  use_method("icae");
  request_.params.set("bank", int64_t{4});
  const TrainingOutcome outcome = trained("icae", 2);
  ASSERT_THAT(outcome.files, SizeIs(2));
  EXPECT_EQ(outcome.files[0].role, "adapter");
  EXPECT_EQ(outcome.files[1].role, "bank");
  EXPECT_EQ(outcome.cost.steps, 2);
  const Bank bank = bank_of("icae");
  EXPECT_THAT(bank.demonstrations, SizeIs(4));
  EXPECT_EQ(bank.metadata.at("qfs.method"), "icae");
  use_bank("icae");
  request_.params.set("shots", int64_t{4});
  EXPECT_THAT(compression(3).at("demonstrations"), SizeIs(4));
}

TEST_F(FewShotTest, a_bank_tells_its_demonstrations_behind_the_steps) {
  use_method("icae");
  request_.params.set("bank", int64_t{3});
  request_.params.set("steps", int64_t{2});
  Curve curve;
  ASSERT_TRUE(fit("told", curve).ok());
  ASSERT_THAT(curve.points, SizeIs(2 + 3));
  EXPECT_EQ(curve.points[2], (TrainingPoint{3, 5, {{"bank", 1}}}));
  EXPECT_EQ(curve.points[4], (TrainingPoint{5, 5, {{"bank", 3}}}));
}

TEST_F(FewShotTest, a_bank_of_another_backbone_or_a_damaged_one_is_refused) {
  make_bank("bank");
  request_.params.set("shots", int64_t{2});
  EXPECT_EQ(opened(), "opened");
  const auto bank = bank_of("bank");
  const auto with = [&](const std::vector<Demonstration>& demonstrations,
                        const std::map<std::string, std::string>& metadata) {
    folder_.write("changed.safetensors", bank_bytes(demonstrations, metadata, at::kFloat));
    request_.artifacts["bank"].path = folder_ / "changed.safetensors";
    return opened();
  };
  EXPECT_EQ(with(bank.demonstrations, bank.metadata), "opened");
  EXPECT_THAT(with(bank.demonstrations, {{"qfs.backbone", "00"}}),
              HasSubstr("backbone with the digest 00"));
  EXPECT_THAT(with({bank.demonstrations.front()}, bank.metadata),
              HasSubstr("the bank has 1 demonstrations; 'shots' is 2"));
  EXPECT_THAT(with({}, bank.metadata), HasSubstr("the bank has no demonstrations"));
  folder_.write("changed.safetensors", "no tensors");
  EXPECT_NE(opened(), "opened");
  request_.artifacts.erase("bank");
  EXPECT_THAT(opened(), HasSubstr("no bank was given"));
}

}  // namespace
}  // namespace qfs::compressors

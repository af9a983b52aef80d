// Demonstrations and labels: a bank is made once with its connector and belongs to it, what it
// holds is what would be computed again, and what stands in front of a prompt changes what follows.
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "methods/compressors/demonstrations.h"
#include "methods/compressors/session_bank.h"
#include "methods/compressors/session_demonstrations.h"
#include "methods/compressors/session_files.h"
#include "methods/compressors/session_ratio_sweep.h"
#include "methods/models/checkpoints/safetensors.h"
#include "methods/models/nn/sequences.h"
#include "methods/models/nn/token_loss.h"
#include "tests/support/compressor_sessions.h"

namespace qfs::compressors {
namespace {

using ::qfs::test::Curve;
using ::qfs::test::kChat;
using ::qfs::test::kCompressorPrompt;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Ne;
using ::testing::SizeIs;

class BankTest : public qfs::test::CompressorSessionsTest {
 protected:
  BankTest() {
    request_.params.set("bank", int64_t{5});
    request_.params.set("bank_ratio", 4.0);
    request_.params.set("demonstration_tokens", int64_t{64});
  }

  /// Trains connector and bank, with which outputs are then written.
  TrainingOutcome make(const std::string& name, int64_t steps = 2) {
    const TrainingOutcome outcome = trained(name, steps);
    use_files(name, name);
    return outcome;
  }
  void use_files(const std::string& adapter, const std::string& bank) {
    write_with(adapter);
    request_.artifacts["bank"] = {"", folder_ / (bank + "/bank.safetensors"), ""};
  }
  std::string digest_of(const std::string& name) {
    return *sha256_file(folder_ / (name + "/adapter.safetensors"));
  }
  Bank bank_of(const std::string& name) {
    auto bank = read_bank(folder_ / (name + "/bank.safetensors"), 32, digest_of(name));
    EXPECT_TRUE(bank.ok()) << bank.error().to_string();
    return bank.ok() ? *std::move(bank) : Bank{};
  }
  std::shared_ptr<const Selfcp> compressor(int64_t at_once = 8) {
    const auto prompts = prompted::open_prompts(request_, cache_);
    EXPECT_TRUE(prompts.ok());
    const architectures::Backbone& backbone = *prompts->backbone;
    auto decoder = backbone.network->decoder(request_.runtime, backbone.digest, cache_);
    EXPECT_TRUE(decoder.ok());
    auto file = read_selfcp(request_.artifacts.at("adapter").path, 32);
    EXPECT_TRUE(file.ok());
    SelfcpReading reading;
    reading.rules.window = 24;
    reading.rules.ratio = 4;
    reading.segments_at_once = at_once;
    return std::make_shared<const Selfcp>(file->form, file->tensors, *std::move(decoder), reading);
  }
  Result<ChosenDemonstrations> chosen_for(int64_t ordinal) {
    const auto prompts = prompted::open_prompts(request_, cache_);
    if (!prompts.ok()) return prompts.error();
    const auto opened = open_memory_demonstrations(request_, *prompts, compressor());
    if (!opened.ok()) return opened.error();
    return (*opened)->chosen_for(example(ordinal).example);
  }
  nlohmann::json facts(int64_t ordinal) { return compression(ordinal); }

  ResourceCache cache_;
};

TEST(Nearest, is_by_cosine_or_product_and_the_earlier_of_equals) {
  const at::Tensor keys = at::tensor(std::vector<float>{1, 0, 0, 2, 1, 1, 2, 0}).reshape({4, 2});
  const at::Tensor key = at::tensor(std::vector<float>{3, 0}).reshape({1, 2});
  EXPECT_THAT(nearest(keys, key, BankScore::cosine, 4), ElementsAre(0, 3, 2, 1));
  EXPECT_THAT(nearest(keys, key, BankScore::dot, 4), ElementsAre(3, 0, 2, 1));
  EXPECT_THAT(nearest(keys, key, BankScore::dot, 1), ElementsAre(3));
}

TEST(DrawnExamples, are_the_seeds_and_in_the_datas_order) {
  const auto drawn = drawn_examples(100, 10, 1);
  EXPECT_THAT(drawn, AllOf(SizeIs(10), Ne(drawn_examples(100, 10, 2))));
  EXPECT_TRUE(std::ranges::is_sorted(drawn));
  EXPECT_EQ(std::ranges::adjacent_find(drawn), drawn.end());
  EXPECT_THAT(drawn_examples(3, 10, 1), ElementsAre(0, 1, 2));
}

// Logits of three tokens with probabilities 1/2, 1/4, 1/4, through the head that scores labels.
TEST(Perplexity, is_that_of_a_vocabulary_of_three_tokens) {
  nn::Linear head;
  head.weight = at::eye(3);
  const at::Tensor logits = at::tensor(std::vector<float>{std::log(2.0F), 0, 0}).expand({3, 3});
  const auto known = nn::label_log_probabilities(head, logits, std::vector<int64_t>{0, 1, 2});
  ASSERT_TRUE(known.ok());
  std::vector<double> losses;
  for (int64_t i = 0; i < 3; ++i) losses.push_back(-(*known)[i].item<double>());
  const Perplexities found = perplexities(losses, {false, false, true});
  EXPECT_NEAR(found.label, 4, 1e-5);
  EXPECT_NEAR(found.full, std::cbrt(32.0), 1e-5);
}

TEST_F(BankTest, holds_demonstrations_of_the_training_split_with_their_memory) {
  const TrainingOutcome outcome = make("a");
  ASSERT_EQ(outcome.files.size(), 2U);
  EXPECT_EQ(outcome.files[1].role, "bank");
  EXPECT_EQ(outcome.files[1].sha256, *sha256_file(folder_ / "a/bank.safetensors"));
  const Bank bank = bank_of("a");
  ASSERT_EQ(bank.demonstrations.size(), 5U);
  const auto drawn = drawn_examples(data_.train.size(), 5, request_.seed);
  for (size_t i = 0; i < 5; ++i) {
    const Demonstration& one = bank.demonstrations[i];
    EXPECT_EQ(one.key, data_.train[drawn[i]].example.key);
    EXPECT_LE(one.ids.size(), 64U);
    EXPECT_EQ(one.memory.size(0), static_cast<int64_t>((one.ids.size() + 3) / 4));
    EXPECT_TRUE(at::equal(bank.keys[static_cast<int64_t>(i)], one.memory[0]));
  }
  // Continued where it is done, it leaves the same bytes.
  const std::string bytes = *read_file(folder_ / "a/bank.safetensors");
  trained("a", 2);
  EXPECT_EQ(*read_file(folder_ / "a/bank.safetensors"), bytes);
}

TEST_F(BankTest, holds_the_bits_that_are_computed_again) {
  for (const std::string type : {"float32", "bfloat16"}) {
    SCOPED_TRACE(type);
    request_.params.set("save_dtype", type);
    make(type);
    request_.params.set("shots", int64_t{3});
    for (const double ratio : {4.0, 7.0}) {
      request_.params.set("ratio", ratio);
      const auto kept = chosen_for(4);
      ASSERT_TRUE(kept.ok()) << kept.error().to_string();
      EXPECT_EQ(kept->passes.size(), 1U) << "which are nearest";
      request_.params.set("shots_as", std::string("recomputed"));
      const auto again = chosen_for(4);
      ASSERT_TRUE(again.ok()) << again.error().to_string();
      EXPECT_EQ(again->passes.size(), 4U);
      request_.params.set("shots_as", std::string("memory"));
      EXPECT_EQ(again->keys, kept->keys);
      ASSERT_EQ(kept->pieces.size(), 3U);
      for (size_t i = 0; i < 3; ++i) {
        EXPECT_TRUE(at::equal(kept->pieces[i].rows, again->pieces[i].rows)) << ratio << " " << i;
      }
    }
  }
}

TEST_F(BankTest, demonstrations_stand_in_front_of_a_prompt) {
  make("a", 20);
  const int64_t alone = predictions({example(3)}).front().tokens_in;
  EXPECT_FALSE(facts(3).contains("demonstrations"));
  request_.params.set("shots", int64_t{4});
  const auto with = facts(3);
  EXPECT_THAT(with.at("demonstrations"), SizeIs(4));
  EXPECT_GE(with.at("demonstration_tokens").get<int64_t>(), 4 * 40);
  EXPECT_LE(with.at("demonstration_memory").get<int64_t>(), 4 * 16);
  EXPECT_EQ(predictions({example(3)}).front().tokens_in,
            alone + with.at("demonstration_memory").get<int64_t>());
  const auto nearest_of = [&](int64_t ordinal) { return facts(ordinal).at("demonstrations"); };
  EXPECT_EQ(nearest_of(3), with.at("demonstrations"));
  const auto work = [&] { return facts(3).at("flops_lean").get<double>(); };
  const double kept = work();
  request_.params.set("shots_as", std::string("recomputed"));
  const std::string recomputed = output();
  EXPECT_GT(work(), kept);
  request_.params.set("shots_as", std::string("memory"));
  EXPECT_EQ(output(), recomputed);
  request_.params.set("shots_as", std::string("tokens"));
  EXPECT_EQ(facts(3).at("demonstration_memory"), facts(3).at("demonstration_tokens"));
  EXPECT_GT(work(), kept);
  request_.params.set("shots_as", std::string("memory"));
  request_.params.set("demonstrations", std::string("fixed"));
  EXPECT_EQ(nearest_of(3), nearest_of(7)) << "the same for all";
  request_.params.set("shots", int64_t{2});
  const auto two = nearest_of(3);
  request_.params.set("shots", int64_t{4});
  EXPECT_EQ(nearest_of(3)[0], two[0]) << "fewer are the first of more";
  request_.seed = 5;
  EXPECT_NE(nearest_of(3), nlohmann::json(with.at("demonstrations")));
}

TEST_F(BankTest, is_read_behind_what_a_conversation_opens_with) {
  use_llama({.layers = 2, .chat_template = kChat}, kCompressorPrompt);
  request_.params.set("chat", true);
  make("a");
  request_.params.set("shots", int64_t{2});
  ASSERT_EQ(opened(), "opened");
  const auto prompts = prompted::open_prompts(request_, cache_);
  const auto opening = opening_of(*prompts);
  ASSERT_TRUE(opening.ok()) << opening.error().to_string();
  EXPECT_EQ(prompts->backbone->tokenizer->decode(*opening), "user\n");
  const auto chosen = chosen_for(3);
  ASSERT_TRUE(chosen.ok());
  std::vector<Piece> pieces = {{*opening}, {{1, 2}}};
  pieces.front().ids.push_back(7);
  ASSERT_TRUE(put_behind_opening(*opening, chosen->pieces, pieces).ok());
  ASSERT_EQ(pieces.size(), 5U);
  EXPECT_EQ(pieces[0].ids, *opening);
  EXPECT_TRUE(pieces[1].rows.defined());
  EXPECT_THAT(pieces[3].ids, ElementsAre(7));
  pieces = {{{1}}};
  EXPECT_FALSE(put_behind_opening(*opening, chosen->pieces, pieces).ok());
}

TEST_F(BankTest, belongs_to_its_connector_and_backbone) {
  make("a");
  request_.params.set("shots", int64_t{2});
  EXPECT_EQ(opened(), "opened");
  request_.params.set("learning_rate", 0.03);
  make("b");
  use_files("b", "a");
  EXPECT_THAT(opened(), AllOf(HasSubstr("made by the connector with the digest " + digest_of("a")),
                              HasSubstr("not by that of " + digest_of("b"))));
  use_files("a", "a");
  request_.artifacts["bank"].path = folder_ / "a/adapter.safetensors";
  EXPECT_THAT(opened(), HasSubstr("there is no bank in it"));
  request_.artifacts.erase("bank");
  EXPECT_THAT(opened(), HasSubstr("no bank was given"));
  use_files("a", "a");
  request_.params.set("bank", int64_t{9});
  request_.params.set("shots", int64_t{6});
  EXPECT_THAT(opened(), HasSubstr("the bank has 5 demonstrations; 'shots' is 6"));
  request_.params.set("shots", int64_t{2});
  const auto bank = checkpoints::open_safetensors(folder_ / "a/bank.safetensors");
  auto metadata = (*bank)->metadata();
  metadata["qfs.backbone"] = "00";
  const auto changed = bank_bytes(bank_of("a").demonstrations, metadata, at::kFloat);
  folder_.write("other.safetensors", changed);
  request_.artifacts["bank"].path = folder_ / "other.safetensors";
  EXPECT_THAT(opened(), HasSubstr("backbone with the digest 00"));
  auto demonstrations = bank_of("a").demonstrations;
  for (Demonstration& one : demonstrations) one.memory = one.memory.narrow(1, 0, 16);
  folder_.write("other.safetensors", bank_bytes(demonstrations, (*bank)->metadata(), at::kFloat));
  EXPECT_THAT(opened(), HasSubstr("bank.memory"));
}

TEST_F(BankTest, that_contradicts_itself_is_refused) {
  make("a");
  request_.params.set("shots", int64_t{2});
  const auto file = checkpoints::open_safetensors(folder_ / "a/bank.safetensors");
  ASSERT_TRUE(file.ok());
  const auto with = [&](const std::string& name, std::vector<int32_t> numbers,
                        std::map<std::string, std::string> said = {}) {
    std::vector<checkpoints::StoredTensor> tensors;
    for (const auto& entry : (*file)->tensors()) {
      const auto mapped = (*file)->mapped_bytes(entry);
      tensors.push_back({entry.name,
                         entry.type,
                         entry.shape,
                         {reinterpret_cast<const char*>(mapped.data()), mapped.size()}});
      if (entry.name != name) continue;
      tensors.back().shape = {static_cast<int64_t>(numbers.size())};
      tensors.back().bytes = {reinterpret_cast<const char*>(numbers.data()), numbers.size() * 4};
    }
    auto metadata = (*file)->metadata();
    for (const auto& [key, value] : said) metadata[key] = value;
    folder_.write("changed.safetensors", checkpoints::safetensors_bytes(tensors, metadata));
    request_.artifacts["bank"].path = folder_ / "changed.safetensors";
    return opened();
  };
  EXPECT_EQ(with("", {}), "opened");
  request_.params.set("ratio", 2.0);
  EXPECT_THAT(opened(), HasSubstr("of 51 tokens has 13 rows; a 'ratio' of 2 takes 26"));
  request_.params.set("shots_as", std::string("tokens"));
  EXPECT_EQ(opened(), "opened") << "nothing is read as memory";
  request_.params.set("shots_as", std::string("memory"));
  request_.params.set("ratio", 4.0);
  EXPECT_THAT(with("bank.rows", {16, 0, 16, 16, 16}), HasSubstr("bank.rows holds 0"));
  EXPECT_THAT(with("bank.rows", {1, 1, 1, 1, 1}), HasSubstr("bank.memory"));
  EXPECT_THAT(with("bank.tokens", {64, 64}), HasSubstr("bank.ids"));
  EXPECT_THAT(with("bank.ids", {1, 2}), HasSubstr("bank.ids"));
  EXPECT_THAT(with("", {}, {{"bank.examples", "[\"a\"]"}}), HasSubstr("not the keys of its 5"));
  EXPECT_THAT(with("", {}, {{"bank.examples", R"(["a", "b", "c", "d", "e"])"}}),
              HasSubstr("data_sha256 is not the digest of its demonstrations"));
  auto demonstrations = bank_of("a").demonstrations;
  demonstrations.back().memory[0][0] = std::numeric_limits<float>::quiet_NaN();
  folder_.write("changed.safetensors", bank_bytes(demonstrations, (*file)->metadata(), at::kFloat));
  EXPECT_THAT(opened(), HasSubstr("bank.memory holds numbers that are not finite"));
}

TEST_F(BankTest, is_made_of_a_connector_that_is_there) {
  request_.params.set("objective", std::string("bank"));
  EXPECT_THAT(refusal(), HasSubstr("\"objective\": \"bank\" learns nothing"));
  request_.params.set("objective", std::string("response"));
  make("a");
  const auto learned = read_selfcp(folder_ / "a/adapter.safetensors", 32);
  ASSERT_TRUE(learned.ok());
  const Bank bank = bank_of("a");
  request_.artifacts.erase("bank");
  request_.params.set("objective", std::string("bank"));
  EXPECT_THAT(refusal(), HasSubstr("'development' is of learning"));
  data_.development.clear();
  request_.params.set("tag_id", int64_t{learned->form.tag + 1});
  EXPECT_THAT(refusal(), HasSubstr("it was trained with \"separator_id\": 3 and \"tag_id\": 4"));
  request_.params.set("tag_id", int64_t{learned->form.tag});
  Curve curve;
  const auto outcome = fit("again", curve);
  ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
  EXPECT_FALSE(curve.points.back().values.contains("loss")) << "nothing is learned";
  EXPECT_EQ(outcome->files.size(), 2U);
  const auto kept = read_selfcp(folder_ / "again/adapter.safetensors", 32);
  ASSERT_TRUE(kept.ok());
  for (const auto& [name, tensor] : kept->tensors) {
    EXPECT_TRUE(at::equal(tensor, learned->tensors.at(name))) << name;
  }
  const Bank again = bank_of("again");
  for (size_t i = 0; i < again.demonstrations.size(); ++i) {
    EXPECT_TRUE(at::equal(again.demonstrations[i].memory, bank.demonstrations[i].memory));
  }
  use_files("again", "again");
  request_.params.set("shots", int64_t{3});
  EXPECT_EQ(outputs({example(3)}).size(), 1U);
}

TEST_F(BankTest, what_cannot_be_read_is_an_error_of_its_example) {
  make("a");
  request_.params.set("shots", int64_t{5});
  const auto refused = [&](NumberedExample one) {
    qfs::test::RecordingSink sink;
    auto session = sessions_.open(request_, cache_);
    if (!session.ok()) return session.error().message;
    const Status status = (*session)->run({&one, 1}, sink);
    return status.ok() ? "written" : status.error().message;
  };
  EXPECT_EQ(refused(example(3)), "written");
  EXPECT_EQ(refused(example(3, "")), "written") << "a summary is asked for";
  EXPECT_THAT(refused(example(3, " \n")), HasSubstr("'example-3': its query is white space"));
  request_.params.set("max_new_tokens", int64_t{920});
  EXPECT_THAT(refused(example(3)), HasSubstr("'example-3'"));
  request_.artifacts.clear();
  request_.params.set("demonstration_tokens", int64_t{1200});
  request_.params.set("demonstration", "{document}" + std::string(1100, 'x') + "{summary}");
  EXPECT_THAT(refusal(), HasSubstr("demonstration 'example-"));
}

TEST_F(BankTest, labels_are_chosen_by_perplexity_in_both_scopes) {
  make("a");
  request_.params.set("demonstration", std::string("{document} is {summary}"));
  request_.params.set("labels", std::string("ab, b, xyz"));
  for (const int64_t shots : {0, 2}) {
    SCOPED_TRACE(shots);
    if (shots > 0) request_.params.set("shots", shots);
    std::vector<std::string> chosen;
    for (const std::string scope : {"label", "full"}) {
      request_.params.set("label_scope", scope);
      const Prediction made = predictions({example(3)}).front();
      const auto facts = nlohmann::json::parse(made.extra.text).at("compression");
      std::string least;
      double value = INFINITY;
      for (const auto& choice : facts.at("choices")) {
        EXPECT_NE(choice.at("label"), choice.at("full"));
        if (choice.at(scope).get<double>() >= value) continue;
        value = choice.at(scope).get<double>();
        least = choice.at("answer").get<std::string>();
      }
      EXPECT_EQ(made.text, least);
      EXPECT_EQ(facts.at("by_" + scope), least);
      EXPECT_EQ(facts.contains("demonstrations"), shots > 0);
      EXPECT_GT(facts.at("flops_eager").get<double>(), 0);
      EXPECT_EQ(made.tokens_out, 0);
      EXPECT_THAT(made.prompt, HasSubstr(" is " + least));
    }
    const auto together = outputs({example(3), example(5), example(0)});
    EXPECT_EQ(together[1], outputs({example(5)}).front());
  }
  request_.params.set("labels", std::string("abcabc"));
  int right = 0;
  const std::vector<NumberedExample> all(data_.train.begin(), data_.train.end());
  const auto constant = outputs(all);
  for (size_t i = 0; i < all.size(); ++i) {
    right += constant[i] == all[i].example.references.front() ? 1 : 0;
  }
  EXPECT_EQ(right, 5) << "one label is right as often as it is the answer";
}

TEST_F(BankTest, label_losses_are_those_of_the_whole_text_without_demonstrations) {
  make("a");
  request_.params.set("demonstration", std::string("{document}{summary}"));
  request_.params.set("labels", std::string("b"));
  const auto facts = compression(0).at("choices")[0];
  const auto prompts = prompted::open_prompts(request_, cache_);
  auto decoder =
      prompts->backbone->network->decoder(request_.runtime, prompts->backbone->digest, cache_);
  nn::SequenceInput input{.ids = {qfs::test::TinyLlama::kEnd}};
  for (const char c : rendered_document(example(0).example) + "b") {
    input.ids.push_back(static_cast<unsigned char>(c));
  }
  const auto logits = nn::sequence_logits(**decoder, input);
  ASSERT_TRUE(logits.ok());
  const at::Tensor known = logits->log_softmax(1);
  double sum = 0;
  const auto last = static_cast<int64_t>(input.ids.size()) - 1;
  for (int64_t t = 1; t <= last; ++t) {
    sum -= known[t - 1][input.ids[static_cast<size_t>(t)]].item<double>();
  }
  EXPECT_NEAR(facts.at("full").get<double>(), std::exp(sum / static_cast<double>(last)), 1e-2);
  EXPECT_NEAR(facts.at("label").get<double>(), std::exp(-known[last - 1]['b'].item<double>()),
              1e-2);
}

TEST_F(BankTest, one_pass_gives_the_memory_of_every_ratio) {
  trained("a", 4);
  const auto own = compressor();
  const auto passes = std::make_shared<KeptPasses>();
  const SweptSelfcp swept(own, 2, Rounding::ceil, passes);
  PromptParts parts{{81, 58}, {}, {65}};
  for (int32_t i = 0; i < 73; ++i) parts.content.push_back(i * 7 % 256);
  for (const double ratio : {12.0, 8.0, 4.0, 2.0, 24.0}) {
    const Plan plan = split(73, {.window = 24, .ratio = ratio});
    const CompressionTask task{parts, plan};
    const auto alone = own->compress({&task, 1});
    const auto shared = swept.compress({&task, 1});
    ASSERT_TRUE(alone.ok() && shared.ok());
    EXPECT_EQ(passes->size(), 3U) << "segments, whatever the ratio";
    for (size_t i = 0; i < plan.segments.size(); ++i) {
      const at::Tensor& rows = shared->front().memory[i].rows;
      ASSERT_EQ(rows.size(0), plan.segments[i].memory);
      EXPECT_TRUE(at::allclose(rows, alone->front().memory[i].rows, 0, 1e-5));
      EXPECT_EQ(shared->front().passes[i].tokens, alone->front().passes[i].tokens);
      EXPECT_EQ(shared->front().passes[i].beside, alone->front().passes[i].beside);
    }
  }
  parts.head.push_back(7);
  const Plan plan = split(73, {.window = 24, .ratio = 4.0});
  const CompressionTask asked{parts, plan};
  ASSERT_TRUE(swept.compress({&asked, 1}).ok());
  EXPECT_EQ(passes->size(), 6U) << "segments are read behind the query";
}

TEST_F(BankTest, cells_of_one_host_share_passes_and_write_the_same) {
  request_.params.set("ratio", 4.0);
  trained("a", 20);
  std::vector<std::vector<std::string>> own;
  const std::vector<NumberedExample> two = {example(3), example(5)};
  for (const double ratio : {4.0, 12.0, 0.0}) {
    request_.params.set("ratio", ratio);
    own.push_back(outputs(two));
  }
  request_.params.set("pass_ratio", 4.0);
  size_t i = 0;
  for (const double ratio : {4.0, 12.0, 0.0}) {
    request_.params.set("ratio", ratio);
    qfs::test::RecordingSink sink;
    auto session = sessions_.open(request_, cache_);
    ASSERT_TRUE(session.ok()) << session.error().to_string();
    ASSERT_TRUE((*session)->run(two, sink).ok());
    EXPECT_EQ(sink.predictions.at(3).text, own[i][0]) << ratio;
    EXPECT_EQ(sink.predictions.at(5).text, own[i++][1]) << ratio;
  }
}

}  // namespace
}  // namespace qfs::compressors

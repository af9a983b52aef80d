// The sessions of locator on a tiny encoder: what it learns to find, and what it writes.
#include "methods/locator/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "methods/locator/spec.h"
#include "methods/models/registry/artifacts.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_encoder.h"
#include "tests/support/trained_session.h"

namespace qfs::locator {
namespace {

using ::qfs::test::Curve;
using ::qfs::test::RecordingSink;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const MethodSpec& the_spec() {
  static const LocatorSpec spec;
  return spec;
}

class LocatorSessionTest : public qfs::test::TrainedSessionTest {
 protected:
  LocatorSessionTest() : TrainedSessionTest(the_spec(), session_factory()) {
    Params params;
    for (const ParamSpec& param : the_spec().params()) {
      const auto value = request_.params.values().find(param.name);
      if (value != request_.params.values().end()) params.set(param.name, value->second);
    }
    request_.params = params;
    request_.params.set("local_context", int64_t{6});
    request_.params.set("chunk_tokens", int64_t{48});
    request_.params.set("train_batch", int64_t{2});
    request_.backbones["locator"] = qfs::test::TinyEncoder().write(encoder_);
    data_.train.clear();
    data_.development.clear();
    for (int64_t i = 0; i < 6; ++i) data_.train.push_back(meeting(i));
    for (int64_t i = 20; i < 22; ++i) data_.development.push_back(meeting(i));
  }

  /// Its third turn is what its summary is about, its last one is the gold evidence.
  static NumberedExample meeting(int64_t i) {
    NumberedExample numbered = example(i);
    Example& one = numbered.example;
    one.language = "en";
    one.document = {{"we begin now then", "ann"},
                    {"is it late " + std::to_string(i), "bob"},
                    {"all of us buy a red hat", "ann"},
                    {" ", "bob"},
                    {"hm", "bob"},
                    {"good bye to you", "ann"}};
    one.references = {"us buy a red hat"};
    one.evidence = {{3, 5}};
    return numbered;
  }
  Curve trained(const std::string& name, int64_t steps) {
    request_.artifacts.clear();
    request_.params.set("steps", steps);
    Curve curve;
    const auto outcome = fit(name, curve);
    EXPECT_TRUE(outcome.ok()) << outcome.error().to_string();
    request_.artifacts["locator"] = {"", folder_ / (name + "/locator.safetensors"), ""};
    return curve;
  }
  Prediction predicted(const NumberedExample& one) {
    const auto made = predictions({one});
    return made.empty() ? Prediction() : made.front();
  }
  static nlohmann::json facts(const Prediction& prediction) {
    return nlohmann::json::parse(prediction.extra.text);
  }

  const qfs::test::TemporaryFolder encoder_;
};

using LocatorSessionDeathTest = LocatorSessionTest;

TEST_F(LocatorSessionDeathTest, a_kill_is_continued_to_the_same_bytes) {
  request_.params.set("steps", int64_t{4});
  // Of two chunks one is drawn at a step.
  request_.params.set("train_chunks", int64_t{1});
  for (NumberedExample& one : data_.train) one.example.evidence = {{0, 0}, {5, 5}};
  expect_kills_change_nothing({"training.step:2"}, "locator.safetensors");
}

TEST_F(LocatorSessionTest, it_learns_to_find_gold_evidence) {
  const Curve curve = trained("a", 40);
  EXPECT_LT(curve.last("loss"), curve.first("loss") / 2);
  EXPECT_LT(curve.last("development.loss"), curve.first("loss") / 2);
  EXPECT_EQ(curve.last("examples"), 6);
  EXPECT_EQ(curve.last("examples.skipped"), 0);
  request_.params.set("local_context", int64_t{4});
  EXPECT_EQ(predicted(meeting(30)).text, "good bye to you");
  Curve again;
  request_.artifacts.clear();
  // Rank 8 of 4 layers of attention and the first of the MLP, twice, and the head.
  EXPECT_EQ(fit("a", again)->cost.trainable_parameters, 2 * 8 * (4 * 32 + 16 + 24) + 17);
}

TEST_F(LocatorSessionTest, it_learns_the_oracle_of_the_reference_likewise) {
  request_.params.set("learn_from", std::string("oracle"));
  EXPECT_FALSE(the_spec().needs(request_.params).learns_evidence);
  for (NumberedExample& one : data_.train) one.example.evidence.clear();
  for (NumberedExample& one : data_.development) one.example.evidence.clear();
  trained("oracle", 40);
  request_.params.set("local_context", int64_t{7});
  EXPECT_EQ(predicted(meeting(31)).text, "all of us buy a red hat");
  data_.train.front().example.references.clear();
  request_.artifacts.clear();
  EXPECT_THAT(refusal(), HasSubstr("'example-0' has no reference summary"));
}

TEST_F(LocatorSessionTest, examples_without_evidence_are_passed_over_and_counted) {
  EXPECT_TRUE(the_spec().needs(request_.params).learns_evidence);
  EXPECT_FALSE(the_spec().needs(request_.params).evidence);
  data_.train[1].example.evidence.clear();
  data_.train[4].example.evidence = {{3, 4}};  // a blank turn and one of a word
  const Curve curve = trained("some", 2);
  EXPECT_EQ(curve.last("examples"), 4);
  EXPECT_EQ(curve.last("examples.skipped"), 2);
  request_.artifacts.clear();
  for (NumberedExample& one : data_.train) one.example.evidence.clear();
  EXPECT_THAT(refusal(), HasSubstr("none of the 6 training examples has gold evidence"));
  data_.train = {meeting(1)};
  for (NumberedExample& one : data_.development) one.example.evidence.clear();
  EXPECT_THAT(refusal(), HasSubstr("none of the 2 development examples has gold evidence"));
  data_.train.front().example.evidence = {{2, 6}};
  EXPECT_THAT(refusal(), HasSubstr("evidence of example 'example-1' is in segments 2 to 6"));
}

TEST_F(LocatorSessionTest, the_best_turns_stand_in_document_order_up_to_the_room) {
  trained("a", 40);
  request_.params.set("local_context", int64_t{1000});
  const Prediction all = predicted(meeting(32));
  EXPECT_EQ(all.text,
            "we begin now then\nis it late 32\nall of us buy a red hat\nhm\ngood bye to you");
  EXPECT_EQ(all.finish, FinishReason::stop);
  EXPECT_EQ(facts(all).at("turns"), nlohmann::json({0, 1, 2, 4, 5}));
  EXPECT_EQ(facts(all).at("visible_turns"), 5);
  EXPECT_EQ(facts(all).at("unseen_turns"), 0);
  EXPECT_EQ(all.tokens_out, 20);

  request_.params.set("local_context", int64_t{3});
  const Prediction cut = predicted(meeting(32));
  EXPECT_EQ(cut.text, "good bye to");
  EXPECT_EQ(cut.finish, FinishReason::length);
  EXPECT_EQ(cut.tokens_out, 3);
  // As the report reads it: bytes of the rendered turn, behind "ann: ".
  EXPECT_THAT(cut.truncation->kept, ElementsAre(ByteSpan{5, 5, 16}));
  EXPECT_EQ(cut.truncation->kept_tokens, 3);
  EXPECT_EQ(cut.truncation->document_tokens, 26);  // names are part of a document
}

TEST_F(LocatorSessionTest, turns_behind_the_last_chunk_are_not_found) {
  request_.params.set("max_chunks", int64_t{1});
  for (NumberedExample& one : data_.train) one.example.evidence = {{0, 0}};
  for (NumberedExample& one : data_.development) one.example.evidence = {{0, 0}};
  trained("short", 2);
  request_.params.set("local_context", int64_t{1000});
  const Prediction some = predicted(meeting(33));
  const auto told = facts(some);
  EXPECT_GT(told.at("unseen_turns"), 0);
  EXPECT_EQ(told.at("turns").size(), told.at("visible_turns"));
  EXPECT_EQ(told.at("visible_turns").get<int>() + told.at("unseen_turns").get<int>(), 5);
}

TEST_F(LocatorSessionTest, outputs_say_how_much_of_the_evidence_they_have) {
  trained("a", 40);
  EXPECT_FALSE(facts(predicted(meeting(34))).contains("observed"));
  request_.params.set("evidence_facts", true);
  EXPECT_TRUE(the_spec().needs(request_.params).evidence);
  request_.params.set("local_context", int64_t{1000});
  const auto all = facts(predicted(meeting(34))).at("observed");
  EXPECT_EQ(all.at("evidence_turns"), 2);  // the blank one is none
  EXPECT_EQ(all.at("evidence_recall"), 1.0);
  EXPECT_EQ(all.at("evidence_precision"), 0.4);
  request_.params.set("local_context", int64_t{4});
  const auto best = facts(predicted(meeting(34))).at("observed");
  EXPECT_EQ(best.at("evidence_recall"), 0.5);
  EXPECT_EQ(best.at("evidence_precision"), 1.0);
  NumberedExample without = meeting(35);
  without.example.evidence.clear();
  const auto none = facts(predicted(without)).at("observed");
  EXPECT_EQ(none.at("evidence_turns"), 0);
  EXPECT_FALSE(none.contains("evidence_recall"));
}

TEST_F(LocatorSessionTest, a_document_without_text_has_no_turns) {
  trained("a", 1);
  NumberedExample blank = meeting(36);
  blank.example.document = {{" ", "ann"}};
  const Prediction empty = predicted(blank);
  EXPECT_EQ(empty.text, "");
  EXPECT_EQ(empty.finish, FinishReason::stop);
}

TEST_F(LocatorSessionTest, a_training_begins_with_another) {
  request_.params.set("schedule", std::string("constant"));
  request_.params.set("warmup", 0.0);
  request_.params.set("train_batch", int64_t{6});
  request_.params.set("evaluate_every", int64_t{0});
  const Curve longer = trained("longer", 5);
  trained("first", 4);
  request_.params.set("steps", int64_t{1});
  Curve second;
  ASSERT_TRUE(fit("second", second).ok());
  // Matrices and head go on where they were.
  EXPECT_NEAR(second.first("loss"), longer.last("loss"), 1e-5);
  request_.params.set("rank", int64_t{4});
  EXPECT_THAT(refusal(), HasSubstr("its rank is 8, the training's 4"));
  Params recipe;
  recipe.set("rank", int64_t{8});
  EXPECT_THAT(the_spec().check_init(request_.params, recipe).error().message,
              HasSubstr("its rank is 8"));
}

TEST_F(LocatorSessionTest, turns_may_be_scored_by_similarity) {
  trained("plain", 1);
  request_.params.set("score", std::string("similarity"));
  ResourceCache cache;
  EXPECT_THAT(sessions_.open(request_, cache).error().message,
              HasSubstr("was trained with another 'score'"));
  const Curve curve = trained("similar", 60);
  EXPECT_LT(curve.last("loss"), curve.first("loss") / 2);
  // What reads with the file asks it how.
  Params without;
  for (const auto& [name, value] : request_.params.values()) {
    if (name != "score") without.set(name, value);
  }
  const Prediction asked = predicted(meeting(38));
  request_.params = without;
  EXPECT_EQ(predicted(meeting(38)).text, asked.text);
  EXPECT_THAT(refusal(), HasSubstr("its training's 'score' is another"));
}

TEST_F(LocatorSessionTest, a_file_names_its_encoder_and_its_method) {
  trained("a", 1);
  const auto file = registry::resolve_artifact(request_.artifacts.at("locator").path);
  ASSERT_TRUE(file.ok()) << file.error().to_string();
  EXPECT_EQ(file->method, "locator");
  EXPECT_EQ(file->backbone, request_.backbones.at("locator").digest);
  EXPECT_EQ(file->recipe.get<int64_t>("chunk_tokens"), 48);
  const qfs::test::TemporaryFolder other;
  request_.backbones["locator"] = qfs::test::TinyEncoder{.layers = 1}.write(other);
  ResourceCache cache;
  EXPECT_THAT(sessions_.open(request_, cache).error().message,
              HasSubstr("it was trained over the encoder"));
}

TEST_F(LocatorSessionTest, roberta_ranks_too_and_a_query_without_room_is_named) {
  const qfs::test::TemporaryFolder folder;
  request_.backbones["locator"] = qfs::test::TinyEncoder{.roberta = true}.write(folder);
  const Curve curve = trained("roberta", 12);
  EXPECT_LT(curve.last("loss"), curve.first("loss"));
  NumberedExample wordy = meeting(37);
  wordy.example.query = std::string(60, 'q');
  ResourceCache cache;
  RecordingSink sink;
  auto session = sessions_.open(request_, cache);
  ASSERT_TRUE(session.ok());
  EXPECT_THAT((*session)->run({&wordy, 1}, sink).error().message,
              HasSubstr("example 'example-37': a query of"));
}

TEST(LocatorSpec, says_what_it_needs) {
  Params params;
  for (const ParamSpec& param : the_spec().params()) {
    if (param.default_value) params.set(param.name, *param.default_value);
  }
  EXPECT_THAT(the_spec().validate(params).error().message,
              HasSubstr("'local_context' is left out"));
  params.set("local_context", int64_t{64});
  EXPECT_TRUE(the_spec().validate(params).ok());
  EXPECT_FALSE(params.has("evidence_facts"));
  const Needs needs = the_spec().needs(params);
  EXPECT_THAT(needs.backbones, ElementsAre("locator"));
  EXPECT_THAT(needs.artifacts, ElementsAre("locator"));
  EXPECT_THAT(needs.model_types.at("locator"), ElementsAre("bert", "roberta"));
  EXPECT_FALSE(the_spec().seed_matters(params));

  const test::TemporaryFolder folder;
  const Resource model = test::TinyEncoder().write(folder);  // reads 64 tokens
  params.set("chunk_tokens", int64_t{64});
  EXPECT_TRUE(LocatorSpec().check_model(params, "locator", model).ok());
  params.set("chunk_tokens", int64_t{65});
  EXPECT_THAT(LocatorSpec().check_model(params, "locator", model).error().message,
              HasSubstr("'chunk_tokens' is 65"));
}

}  // namespace
}  // namespace qfs::locator

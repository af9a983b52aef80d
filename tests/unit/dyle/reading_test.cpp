// What outputs of dyle say of what was read, with files that were trained for another reading.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "methods/models/registry/artifacts.h"
#include "methods/models/registry/registry.h"
#include "tests/support/dyle_session.h"
#include "tests/support/tiny_seq2seq.h"

namespace qfs::dyle {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kTurns[] = {22, 17, 28, 7, 20};  // of characters, with speakers, and so of tokens

class DyleReadingTest : public test::DyleSessionTest {
 protected:
  void use_seq2seq() {
    request_.backbone = *registry::resolve_backbone(test::TinySeq2Seq().write(generator_));
    request_.params.set("prompt", default_prompt());
  }
  static std::string default_prompt() {
    for (const ParamSpec& param : test::dyle_spec().params()) {
      if (param.name == "prompt") return *std::get_if<std::string>(&*param.default_value);
    }
    return "";
  }
  static nlohmann::json facts_of(const Prediction& made) {
    return nlohmann::json::parse(made.extra.text);
  }
  /// Tokens of the turns that were read, as far as `most` of each were.
  static int64_t kept(const nlohmann::json& turns, int64_t most) {
    int64_t sum = 0;
    for (const int64_t i : turns) sum += std::min(kTurns[i], most);
    return sum;
  }

 private:
  const test::TemporaryFolder generator_;
};

TEST_F(DyleReadingTest, the_ledger_counts_what_rows_kept_of_the_document) {
  trained("a", 2);
  request_.params.set("snippets", std::string("all"));
  const Prediction all = predicted(meeting(5));
  EXPECT_EQ(all.truncation->document_tokens, 22 + 17 + 28 + 7 + 20);
  // "/why?:" takes six of 24 tokens, and what the tokenizer puts in front.
  const int64_t front = all.tokens_in - 5 * 6 - all.truncation->kept_tokens;
  ASSERT_EQ(front % 5, 0);
  const int64_t room = 24 - 6 - front / 5;
  EXPECT_EQ(all.truncation->kept_tokens, kept({0, 1, 2, 3, 4}, room));
  EXPECT_LT(room, 20);
  EXPECT_EQ(facts_of(all).at("cut_by_generator"), 3);
  EXPECT_EQ(facts_of(all).at("query_cut_by_generator"), 0);
  EXPECT_TRUE(all.truncation->query_whole);
}

TEST_F(DyleReadingTest, copies_are_no_snippets_that_were_cut) {
  trained("a", 2);
  request_.params.set("k", int64_t{20});
  const Prediction filled = predicted(meeting(5));  // of five turns fifteen copies
  EXPECT_EQ(facts_of(filled).at("snippets").size(), 5U);
  EXPECT_EQ(facts_of(filled).at("cut_by_generator"), 3);
  request_.params.set("profile", std::string("paper"));
  const Prediction five = predicted(meeting(5));
  EXPECT_EQ(filled.truncation, five.truncation);
  EXPECT_GT(filled.tokens_in, five.tokens_in) << "copies are read all the same";
}

TEST_F(DyleReadingTest, a_source_that_lost_its_query_alone_lost_nothing_of_the_snippet) {
  use_seq2seq();
  trained("a", 1);
  request_.params.set("snippets", std::string("all"));
  // Two tokens are around it: " // why?" has eight, so that only the fourth turn leaves room for
  // it.
  request_.params.set("snippet_tokens", int64_t{26});
  const Prediction made = predicted(meeting(5));
  const nlohmann::json facts = facts_of(made);
  EXPECT_EQ(facts.at("cut_by_generator"), 1);  // the third turn
  EXPECT_EQ(facts.at("query_cut_by_generator"), 4);
  EXPECT_EQ(made.truncation->kept_tokens, kept({0, 1, 2, 3, 4}, 24));
  EXPECT_TRUE(made.truncation->query_whole) << "one row has it";
  request_.params.set("snippets", std::string("oracle"));
  EXPECT_FALSE(predicted(meeting(5)).truncation->query_whole);
}

TEST_F(DyleReadingTest, the_gate_that_wrote_is_that_of_the_text_read_anew) {
  use_seq2seq();
  trained("a", 6);
  request_.params.set("gate_map", std::string("output"));
  const nlohmann::json facts = facts_of(predicted(meeting(33)));
  double entropy = 0;
  for (const auto& step : facts.at("gate")) {
    for (const int64_t part : step) {
      const double weight = static_cast<double>(part) / 1e4;
      if (part > 0) entropy -= weight * std::log(weight);
    }
  }
  EXPECT_NEAR(entropy / static_cast<double>(facts.at("gate").size()),
              facts.at("observed").at("gate_entropy"), 2e-3);
}

TEST_F(DyleReadingTest, a_folder_stands_for_the_trained_file_in_it) {
  trained("a", 1);
  const auto facts = registry::resolve_artifact(folder_ / "a");
  ASSERT_TRUE(facts.ok()) << facts.error().to_string();
  EXPECT_EQ(facts->file.path, trained_path("a"));
  EXPECT_EQ(facts->method, "dyle");
  EXPECT_EQ(facts->file.digest, registry::resolve_artifact(trained_path("a"))->file.digest);
  folder_.write("a/other.safetensors", "");
  EXPECT_THAT(registry::resolve_artifact(folder_ / "a").error().message,
              HasSubstr("name 'dyle.safetensors', 'other.safetensors'"));
  const test::TemporaryFolder empty;
  EXPECT_THAT(registry::resolve_artifact(empty.path()).error().message,
              HasSubstr("there is no trained file '" + empty.path() + "/adapter_model"));
}

TEST_F(DyleReadingTest, outputs_say_what_the_extractor_did_not_see) {
  trained("a", 2);
  EXPECT_EQ(extra_of(meeting(33)).at("unseen_snippets"), 0);
  EXPECT_EQ(extra_of(meeting(33)).at("cut_by_extractor"), 0);
  NumberedExample one = meeting(33);
  one.example.document[1].text = std::string(60, 'x');  // longer than a chunk of 48
  request_.params.set("max_chunks", int64_t{2});
  const auto facts = extra_of(one);
  EXPECT_EQ(facts.at("cut_by_extractor"), 1);
  EXPECT_EQ(facts.at("unseen_snippets"), 3) << "what lies behind two chunks";
  for (const auto& snippet : facts.at("snippets")) EXPECT_LT(snippet, 2);
}

}  // namespace
}  // namespace qfs::dyle

// What outputs of dyle say of what was read, with files that were trained for another reading.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "methods/models/checkpoints/safetensors.h"
#include "methods/models/peft/tensor_files.h"
#include "methods/models/registry/artifacts.h"
#include "methods/models/registry/registry.h"
#include "methods/zero_shot/session.h"
#include "methods/zero_shot/spec.h"
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
  static nlohmann::json facts_of(const Prediction& made) {
    return nlohmann::json::parse(made.extra.text);
  }
  /// Tokens of the turns that were read, as far as `most` of each were.
  static int64_t kept(const nlohmann::json& turns, int64_t most) {
    int64_t sum = 0;
    for (const int64_t i : turns) sum += std::min(kTurns[i], most);
    return sum;
  }

  /// What zero_shot writes with the same backbone; `layout` is its `prompt` or `source`.
  Prediction plain(const NumberedExample& one, const std::string& layout,
                   const std::string& text) const {
    SessionRequest request = request_;
    request.artifacts.clear();
    request.backbones.clear();
    request.params = {};
    for (const ParamSpec& param : zero_shot::ZeroShotSpec().params()) {
      if (param.default_value) request.params.set(param.name, *param.default_value);
    }
    request.params.set("chat", false);
    request.params.set(layout, text);
    for (const char* name : {"max_new_tokens", "num_beams"}) {
      if (const auto own = request_.params.find<int64_t>(name)) request.params.set(name, *own);
    }
    ResourceCache cache;
    auto session = zero_shot::session_factory().open(request, cache);
    EXPECT_TRUE(session.ok()) << session.error().to_string();
    test::RecordingSink sink;
    const Status status = (*session)->run({&one, 1}, sink);
    EXPECT_TRUE(status.ok()) << status.error().to_string();
    return sink.predictions.at(one.ordinal);
  }
  /// A document of one turn is written of as the generator itself does, token for token.
  void expect_one_snippet_is_plain_search(const std::string& layout, const std::string& text) {
    request_.params.set("learning_rate", 0.0);  // the generator stays as it is
    request_.params.set("k", int64_t{1});
    request_.params.set("snippet_tokens", int64_t{64});
    request_.params.set("max_new_tokens", int64_t{16});
    trained("one", 1);
    const NumberedExample whole = meeting(33);
    for (const int64_t beams : {1, 3}) {
      if (beams > 1) request_.params.set("num_beams", beams);
      std::set<std::string> texts;
      for (const Segment& turn : whole.example.document) {
        SCOPED_TRACE(std::to_string(beams) + " beams, " + turn.text);
        NumberedExample one = whole;
        one.example.document = {turn};
        const Prediction wanted = plain(one, layout, text);
        for (const char* profile : {"released", "paper"}) {
          request_.params.set("profile", std::string(profile));
          const Prediction made = predicted(one);
          EXPECT_EQ(made.text, wanted.text);
          EXPECT_EQ(made.tokens_in, wanted.tokens_in);
          EXPECT_EQ(made.tokens_out, wanted.tokens_out);
          EXPECT_EQ(made.finish, wanted.finish);
        }
        texts.insert(wanted.text);
      }
      EXPECT_GT(texts.size(), 1U) << "what is read would not be seen";
    }
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
  EXPECT_EQ(facts_of(filled).at("observed").at("copied_snippets"), 15);
  request_.params.set("profile", std::string("paper"));
  const Prediction five = predicted(meeting(5));
  EXPECT_EQ(facts_of(five).at("observed").at("copied_snippets"), 0);
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

TEST_F(DyleReadingTest, one_snippet_is_plain_search_of_a_decoder) {
  expect_one_snippet_is_plain_search("prompt", "{document}/{query}:");
}

TEST_F(DyleReadingTest, one_snippet_is_plain_search_of_an_encoder_decoder) {
  use_seq2seq();
  expect_one_snippet_is_plain_search("source", "{document} // {query}");
}

TEST_F(DyleReadingTest, snippets_scored_by_similarity_are_learned_and_read_so) {
  request_.params.set("score", std::string("similarity"));
  const test::Curve curve = trained("similar", 60);
  EXPECT_LT(curve.last("loss.oracle"), curve.first("loss.oracle") / 2);
  EXPECT_EQ(extra_of(meeting(30)).at("snippets").at(0), 2);
  request_.params.set("score", std::string("head"));
  EXPECT_THAT(write_refusal(meeting(30)), HasSubstr("was trained with \"score\": \"similarity\""));
  trained("plain", 1);
  EXPECT_EQ(write_refusal(meeting(30)), "written");
  request_.params.set("score", std::string("similarity"));
  EXPECT_THAT(write_refusal(meeting(30)), HasSubstr("was not trained with"));
}

TEST_F(DyleReadingTest, outputs_say_how_the_snippets_meet_the_oracle) {
  trained("a", 12);
  EXPECT_FALSE(test::dyle_spec().needs(request_.params).references);
  EXPECT_FALSE(extra_of(meeting(33)).at("observed").contains("oracle_recall"));
  request_.params.set("oracle_facts", true);
  EXPECT_TRUE(test::dyle_spec().needs(request_.params).references);
  request_.params.set("snippets", std::string("all"));  // of which the third is the oracle
  const auto facts = extra_of(meeting(33)).at("observed");
  EXPECT_EQ(facts.at("oracle_snippets"), 1);
  EXPECT_EQ(facts.at("oracle_recall"), 1.0);
  EXPECT_EQ(facts.at("oracle_precision"), 0.2);
  // The oracle may take a turn as often as the document has it; what it has is found once.
  NumberedExample twice = meeting(33);
  twice.example.document.push_back(twice.example.document[2]);
  twice.example.references.front() += " " + twice.example.references.front();
  EXPECT_EQ(extra_of(twice).at("observed").at("oracle_recall"), 1.0);
  request_.params.set("snippets", std::string("oracle"));
  const auto of_oracle = extra_of(twice).at("observed");
  EXPECT_EQ(of_oracle.at("oracle_recall"), 1.0);
  EXPECT_EQ(of_oracle.at("oracle_precision"), 1.0);
  request_.params.set("snippets", std::string("all"));
  NumberedExample other = meeting(34);
  other.example.references = {"zzz"};
  EXPECT_EQ(extra_of(other).at("observed").at("oracle_snippets"), 0);
  EXPECT_FALSE(extra_of(other).at("observed").contains("oracle_recall"));
  other.example.references.clear();
  EXPECT_THAT(write_refusal(other), HasSubstr("'example-34' has no reference summary"));
}

TEST_F(DyleReadingTest, of_an_empty_oracle_nothing_is_recalled_and_nothing_read_is_in_it) {
  trained("a", 2);
  request_.params.set("oracle_facts", true);
  // No word in common; and a turn that the oracle takes, but which is too short to be learned.
  for (const char* reference : {"zzz", "hm"}) {
    SCOPED_TRACE(reference);
    NumberedExample one = meeting(33);
    one.example.references = {reference};
    const nlohmann::json extracted = facts_of(predicted(one));
    const nlohmann::json& told = extracted.at("observed");
    EXPECT_EQ(told.at("oracle_snippets"), 0);
    EXPECT_FALSE(told.contains("oracle_recall")) << "no share, which a mean would count as 0";
    EXPECT_EQ(told.at("oracle_precision"), 0.0);
    // Where the oracle is to be read, too, the extractor chooses.
    request_.params.set("snippets", std::string("oracle"));
    EXPECT_EQ(facts_of(predicted(one)).at("snippets"), extracted.at("snippets"));
    request_.params.set("snippets", std::string("extracted"));
  }
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

TEST_F(DyleReadingTest, the_releases_two_files_in_a_folder_are_one_model) {
  use_seq2seq();
  const test::TemporaryFolder roberta;
  request_.backbones[kExtractor] = test::TinyEncoder{.roberta = true}.write(roberta);
  request_.params.set("trained", std::string("weights"));
  trained("whole", 3);
  const std::string said = predicted(meeting(34)).text;
  const auto file = checkpoints::open_safetensors(trained_path("whole"));
  ASSERT_TRUE(file.ok());
  std::map<std::string, at::Tensor> extractor;
  std::map<std::string, at::Tensor> generator;
  for (const checkpoints::TensorEntry& entry : (*file)->tensors()) {
    (entry.name.starts_with("rag.") ? generator : extractor)[entry.name] =
        *peft::read_tensor(**file, entry);
  }
  const auto put = [&](const std::string& name, const std::map<std::string, at::Tensor>& tensors) {
    folder_.write("release/" + name + ".safetensors",
                  peft::tensor_file_bytes(tensors, {}, at::kFloat));
  };
  put("best-retriever", extractor);
  put("best-generator", generator);
  const auto facts = registry::resolve_artifact(folder_ / "release");
  ASSERT_TRUE(facts.ok()) << facts.error().to_string();
  EXPECT_EQ(facts->file.path, folder_ / "release");
  EXPECT_EQ(facts->file.digest.size(), 64U);
  EXPECT_EQ(facts->method, "") << "of the release's files nothing is known";
  request_.artifacts["adapter"] = facts->file;
  EXPECT_EQ(predicted(meeting(34)).text, said);
  // Both may have a tensor, if it is the same; else it is not clear which is meant.
  generator["classifier.bias"] = extractor.at("classifier.bias");
  put("best-generator", generator);
  const auto other = registry::resolve_artifact(folder_ / "release");
  ASSERT_TRUE(other.ok()) << other.error().to_string();
  EXPECT_NE(other->file.digest, facts->file.digest);
  EXPECT_EQ(predicted(meeting(34)).text, said);
  generator["classifier.bias"] = extractor.at("classifier.bias") + 1;
  put("best-generator", generator);
  EXPECT_THAT(registry::resolve_artifact(folder_ / "release").error().message,
              HasSubstr("the tensor 'classifier.bias' is another one in"));
  EXPECT_THAT(write_refusal(meeting(34)), HasSubstr("the tensor 'classifier.bias'"));
  // What the release's encoder has besides is passed over; nothing else is.
  generator.erase("classifier.bias");
  extractor["roberta.embeddings.position_ids"] = at::zeros({1, 4});
  extractor["roberta.pooler.dense.weight"] = at::zeros({2, 2});
  put("best-retriever", extractor);
  put("best-generator", generator);
  EXPECT_EQ(predicted(meeting(34)).text, said);
  const auto refused = [&](const std::string& name, const at::Tensor& tensor) {
    auto changed = generator;
    changed[name] = tensor;
    put("best-generator", changed);
    return write_refusal(meeting(34));
  };
  EXPECT_THAT(refused("rag.dynamic_mlp.6.weight", at::zeros({1, 2})),
              HasSubstr("'rag.dynamic_mlp.6.weight' is none of DYLE's"));
  EXPECT_THAT(refused("rag.dynamic_mlp.4.weight", at::zeros({1, 3})),
              HasSubstr("'rag.dynamic_mlp.4.weight' is [1, 3]; the generator's gate has [1, "));
  for (const char* of_model : {"generator.model.layers.0.q_proj", "extractor.encoder.layer.0.x"}) {
    EXPECT_THAT(refused(std::string(of_model) + ".lora_A.weight", at::zeros({2, 2})),
                HasSubstr("low-rank matrices stand beside all weights"));
  }
  generator.erase("rag.dynamic_mlp.2.bias");
  put("best-generator", generator);
  EXPECT_THAT(write_refusal(meeting(34)), HasSubstr("the gate has no 'rag.dynamic_mlp.2.bias'"));
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

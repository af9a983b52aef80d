// The sessions of retrieve_generate on tiny models: what the generator reads, with which files, and
// what is refused.
#include "methods/retrieve_generate/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "harness/core/files.h"
#include "methods/models/ranking/locator.h"
#include "methods/models/ranking/snippets.h"
#include "methods/retrieve_generate/spec.h"
#include "tests/support/tiny_encoder.h"
#include "tests/support/trained_session.h"

namespace qfs::retrieve_generate {
namespace {

using ::qfs::test::Curve;
using ::qfs::test::RecordingSink;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const MethodSpec& the_spec() {
  static const RetrieveGenerateSpec spec;
  return spec;
}

class RetrieveGenerateTest : public qfs::test::TrainedSessionTest {
 protected:
  RetrieveGenerateTest() : TrainedSessionTest(the_spec(), session_factory()) {
    use_llama({}, "D: {document}\nA:");
    request_.params.set("budget", int64_t{7});
    request_.params.set("steps", int64_t{2});
    data_.train.clear();
    data_.development.clear();
    for (int64_t i = 0; i < 4; ++i) data_.train.push_back(meeting(i));
  }

  static NumberedExample meeting(int64_t i) {
    NumberedExample numbered = example(i, "red hat");
    numbered.example.document = {
        {"We begin now.", "ann"}, {"Ann has a red hat.", "bob"}, {"It is late.", "ann"}};
    numbered.example.document_id = "m" + std::to_string(i);
    return numbered;
  }
  Params without_budget() const {
    Params params;
    for (const auto& [name, value] : request_.params.values()) {
      if (name != "budget") params.set(name, value);
    }
    return params;
  }
  Result<Prediction> predicted(const NumberedExample& one = meeting(7)) {
    RecordingSink sink;
    ResourceCache cache;
    auto session = sessions_.open(request_, cache);
    if (!session.ok()) return session.error();
    if (const Status status = (*session)->run({&one, 1}, sink); !status.ok()) return status.error();
    return sink.predictions.at(one.ordinal);
  }
  std::string prompt() {
    const auto prediction = predicted();
    return prediction.ok() ? prediction->prompt : prediction.error().to_string();
  }
};

TEST_F(RetrieveGenerateTest, the_backbone_reads_what_matches_the_query) {
  EXPECT_TRUE(the_spec().needs(request_.params).artifacts.empty());
  const auto prediction = predicted();
  ASSERT_TRUE(prediction.ok()) << prediction.error().to_string();
  EXPECT_EQ(prediction->prompt, "D: bob: Ann has a red hat.\nA:");
  EXPECT_THAT(prediction->truncation->kept, ElementsAre(ByteSpan{1, 0, 23}));
  EXPECT_GT(prediction->truncation->document_tokens, prediction->truncation->kept_tokens);
}

TEST_F(RetrieveGenerateTest, dpr_takes_the_passage_nearest_to_the_query) {
  const qfs::test::TemporaryFolder folder;
  const Resource encoder = qfs::test::TinyEncoder().write(folder);
  request_.params.set("retriever", std::string("dpr"));
  EXPECT_THAT(the_spec().needs(request_.params).backbones,
              ElementsAre(kContextEncoder, kQuestionEncoder));
  EXPECT_THAT(prompt(), HasSubstr("no question_encoder was given"));
  request_.backbones = {{kContextEncoder, encoder}, {kQuestionEncoder, encoder}};
  for (const Segment& segment : meeting(7).example.document) {
    NumberedExample one = meeting(7);
    one.example.query = rendered(segment);
    request_.params.set("budget", int64_t{1});
    const auto prediction = predicted(one);
    ASSERT_TRUE(prediction.ok()) << prediction.error().to_string();
    EXPECT_EQ(prediction->prompt, "D: " + rendered(segment) + "\nA:");
  }
}

TEST_F(RetrieveGenerateTest, it_trains_on_what_it_retrieves_and_reads_that_file) {
  request_.params.set("adapter", std::string("lora"));
  EXPECT_THAT(the_spec().needs(request_.params).artifacts, ElementsAre("adapter"));
  EXPECT_THAT(the_spec().needs(request_.params).reads_files_of, ElementsAre("lora"));
  EXPECT_THAT(prompt(), HasSubstr("no adapter was given"));
  Curve curve;
  const auto outcome = fit("a", curve);
  ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
  request_.artifacts["adapter"] = {"", folder_ / "a/adapter_model.safetensors", ""};
  EXPECT_EQ(prompt(), "D: bob: Ann has a red hat.\nA:");
  // Fewer tokens are read in a step than of the whole documents.
  const auto tokens = [](const Curve& of) { return of.points.front().values.at("tokens"); };
  const double few = tokens(curve);
  request_.artifacts.clear();
  request_.params.set("budget", int64_t{1000});
  Curve whole;
  ASSERT_TRUE(fit("b", whole).ok());
  EXPECT_LT(few, tokens(whole));
}

TEST_F(RetrieveGenerateTest, it_trains_all_weights_on_what_it_retrieves) {
  request_.params.set("trained", std::string("weights"));
  EXPECT_THAT(the_spec().validate(request_.params).error().message,
              HasSubstr("\"adapter\": \"none\" is the backbone as it is"));
  request_.params.set("adapter", std::string("lora"));
  EXPECT_TRUE(the_spec().validate(request_.params).ok());
  EXPECT_THAT(the_spec().needs(request_.params).reads_files_of, ElementsAre("finetune"));
  EXPECT_THAT(the_spec().needs(request_.params).begins_with, IsEmpty());
  EXPECT_THAT(prompt(), HasSubstr("no trained weights were given"));
  request_.params.set("steps", int64_t{40});
  request_.params.set("select_by", std::string("rouge1"));
  data_.development = {meeting(20), meeting(21)};
  Curve curve;
  const auto outcome = fit("whole", curve);
  ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
  EXPECT_EQ(outcome->files.front().name, "model.safetensors");
  EXPECT_LT(curve.last("loss"), curve.first("loss") / 2);
  const double few = curve.points.front().values.at("tokens");
  request_.artifacts["adapter"] = {"", folder_ / "whole/model.safetensors", ""};
  const auto after = predicted();
  ASSERT_TRUE(after.ok()) << after.error().to_string();
  EXPECT_EQ(after->prompt, "D: bob: Ann has a red hat.\nA:");
  EXPECT_THAT(after->text, HasSubstr("abcabc"));
  request_.artifacts.clear();
  request_.params.set("budget", int64_t{1000});
  request_.params.set("steps", int64_t{1});
  Curve documents;
  ASSERT_TRUE(fit("documents", documents).ok());
  EXPECT_LT(few, documents.points.front().values.at("tokens"));
}

TEST_F(RetrieveGenerateTest, a_locators_text_stands_for_the_document) {
  request_.params = without_budget();
  request_.params.set("retriever", std::string("locator"));
  EXPECT_THAT(the_spec().validate(request_.params).error().message,
              HasSubstr("needs 'spans', or a trained locator"));
  request_.params.set("spans", std::string("<s> red hat </s> bob : ann has a red hat .\n"));
  EXPECT_TRUE(the_spec().validate(request_.params).ok());
  const auto prediction = predicted();
  ASSERT_TRUE(prediction.ok()) << prediction.error().to_string();
  EXPECT_EQ(prediction->prompt, "D: bob : ann has a red hat .\nA:");
  EXPECT_FALSE(prediction->truncation.has_value());  // where it stands is not known
  NumberedExample other = meeting(8);
  other.example.query = "blue hat";
  EXPECT_THAT(predicted(other).error().message, HasSubstr("has the query of example 'example-8'"));
  request_.params.set("spans_missing", std::string("document"));
  const auto whole = predicted(other);
  ASSERT_TRUE(whole.ok()) << whole.error().to_string();
  EXPECT_EQ(whole->prompt, "D: " + rendered_document(other.example) + "\nA:");
  EXPECT_EQ(whole->truncation->kept.size(), 3);
  request_.params.set("budget", int64_t{5});
  EXPECT_THAT(the_spec().validate(request_.params).error().message, HasSubstr("'budget' is of"));
}

TEST_F(RetrieveGenerateTest, a_training_needs_spans_of_most_of_its_examples) {
  request_.params = without_budget();
  request_.params.set("adapter", std::string("lora"));
  request_.params.set("retriever", std::string("locator"));
  request_.params.set("spans", std::string("<s> red hat </s> bob : ann has a red hat .\n"));
  request_.params.set("spans_missing", std::string("document"));
  data_.train[0].example.query = "blue hat";
  data_.train[1].example.query = "blue hat";
  Curve half;
  const auto outcome = fit("half", half);
  ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
  data_.train[2].example.query = "blue hat";
  Curve few;
  EXPECT_THAT(fit("few", few).error().message,
              HasSubstr("no line of 3 of the 4 training examples"));
}

TEST_F(RetrieveGenerateTest, turns_are_those_that_a_trained_locator_ranks_first) {
  const qfs::test::TemporaryFolder folder;
  const Resource encoder = qfs::test::TinyEncoder().write(folder);
  ResourceCache cache;
  const auto scorer = ranking::SnippetScorer::open(encoder, cache);
  ASSERT_TRUE(scorer.ok()) << scorer.error().to_string();
  const std::string path = folder_ / "locator.safetensors";
  const auto written = [&](const Params& params) {
    auto tensors = ranking::new_scorer_tensors(**scorer, params,
                                               {.rank = 2, .alpha = 2, .targets = {"query"}}, 3);
    EXPECT_TRUE(tensors.ok());
    if (!params.values().empty()) {  // the least similar alone
      tensors->head.at("classifier.weight").zero_();
      tensors->head.at(ranking::kSimilarity).fill_(-5);
    }
    const std::map<std::string, std::string> metadata = {
        {"qfs.backbone", encoder.digest}, {"qfs.recipe", R"({"chunk_tokens":64,"max_chunks":4})"}};
    EXPECT_TRUE(write_file(path, ranking::locator_bytes(*tensors, metadata, at::kFloat)).ok());
    return *std::move(tensors);
  };

  request_.params.set("retriever", std::string("locator"));
  request_.params.set("unit", std::string("turn"));
  EXPECT_TRUE(the_spec().validate(request_.params).ok());
  const Needs needs = the_spec().needs(request_.params);
  EXPECT_THAT(needs.backbones, ElementsAre("locator"));
  EXPECT_THAT(needs.artifacts, ElementsAre("locator"));
  EXPECT_EQ(needs.made_by.at("locator"), "locator");
  EXPECT_THAT(the_spec().layers(request_.params, {"llama"}), ::testing::Contains("ranking@1"));
  EXPECT_THAT(prompt(), HasSubstr("no locator's encoder was given"));
  request_.backbones = {{"locator", encoder}};
  EXPECT_THAT(prompt(), HasSubstr("no trained locator was given"));
  request_.artifacts["locator"] = {"", path, ""};

  // The order by the scores themselves.
  const NumberedExample one = meeting(7);
  std::vector<ranking::Snippet> snippets;
  for (const Segment& turn : one.example.document) snippets.push_back({{turn}});
  request_.params.set("budget", int64_t{1});
  Params similar;
  similar.set("score", std::string("similarity"));
  std::set<size_t> first;
  for (const Params& params : {similar, Params()}) {
    const ranking::ScorerTensors tensors = written(params);
    const bool apart = tensors.head.contains(ranking::kSimilarity);
    const auto packed = (*scorer)->pack(one.example.query, snippets, {64, 4, false, apart});
    const at::Tensor scores =
        *(*scorer)->scores(*packed, tensors.head, *(*scorer)->bind(tensors.adapter.layers));
    const auto best = static_cast<size_t>(
        ranking::ranked({scores.contiguous().const_data_ptr<float>(), snippets.size()}).front());
    const auto prediction = predicted(one);
    ASSERT_TRUE(prediction.ok()) << prediction.error().to_string();
    EXPECT_EQ(prediction->prompt, "D: " + snippets[best].text() + "\nA:");
    EXPECT_EQ(prediction->truncation->kept.front().segment, static_cast<int64_t>(best));
    first.insert(best);
  }
  EXPECT_EQ(first.size(), 2U) << "the two read alike";
  request_.params.set("budget", int64_t{1000});
  EXPECT_EQ(prompt(), "D: " + rendered_document(one.example) + "\nA:");

  // An adapter learns from what it ranks.
  request_.params.set("adapter", std::string("lora"));
  EXPECT_THAT(the_spec().needs(request_.params).artifacts, ElementsAre("adapter", "locator"));
  request_.params.set("budget", int64_t{1});
  Curve curve;
  const auto outcome = fit("ranked", curve);
  ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
  EXPECT_EQ(outcome->files.front().role, "adapter");
}

TEST_F(RetrieveGenerateTest, what_the_retriever_does_not_read_is_refused) {
  const auto refused = [&](const std::string& retriever, const std::string& name,
                           const ParamValue& value) {
    Params params = without_budget();
    params.set("local_context", int64_t{9});
    params.set("retriever", retriever);
    if (retriever == "locator") params.set("spans", std::string("<s> why </s> so it is\n"));
    params.set(name, value);
    const Status status = the_spec().validate(params);
    return status.ok() ? std::string() : status.error().to_string();
  };
  EXPECT_EQ(refused("bm25", "k1", 2.0), "");
  EXPECT_EQ(refused("bm25", "unit", std::string("turn")), "");
  EXPECT_EQ(refused("dpr", "unit", std::string("turn")), "");
  EXPECT_EQ(refused("dpr", "k1", 1.2), "");  // as when left out
  EXPECT_EQ(refused("dpr", "k1", 2.0),
            R"('k1' has no effect with "retriever": "dpr"; leave it out)");
  EXPECT_EQ(refused("locator", "b", 0.5),
            R"('b' has no effect with "retriever": "locator"; leave it out)");
  EXPECT_THAT(refused("locator", "unit", std::string("turn")),
              HasSubstr("'unit' has no effect with 'spans'"));
}

TEST_F(RetrieveGenerateTest, what_bounds_the_passages_is_asked_for) {
  Params params = without_budget();
  EXPECT_THAT(the_spec().validate(params).error().to_string(), HasSubstr("'budget' is left out"));
  params.set("local_context", int64_t{9});
  EXPECT_TRUE(the_spec().validate(params).ok());
}

}  // namespace
}  // namespace qfs::retrieve_generate

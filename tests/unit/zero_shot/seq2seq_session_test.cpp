// A session of zero_shot on a tiny encoder-decoder: what the encoder reads, which tokens are
// global, how outputs begin and end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "methods/models/prompting/prompt_template.h"
#include "methods/models/registry/registry.h"
#include "methods/zero_shot/session.h"
#include "methods/zero_shot/spec.h"
#include "tests/support/recording_sink.h"
#include "tests/support/tiny_seq2seq.h"

namespace qfs::zero_shot {
namespace {

using ::qfs::test::RecordingSink;
using ::qfs::test::TinySeq2Seq;
using ::testing::HasSubstr;

class Seq2SeqSessionTest : public ::testing::Test {
 protected:
  Seq2SeqSessionTest() {
    ::setenv("QFS_CACHE_DIR", folder_.path().c_str(), 1);
    for (const ParamSpec& param : ZeroShotSpec().params()) {
      if (param.default_value) request_.params.set(param.name, *param.default_value);
    }
    request_.params.set("max_new_tokens", int64_t{12});
  }

  void use(const TinySeq2Seq& tiny) {
    const auto resource = registry::resolve_backbone(tiny.write(folder_));
    ASSERT_TRUE(resource.ok()) << resource.error().to_string();
    request_.backbone = *resource;
  }
  std::string refusal() {
    cache_.clear();
    const auto session = session_factory().open(request_, cache_);
    return session.ok() ? "opened" : session.error().message;
  }
  static NumberedExample example(int64_t ordinal, std::string query = "why?") {
    NumberedExample numbered;
    numbered.ordinal = ordinal;
    numbered.example.key = "example-" + std::to_string(ordinal);
    numbered.example.document = {{"one two three", "Ann"}, {"four </s> five", ""}};
    numbered.example.query = std::move(query);
    return numbered;
  }
  RecordingSink run(const std::vector<NumberedExample>& unit) {
    RecordingSink sink;
    auto session = session_factory().open(request_, cache_);
    EXPECT_TRUE(session.ok()) << session.error().to_string();
    const Status status = (*session)->run(unit, sink);
    EXPECT_TRUE(status.ok()) << status.error().to_string();
    return sink;
  }
  Prediction one(const NumberedExample& numbered) {
    return run({numbered}).predictions.at(numbered.ordinal);
  }

  qfs::test::TemporaryFolder folder_;
  ResourceCache cache_;
  SessionRequest request_;
};

TEST_F(Seq2SeqSessionTest, the_source_is_query_separator_document_inside_the_template) {
  use({});
  const Prediction prediction = one(example(1));
  const std::string document = "Ann: one two three\nfour </s> five";
  EXPECT_EQ(prediction.prompt, "why?</s>" + document);
  // <s>, the query's bytes, one separator, the document's bytes (its "</s>" is four of them), </s>.
  EXPECT_EQ(prediction.tokens_in, static_cast<int64_t>(1 + 4 + 1 + document.size() + 1));
  EXPECT_EQ(one(example(2, "")).prompt, document);
  request_.params.set("source", std::string("{document}{sep}{query}?"));
  EXPECT_EQ(one(example(1)).prompt, document + "</s>why??");
}

TEST_F(Seq2SeqSessionTest, squalitys_source_has_the_question_twice_and_cuts_the_story_alone) {
  use({.led = true});
  request_.params.set("source", std::string(" {query} {sep} {document} {sep} {query}"));
  request_.params.set("global_attention", std::string("query"));
  const Prediction whole = one(example(1));
  EXPECT_EQ(whole.prompt, " why? </s> Ann: one two three\nfour </s> five </s> why?");
  // Bytes, of which the two separators are one token each, as are <s> and </s> around it.
  EXPECT_EQ(whole.tokens_in, static_cast<int64_t>(whole.prompt.size()) - 2 * 3 + 2);
  request_.params.set("local_context", int64_t{8});
  const Prediction cut = one(example(1));
  EXPECT_EQ(cut.prompt, " why? </s> Ann: one </s> why?");
  EXPECT_TRUE(cut.truncation->query_whole);
}

TEST_F(Seq2SeqSessionTest, segments_are_documents_with_separators_where_the_layout_says_so) {
  use({});
  request_.params.set("source", std::string("{query} {documents}"));
  EXPECT_EQ(one(example(1)).prompt, "why? Ann: one two three</s>four </s> five</s>");
  request_.params.set("local_context", int64_t{13});
  const Prediction cut = one(example(1));
  EXPECT_EQ(cut.prompt, "why? Ann: o</s>four <</s>");
  EXPECT_EQ(cut.truncation->kept_tokens, 12);
  // Separators count with what the encoder reads.
  use({.positions = 30});
  request_.params.set("local_context", int64_t{99});
  const Prediction fitted = one(example(1));
  EXPECT_EQ(fitted.prompt, "why? Ann: one t</s>four </s> </s>");
  EXPECT_EQ(fitted.tokens_in, 29);
}

TEST_F(Seq2SeqSessionTest, forced_tokens_of_the_checkpoint_are_counted_and_not_shown) {
  use({});
  const Prediction prediction = one(example(1));
  // <s> and ten bytes; </s> is forced at the twelfth and not counted.
  EXPECT_EQ(prediction.tokens_out, 11);
  EXPECT_EQ(prediction.finish, FinishReason::length);
  EXPECT_EQ(prediction.text.find("<s>"), std::string::npos);
  EXPECT_FALSE(prediction.text.empty());
}

TEST_F(Seq2SeqSessionTest, batches_beams_and_draws_give_each_example_its_own_output) {
  use({});
  const std::vector<NumberedExample> unit = {example(0, "a"), example(1, "longer question?"),
                                             example(2, "")};
  const auto expect_equal = [&] {
    const RecordingSink batch = run(unit);
    for (const NumberedExample& numbered : unit) {
      EXPECT_EQ(batch.predictions.at(numbered.ordinal), one(numbered));
    }
    return batch.predictions.at(1).text;
  };
  const std::string greedy = expect_equal();
  Params given = request_.params;
  request_.params.set("num_beams", int64_t{3});
  request_.params.set("no_repeat_ngram", int64_t{2});
  EXPECT_NE(expect_equal(), greedy);
  request_.params = given;
  request_.params.set("temperature", 3.0);
  const std::string drawn = expect_equal();
  EXPECT_NE(drawn, greedy);
  request_.seed = 1;
  EXPECT_NE(expect_equal(), drawn);
}

TEST_F(Seq2SeqSessionTest, the_checkpoints_own_decoding_is_used_when_asked_for) {
  TinySeq2Seq tiny;
  tiny.generation_config =
      R"({"num_beams": 3, "no_repeat_ngram_size": 1, "forced_bos_token_id": 0})";
  use(tiny);
  const auto repeats = [](std::string text) {
    std::erase_if(text, [](char c) { return static_cast<unsigned char>(c) > 127; });
    return std::set<char>(text.begin(), text.end()).size() < text.size();
  };
  EXPECT_TRUE(repeats(one(example(1)).text));
  request_.params.set("decoding", std::string("checkpoint"));
  EXPECT_FALSE(repeats(one(example(1)).text));
}

TEST_F(Seq2SeqSessionTest, global_tokens_of_a_windowed_encoder_change_what_is_read) {
  use({.led = true});
  std::map<std::string, std::string> texts;
  for (const std::string name :
       {"none", "first", "query", "first_and_query", "first_and_separators"}) {
    request_.params.set("global_attention", name);
    request_.params.set("temperature", 2.0);  // one seed: equal logits give equal draws
    texts[name] = one(example(1)).text;
  }
  EXPECT_NE(texts["none"], texts["query"]);
  EXPECT_NE(texts["first"], texts["first_and_query"]);
  EXPECT_NE(texts["first"], texts["first_and_separators"]);
}

TEST_F(Seq2SeqSessionTest, a_bart_with_windows_reads_longer_sources) {
  use({.positions = 39});
  request_.params.set("window", int64_t{8});
  request_.params.set("source_positions", int64_t{64});
  const Prediction windowed = one(example(3));
  EXPECT_EQ(windowed.tokens_in, 40);
  request_.params.set("window", int64_t{80});
  request_.params.set("temperature", 3.0);
  const std::string wide = one(example(3)).text;
  request_.params.set("window", int64_t{2});
  EXPECT_NE(one(example(3)).text, wide);
  request_.params.set("window", int64_t{3});
  EXPECT_THAT(refusal(), HasSubstr("it is even"));
  use({.led = true});
  request_.params.set("window", int64_t{8});
  EXPECT_THAT(refusal(), HasSubstr("only BART"));
}

TEST_F(Seq2SeqSessionTest, sources_beyond_the_encoder_name_the_example) {
  use({.positions = 39});
  RecordingSink sink;
  auto session = session_factory().open(request_, cache_);
  ASSERT_TRUE(session.ok());
  const NumberedExample numbered = example(3);
  const Status status = (*session)->run({&numbered, 1}, sink);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message,
              HasSubstr("'example-3' has 40 tokens; the backbone's encoder reads 39"));
}

TEST_F(Seq2SeqSessionTest, parameters_of_the_other_kind_of_backbone_are_refused) {
  use({});
  request_.params.set("prompt", std::string("{document}"));
  EXPECT_THAT(refusal(), HasSubstr("'source'"));
  request_.params.set("prompt", std::string(prompting::default_prompt()));
  request_.params.set("system", std::string("x"));
  EXPECT_THAT(refusal(), HasSubstr("'system' is for decoder-only"));
}

}  // namespace
}  // namespace qfs::zero_shot

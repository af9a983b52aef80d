// Sessions of chunk_merge and refine on a tiny model: which calls they make, and what those add up
// to. A call is what zero_shot gives for the same text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/core/sha256.h"
#include "methods/models/prompting/prompt_template.h"
#include "methods/models/registry/registry.h"
#include "methods/models/tokenizers/builtin_tokenizers.h"
#include "methods/models/tokenizers/tokenizer.h"
#include "methods/zero_shot/chunked_spec.h"
#include "methods/zero_shot/session.h"
#include "methods/zero_shot/spec.h"
#include "tests/support/recording_sink.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_llama.h"
#include "tests/support/tiny_seq2seq.h"

namespace qfs::zero_shot {
namespace {

using ::qfs::test::RecordingSink;
using ::testing::HasSubstr;

constexpr const char* kPrompt = "D: {document}\nQ: {query}\nA:";

class ChunkedSessionTest : public ::testing::Test {
 protected:
  ChunkedSessionTest() {
    ::setenv("QFS_CACHE_DIR", folder_.path().c_str(), 1);
    const std::string bytes = qfs::test::TinyLlama{}.bytes();
    backbone_ = Resource{"local:x", folder_.write("m.gguf", bytes), sha256_hex(bytes)};
    example_.key = "one";
    example_.document = {{"a b c", "Ann"}, {"d e f g", ""}, {"h i", ""}};
    example_.query = "why?";
  }

  template <class Spec>
  SessionRequest request_of(const Spec& spec) const {
    SessionRequest request;
    for (const ParamSpec& param : spec.params()) {
      if (param.default_value) request.params.set(param.name, *param.default_value);
    }
    request.params.set("chat", false);
    request.params.set("prompt", std::string(kPrompt));
    request.params.set("max_new_tokens", int64_t{7});
    if (request.params.has("chunk_new_tokens")) {
      request.params.set("chunk_new_tokens", int64_t{5});
    }
    request.backbone = backbone_;
    request.tokenizer = tokenizers::builtin_tokenizer("words");
    return request;
  }

  Prediction run(const SessionFactory& factory, const SessionRequest& request, Example example) {
    auto session = factory.open(request, cache_);
    EXPECT_TRUE(session.ok()) << session.error().to_string();
    sink_ = {};
    const Status status =
        (*session)->run(std::vector<NumberedExample>{{4, std::move(example)}}, sink_);
    EXPECT_TRUE(status.ok()) << status.error().to_string();
    return sink_.predictions.at(4);
  }

  /// One call as zero_shot makes it.
  Prediction call(const std::string& document, int64_t new_tokens,
                  const std::string& prompt = kPrompt) {
    SessionRequest request = request_of(ZeroShotSpec());
    request.params.set("prompt", prompt);
    request.params.set("max_new_tokens", new_tokens);
    Example example = example_;
    example.document = {{document, ""}};
    return run(session_factory(), request, example);
  }

  qfs::test::TemporaryFolder folder_;
  ResourceCache cache_;
  std::optional<Resource> backbone_;
  Example example_;
  RecordingSink sink_;
};

TEST_F(ChunkedSessionTest, a_document_of_one_chunk_is_prompted_as_by_zero_shot) {
  const Prediction expected = run(session_factory(), request_of(ZeroShotSpec()), example_);
  Prediction merged = run(chunk_merge_factory(), request_of(ChunkMergeSpec()), example_);
  EXPECT_EQ(merged.extra.text, R"({"calls":1,"chunks":1,"cut_outputs":1,"rounds":1})");
  Prediction refined = run(refine_factory(), request_of(RefineSpec()), example_);
  merged.extra = refined.extra = expected.extra;
  EXPECT_EQ(merged, expected);
  EXPECT_EQ(refined, expected);
}

TEST_F(ChunkedSessionTest, summaries_of_chunks_are_merged) {
  SessionRequest request = request_of(ChunkMergeSpec());
  request.params.set("local_context", int64_t{5});  // "Ann: a b c" | "d e f g" | "h i"
  request.params.set("chunk_new_tokens", int64_t{3});
  request.params.set("merge_prompt", std::string("S: {summaries}\nQ: {query}\nA:"));
  const Prediction first = call("Ann: a b c", 3);
  const Prediction second = call("d e f g", 3);
  const Prediction third = call("h i", 3);
  const std::string all = first.text + "\n\n" + second.text + "\n\n" + third.text;
  const Prediction last = call(all, 7, "S: {document}\nQ: {query}\nA:");
  const Prediction merged = run(chunk_merge_factory(), request, example_);
  EXPECT_EQ(merged.text, last.text);
  EXPECT_EQ(merged.prompt, last.prompt);
  EXPECT_EQ(merged.tokens_in,
            first.tokens_in + second.tokens_in + third.tokens_in + last.tokens_in);
  EXPECT_EQ(merged.tokens_out, 3 + 3 + 3 + 7);
  EXPECT_EQ(merged.extra.text, R"({"calls":4,"chunks":3,"cut_outputs":4,"rounds":2})");
  EXPECT_EQ(merged.repaired_bytes, first.repaired_bytes + second.repaired_bytes +
                                       third.repaired_bytes + last.repaired_bytes);
  EXPECT_EQ(sink_.phases.at("prefill"), merged.tokens_in);
  EXPECT_EQ(sink_.phases.at("first_token"), 4);
}

TEST_F(ChunkedSessionTest, chunks_that_are_decoded_together_give_the_same) {
  SessionRequest request = request_of(ChunkMergeSpec());
  request.params.set("local_context", int64_t{2});
  request.params.set("overlap", int64_t{1});
  request.params.set("chunk_batch", int64_t{1});
  const Prediction alone = run(chunk_merge_factory(), request, example_);
  request.params.set("chunk_batch", int64_t{3});
  EXPECT_EQ(run(chunk_merge_factory(), request, example_), alone);
  EXPECT_THAT(alone.extra.text, HasSubstr(R"("chunks":9)"));
}

TEST_F(ChunkedSessionTest, drawn_outputs_do_not_depend_on_the_batch_either) {
  SessionRequest request = request_of(ChunkMergeSpec());
  request.params.set("local_context", int64_t{3});
  request.params.set("temperature", 1.5);
  request.params.set("chunk_batch", int64_t{1});
  request.seed = 3;
  const Prediction alone = run(chunk_merge_factory(), request, example_);
  request.params.set("chunk_batch", int64_t{4});
  EXPECT_EQ(run(chunk_merge_factory(), request, example_), alone);
  request.seed = 4;
  EXPECT_NE(run(chunk_merge_factory(), request, example_).text, alone.text);
}

TEST_F(ChunkedSessionTest, a_summary_is_rewritten_with_each_chunk) {
  SessionRequest request = request_of(RefineSpec());
  request.params.set("local_context", int64_t{5});
  request.params.set("refine_prompt", std::string("S: {summary}\nD: {document}\nQ: {query}\nA:"));
  const Prediction first = call("Ann: a b c", 7);
  const Prediction second =
      call("d e f g", 7, "S: " + first.text + "\nD: {document}\nQ: {query}\nA:");
  const Prediction third = call("h i", 7, "S: " + second.text + "\nD: {document}\nQ: {query}\nA:");
  const Prediction refined = run(refine_factory(), request, example_);
  EXPECT_EQ(refined.text, third.text);
  EXPECT_EQ(refined.prompt, third.prompt);
  EXPECT_EQ(refined.tokens_in, first.tokens_in + second.tokens_in + third.tokens_in);
  EXPECT_EQ(refined.tokens_out, 3 * 7);
  EXPECT_EQ(refined.extra.text, R"({"calls":3,"chunks":3,"cut_outputs":3,"rounds":3})");
}

TEST_F(ChunkedSessionTest, the_ledger_is_that_of_all_chunks_together) {
  for (const bool merge : {true, false}) {
    SessionRequest request = merge ? request_of(ChunkMergeSpec()) : request_of(RefineSpec());
    request.params.set("local_context", int64_t{2});
    request.params.set("overlap", int64_t{1});
    request.params.set("input_tokens", int64_t{6});
    const Prediction prediction =
        run(merge ? chunk_merge_factory() : refine_factory(), request, example_);
    ASSERT_TRUE(prediction.truncation);
    EXPECT_EQ(prediction.truncation->document_tokens, 10);
    EXPECT_EQ(prediction.truncation->kept_tokens, 6);
    EXPECT_EQ(prediction.truncation->kept, (std::vector<ByteSpan>{{0, 0, 10}, {1, 0, 3}}));
    EXPECT_THAT(prediction.extra.text, HasSubstr(R"("chunks":5)"));
  }
}

TEST_F(ChunkedSessionTest, a_chunk_beyond_the_window_is_an_error_that_names_the_example) {
  SessionRequest request = request_of(ChunkMergeSpec());
  Example example = example_;
  example.document = {{std::string(2000, 'x'), ""}};
  auto session = chunk_merge_factory().open(request, cache_);
  ASSERT_TRUE(session.ok());
  const Status status = (*session)->run(std::vector<NumberedExample>{{0, example}}, sink_);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("'one'"));
}

TEST_F(ChunkedSessionTest, an_encoder_decoder_reads_summaries_as_a_document_and_refines_nothing) {
  const auto resource = registry::resolve_backbone(qfs::test::TinySeq2Seq{}.write(folder_));
  ASSERT_TRUE(resource.ok()) << resource.error().to_string();
  backbone_ = *resource;
  SessionRequest request = request_of(ChunkMergeSpec());
  request.params.set("prompt", std::string(prompting::default_prompt()));
  request.params.set("local_context", int64_t{5});
  request.params.set("chunk_new_tokens", int64_t{3});
  const auto as_zero_shot = [&](const std::string& document, int64_t new_tokens) {
    return call(document, new_tokens, std::string(prompting::default_prompt()));
  };
  std::string all = as_zero_shot("Ann: a b c", 3).text;
  for (const char* part : {"d e f g", "h i"}) all += "\n\n" + as_zero_shot(part, 3).text;
  EXPECT_EQ(run(chunk_merge_factory(), request, example_).text, as_zero_shot(all, 7).text);

  SessionRequest refine = request_of(RefineSpec());
  refine.params.set("prompt", std::string(prompting::default_prompt()));
  const auto refused = refine_factory().open(refine, cache_);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("use chunk_merge"));
}

}  // namespace
}  // namespace qfs::zero_shot

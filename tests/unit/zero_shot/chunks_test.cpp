// Chunks of a document, groups of summaries, and what the specs of chunk_merge and refine promise.
#include "methods/zero_shot/chunks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "methods/models/tokenizers/builtin_tokenizers.h"
#include "methods/models/tokenizers/folders/open_tokenizer.h"
#include "methods/zero_shot/chunked_spec.h"
#include "tests/support/default_params.h"

namespace qfs::zero_shot {
namespace {

using ::qfs::test::default_params;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> chunks(std::vector<std::string> texts, ChunkSizes sizes,
                                const char* tokenizer = "words") {
  prompting::TruncatedDocument document;
  document.texts = std::move(texts);
  const auto opened = tokenizers::open_tokenizer(*tokenizers::builtin_tokenizer(tokenizer));
  return make_chunks(document, **opened, sizes);
}

TEST(MakeChunks, a_short_document_is_one_chunk) {
  EXPECT_THAT(chunks({"a b", "c"}, {3, 0}), ElementsAre("a b\nc"));
  EXPECT_THAT(chunks({}, {3, 0}), ElementsAre(""));
  EXPECT_THAT(chunks({"", " "}, {3, 1}), ElementsAre("\n "));
}

TEST(MakeChunks, a_chunk_ends_where_a_segment_does_when_it_is_more_than_half_full) {
  EXPECT_THAT(chunks({"a b c", "d e f"}, {4, 0}), ElementsAre("a b c", "d e f"));
  // Half full is not enough: the next segment is cut instead.
  EXPECT_THAT(chunks({"a b", "c d e f"}, {4, 0}), ElementsAre("a b\nc d ", "e f"));
}

TEST(MakeChunks, a_long_segment_is_cut_at_tokens) {
  EXPECT_THAT(chunks({"  a b c d e f g "}, {3, 0}), ElementsAre("  a b c ", "d e f ", "g "));
}

TEST(MakeChunks, an_overlap_repeats_the_last_tokens) {
  EXPECT_THAT(chunks({"a b c d e f g"}, {4, 2}), ElementsAre("a b c d ", "c d e f ", "e f g"));
  EXPECT_THAT(chunks({"a b c", "d e f"}, {4, 1}), ElementsAre("a b c", "c\nd e f"));
}

TEST(MakeChunks, without_overlap_all_bytes_are_there_once) {
  const std::vector<std::string> texts = {"one two", "",  "drei \u00e9\u00e8 vier",
                                          "x",       " ", "f\u00fcnf sechs sieben acht"};
  for (const char* tokenizer : {"words", "characters"}) {
    for (int64_t size = 1; size < 30; ++size) {
      std::string all;
      for (const std::string& chunk : chunks(texts, {size, 0}, tokenizer)) all += chunk;
      std::erase(all, '\n');
      std::string whole;
      for (const std::string& text : texts) whole += text;
      EXPECT_EQ(all, whole) << tokenizer << " " << size;
    }
  }
}

TEST(GroupEnds, holds_at_least_two_and_no_more_than_the_budget) {
  EXPECT_THAT(group_ends({}, 10), ElementsAre());
  EXPECT_THAT(group_ends({5}, 10), ElementsAre(1));
  EXPECT_THAT(group_ends({4, 4, 4, 4}, 12), ElementsAre(3, 4));
  EXPECT_THAT(group_ends({4, 4, 4}, 12), ElementsAre(3));
  EXPECT_THAT(group_ends({20, 20, 20, 20, 20}, 10), ElementsAre(2, 4, 5));
}

TEST(ChunkMergeSpec, defaults_are_valid_and_documented) {
  const ChunkMergeSpec spec;
  EXPECT_TRUE(spec.validate(default_params(spec)).ok());
  for (const ParamSpec& param : spec.params()) EXPECT_FALSE(param.doc.empty()) << param.name;
}

TEST(ChunkMergeSpec, rules_between_parameters_are_checked) {
  const ChunkMergeSpec spec;
  Params params = default_params(spec);
  params.set("local_context", int64_t{100});
  params.set("overlap", int64_t{50});
  EXPECT_TRUE(spec.validate(params).ok());
  params.set("overlap", int64_t{51});
  EXPECT_THAT(spec.validate(params).error().message, HasSubstr("more than half of a chunk"));
  params = default_params(spec);
  params.set("merge_prompt", std::string("{summary}"));
  EXPECT_THAT(spec.validate(params).error().message, HasSubstr("did you mean 'summaries'?"));
}

TEST(ChunkMergeSpec, costs_more_where_there_are_more_chunks) {
  const ChunkMergeSpec spec;
  Params params = default_params(spec);
  const DatasetStats stats{10, 8000, 10};
  const double whole = spec.cost(params, stats).tokens_out;
  params.set("overlap", int64_t{512});
  EXPECT_GT(spec.cost(params, stats).tokens_out, whole);
  params.set("input_tokens", int64_t{2048});
  EXPECT_LT(spec.cost(params, stats).tokens_out, whole);
}

TEST(RefineSpec, its_prompt_holds_the_summary_and_the_part) {
  const RefineSpec spec;
  Params params = default_params(spec);
  EXPECT_TRUE(spec.validate(params).ok());
  params.set("refine_prompt", std::string("{document} {query}"));
  EXPECT_THAT(spec.validate(params).error().message, HasSubstr("{summary} 0 times"));
}

}  // namespace
}  // namespace qfs::zero_shot

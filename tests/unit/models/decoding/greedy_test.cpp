// Greedy generation: the argmax of every step, rows that do not see one another, and the rules that
// end a row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "harness/core/sha256.h"
#include "methods/models/architectures/backbone.h"
#include "methods/models/architectures/llama/llama.h"
#include "methods/models/decoding/generator.h"
#include "methods/models/decoding/output_row.h"
#include "methods/models/decoding/search.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_llama.h"

namespace qfs::decoding {
namespace {

using ::qfs::nn::SequenceInput;
using ::qfs::test::TinyLlama;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class GreedyTest : public ::testing::Test {
 protected:
  GreedyTest() { EXPECT_TRUE(nn::configure_torch({}).ok()); }

  std::shared_ptr<const architectures::Backbone> open(const std::string& bytes) {
    ::setenv("QFS_CACHE_DIR", folder_.path().c_str(), 1);
    const std::string path = folder_.write("m.gguf", bytes);
    auto backbone = architectures::open_backbone({"tiny", path, sha256_hex(bytes)});
    EXPECT_TRUE(backbone.ok()) << backbone.error().to_string();
    return *backbone;
  }
  /// Those of the file that open() wrote last.
  std::shared_ptr<const architectures::LlamaWeights> weights() const {
    const auto file = checkpoints::GgufFile::open(folder_.path() + "/m.gguf");
    EXPECT_TRUE(file.ok());
    return *architectures::load_llama_weights(*file);
  }
  std::shared_ptr<const architectures::Backbone> open(const TinyLlama& tiny = {}) {
    return open(tiny.bytes());
  }

  static Generator generator_of(const std::shared_ptr<const architectures::Backbone>& backbone) {
    ResourceCache cache;
    auto model = backbone->network->open({}, backbone->digest, cache);
    EXPECT_TRUE(model.ok());
    return {backbone->tokenizer, *std::move(model)};
  }

  static SequenceInput prompt(int64_t length, int32_t seed) {
    SequenceInput input;
    for (int64_t i = 0; i < length; ++i) {
      input.ids.push_back(static_cast<int32_t>((i * 17 + seed * 29) % 256));
    }
    return input;
  }
  static Generated one(Generator& generator, const SequenceInput& input,
                       const DecodingOptions& options) {
    auto result = generator.generate({&input, 1}, options);
    EXPECT_TRUE(result.ok()) << result.error().to_string();
    return result->rows.front();
  }
  qfs::test::TemporaryFolder folder_;
};

TEST_F(GreedyTest, every_token_is_the_argmax_after_all_tokens_before_it) {
  const auto backbone = open();
  Generator generator = generator_of(backbone);
  std::vector<int32_t> ids = prompt(6, 1).ids;
  const Generated generated = one(generator, {.ids = ids}, {.max_new_tokens = 12});
  ASSERT_THAT(generated.ids, SizeIs(12));
  architectures::Llama llama(weights());
  for (const int32_t token : generated.ids) {
    std::vector<float> logits(TinyLlama::kVocabulary);
    nn::KeyValueCache cache;
    ASSERT_TRUE(llama.make_room(cache, 1, static_cast<int64_t>(ids.size())).ok());
    ASSERT_TRUE(llama.prefill(cache, 0, ids, logits).ok());
    EXPECT_EQ(token, std::max_element(logits.begin(), logits.end()) - logits.begin());
    ids.push_back(token);
  }
}

TEST_F(GreedyTest, outputs_do_not_depend_on_the_batch) {
  Generator generator = generator_of(open());
  std::vector<SequenceInput> prompts;
  for (const int64_t length : {3, 40, 1, 11, 270}) {
    prompts.push_back(prompt(length, static_cast<int32_t>(length)));
  }
  const DecodingOptions options{.max_new_tokens = 20, .stop_ids = {TinyLlama::kEnd, 7}};
  const auto batch = generator.generate(prompts, options);
  ASSERT_TRUE(batch.ok());
  for (size_t i = 0; i < prompts.size(); ++i) {
    const Generated alone = one(generator, prompts[i], options);
    EXPECT_EQ(batch->rows[i].ids, alone.ids);
    EXPECT_EQ(batch->rows[i].text, alone.text);
    EXPECT_EQ(batch->rows[i].finish, alone.finish);
  }
}

TEST_F(GreedyTest, draws_depend_on_the_seed_of_the_row_alone) {
  Generator generator = generator_of(open());
  const std::vector<SequenceInput> prompts = {prompt(5, 1), prompt(40, 2), prompt(5, 1)};
  const std::vector<uint64_t> seeds = {7, 8, 9};
  DecodingOptions options{.max_new_tokens = 24, .stop_ids = {TinyLlama::kEnd}};
  options.sampling = SamplingOptions{.temperature = 1.2, .top_p = 0.95};
  const auto batch = generator.generate(prompts, options, seeds);
  ASSERT_TRUE(batch.ok());
  EXPECT_NE(batch->rows[0].ids, batch->rows[2].ids);  // one prompt, two seeds
  for (size_t i = 0; i < prompts.size(); ++i) {
    const auto alone = generator.generate({&prompts[i], 1}, options, {&seeds[i], 1});
    ASSERT_TRUE(alone.ok());
    EXPECT_EQ(alone->rows.front().ids, batch->rows[i].ids);
  }
  EXPECT_EQ(generator.generate(prompts, options).error().kind, ErrorKind::internal);
}

TEST_F(GreedyTest, options_that_contradict_one_another_are_refused) {
  Generator generator = generator_of(open());
  const auto input = prompt(5, 1);
  const uint64_t seed = 1;
  const auto refusal = [&](const DecodingOptions& options) {
    return generator.generate({&input, 1}, options, {&seed, 1}).error().message;
  };
  DecodingOptions options;
  options.beams = BeamOptions{.count = 1};
  EXPECT_THAT(refusal(options), HasSubstr("1 beams"));
  options.beams->count = 4;
  options.sampling = SamplingOptions{};
  EXPECT_THAT(refusal(options), HasSubstr("not both"));
  options.beams.reset();
  options.sampling->temperature = 0;
  EXPECT_THAT(refusal(options), HasSubstr("above 0"));
  EXPECT_THAT(refusal({.max_new_tokens = 3, .min_new_tokens = 4}), HasSubstr("above"));
  EXPECT_THAT(refusal({.max_new_tokens = 0}), HasSubstr("below 1"));
}

TEST_F(GreedyTest, rules_that_leave_no_token_are_an_error_and_not_an_arbitrary_token) {
  Generator generator = generator_of(open());
  const auto input = prompt(300, 1);
  DecodingOptions options{.max_new_tokens = 300, .no_repeat_ngram = 1};
  EXPECT_THAT(generator.generate({&input, 1}, options).error().message, HasSubstr("banned"));
  options.beams = BeamOptions{.count = 2};
  EXPECT_THAT(generator.generate({&input, 1}, options).error().message, HasSubstr("banned"));
}

TEST_F(GreedyTest, a_stop_id_ends_the_row_and_is_not_part_of_it) {
  Generator generator = generator_of(open());
  const auto ids = prompt(5, 2);
  const Generated free = one(generator, ids, {.max_new_tokens = 8});
  EXPECT_EQ(free.finish, FinishReason::length);
  const int32_t stop = free.ids[3];
  const auto first = std::find(free.ids.begin(), free.ids.end(), stop);
  const DecodingOptions options{.max_new_tokens = 8, .stop_ids = {stop}};
  const Generated stopped = one(generator, ids, options);
  EXPECT_EQ(stopped.finish, FinishReason::stop);
  EXPECT_EQ(stopped.ids, std::vector<int32_t>(free.ids.begin(), first));
  DecodingOptions fixed = options;
  fixed.ignore_stops = true;
  EXPECT_EQ(one(generator, ids, fixed).ids, free.ids);
}

TEST_F(GreedyTest, times_count_prompt_tokens_and_the_tokens_of_steps) {
  Generator generator = generator_of(open());
  const std::vector<SequenceInput> prompts = {prompt(5, 1), prompt(9, 2)};
  const auto result = generator.generate(prompts, {.max_new_tokens = 6});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->times.prefill_tokens, 14);
  EXPECT_EQ(result->times.decode_tokens, 2 * 5);  // the first token of a row comes from its prefill
  EXPECT_GT(result->times.prefill_ns, 0);
  EXPECT_GE(result->times.first_token_ns, result->times.prefill_ns);
  EXPECT_GT(result->times.decode_ns, 0);
  const auto single = generator.generate(prompts, {.max_new_tokens = 1});
  EXPECT_EQ(single->times.decode_tokens, 0);
  DecodingOptions beams = {.max_new_tokens = 6, .ignore_stops = true};
  beams.beams = BeamOptions{.count = 3};
  const auto searched = generator.generate(prompts, beams);
  ASSERT_TRUE(searched.ok()) << searched.error().to_string();
  EXPECT_EQ(searched->times.decode_tokens, 2 * 5) << "of outputs, not of beams";
}

TEST_F(GreedyTest, what_does_not_fit_the_window_is_an_error_with_the_numbers) {
  TinyLlama tiny;
  tiny.context = 32;
  Generator generator = generator_of(open(tiny));
  const auto ids = prompt(30, 1);
  const auto result = generator.generate({&ids, 1}, {.max_new_tokens = 3});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::invalid_argument);
  EXPECT_THAT(result.error().message, HasSubstr("30 tokens and 3 new ones"));
  EXPECT_THAT(result.error().message, HasSubstr("window of 32"));
  EXPECT_TRUE(generator.generate({&ids, 1}, {.max_new_tokens = 2}).ok());
  const SequenceInput empty;
  EXPECT_EQ(generator.generate({&empty, 1}, {}).error().kind, ErrorKind::invalid_argument);
}

TEST_F(GreedyTest, damaged_weights_are_a_data_error) {
  std::string bytes = TinyLlama{}.bytes();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  bytes.replace(bytes.size() - 4, 4, reinterpret_cast<const char*>(&nan), 4);  // of output_norm
  Generator generator = generator_of(open(bytes));
  const auto ids = prompt(4, 1);
  const auto result = generator.generate({&ids, 1}, {.max_new_tokens = 2});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::data);
  EXPECT_THAT(result.error().message, HasSubstr("not a number"));
}

TEST(CheckLogits, minus_infinity_bans_a_token_and_plus_infinity_is_damage) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(check_logits(std::vector<float>{1, -kInfinity, 2}).ok());
  EXPECT_EQ(check_logits(std::vector<float>{1, kInfinity, 2}).error().kind, ErrorKind::data);
}

class StopTextTest : public GreedyTest {
 protected:
  /// Feeds the bytes of `text` as tokens until the row ends; the row and the number of tokens
  /// taken.
  Generated feed(std::string_view text, std::vector<std::string> stops) {
    const auto backbone = open();
    const DecodingOptions options{.max_new_tokens = 100, .stop_texts = std::move(stops)};
    OutputRow row(*backbone->tokenizer, options);
    for (const char c : text) {
      if (!row.accept(static_cast<unsigned char>(c))) break;
    }
    return row.take();
  }
};

TEST_F(StopTextTest, the_text_is_cut_before_a_stop_text_that_spans_tokens) {
  const Generated row = feed("One. Two.\n\nThree", {"\n\n"});
  EXPECT_EQ(row.text, "One. Two.");
  EXPECT_EQ(row.finish, FinishReason::stop);
  EXPECT_THAT(row.ids, SizeIs(11));  // the stop text's tokens were produced
}

TEST_F(StopTextTest, the_earliest_of_several_wins) {
  EXPECT_EQ(feed("ab END cd", {"cd", "END"}).text, "ab ");
  EXPECT_EQ(feed("xyz", {"yz", "xyz"}).text, "");
}

TEST_F(StopTextTest, no_stop_text_means_no_end) {
  const Generated row = feed("abc", {"abd", ""});
  EXPECT_EQ(row.text, "abc");
  EXPECT_EQ(row.finish, FinishReason::length);
}

}  // namespace
}  // namespace qfs::decoding

// The fast forward pass computes what the papers say (reference_llama.h), in every batch alike, and
// refuses files and requests that cannot be.
#include "methods/models/architectures/llama/llama.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "methods/models/kernels/cpu_kernels.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_llama.h"
#include "tests/unit/models/architectures/reference_llama.h"

namespace qfs::architectures {
namespace {

using ::qfs::test::some_tokens;
using ::qfs::test::TinyLlama;
using ::testing::HasSubstr;

class LlamaTest : public ::testing::Test {
 protected:
  LlamaTest() { EXPECT_TRUE(nn::configure_torch({}).ok()); }

  std::shared_ptr<const checkpoints::GgufFile> file(const TinyLlama& tiny) {
    auto opened = checkpoints::GgufFile::open(folder_.write("m.gguf", tiny.bytes()));
    EXPECT_TRUE(opened.ok());
    return *opened;
  }
  Llama model(const TinyLlama& tiny) {
    auto weights = load_llama_weights(file(tiny));
    EXPECT_TRUE(weights.ok()) << weights.error().to_string();
    return Llama(*weights);
  }
  /// Logits after reading `tokens[0..prompt)` at once and the rest one by one.
  static std::vector<float> read(Llama& llama, const std::vector<int32_t>& tokens, size_t prompt) {
    std::vector<float> logits(TinyLlama::kVocabulary);
    nn::KeyValueCache cache;
    EXPECT_TRUE(llama.make_room(cache, 1, static_cast<int64_t>(tokens.size())).ok());
    const std::span<const int32_t> all(tokens);
    EXPECT_TRUE(llama.prefill(cache, 0, all.first(prompt), logits).ok());
    const int64_t row = 0;
    for (size_t i = prompt; i < tokens.size(); ++i) {
      EXPECT_TRUE(llama.decode(cache, {&row, 1}, {&tokens[i], 1}, logits).ok());
    }
    return logits;
  }
  qfs::test::TemporaryFolder folder_;
};

TEST_F(LlamaTest, logits_equal_the_reference_in_double_precision) {
  for (const bool tied : {true, false}) {
    TinyLlama tiny;
    tiny.tied = tied;
    const auto opened = file(tiny);
    qfs::test::ReferenceLlama reference(*opened);
    Llama llama = model(tiny);
    for (const int64_t length : {1, 2, 9, 40}) {
      const auto tokens = some_tokens(length, 3);
      const auto expected = reference.logits(tokens);
      const auto logits = read(llama, tokens, tokens.size());
      for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_NEAR(logits[i], expected[i], 2e-5) << length << " tokens, logit " << i;
      }
    }
  }
}

TEST_F(LlamaTest, reading_at_once_and_step_by_step_agree_across_attention_parts) {
  Llama llama = model({});
  // 600 positions are three parts of decode attention and three blocks of the feed-forward layer.
  for (const int64_t length : {7, 257, 600}) {
    const auto tokens = some_tokens(length, 5);
    const auto at_once = read(llama, tokens, tokens.size());
    const auto stepwise = read(llama, tokens, 1);
    for (size_t i = 0; i < at_once.size(); ++i) ASSERT_NEAR(at_once[i], stepwise[i], 5e-5);
  }
}

TEST_F(LlamaTest, a_row_has_the_same_bits_in_every_batch) {
  Llama llama = model({});
  const std::vector<int64_t> lengths = {5, 300, 1, 64, 17};
  nn::KeyValueCache cache;
  ASSERT_TRUE(llama.make_room(cache, static_cast<int64_t>(lengths.size()), 320).ok());
  std::vector<float> logits(TinyLlama::kVocabulary);
  std::vector<int64_t> rows;
  std::vector<int32_t> next;
  for (size_t r = 0; r < lengths.size(); ++r) {
    const auto tokens = some_tokens(lengths[r], static_cast<int32_t>(r));
    ASSERT_TRUE(llama.prefill(cache, static_cast<int64_t>(r), tokens, logits).ok());
    rows.push_back(static_cast<int64_t>(r));
    next.push_back(static_cast<int32_t>(10 + r));
  }
  std::vector<float> batched(lengths.size() * TinyLlama::kVocabulary);
  ASSERT_TRUE(llama.decode(cache, rows, next, batched).ok());
  for (size_t r = 0; r < lengths.size(); ++r) {
    auto tokens = some_tokens(lengths[r], static_cast<int32_t>(r));
    tokens.push_back(next[r]);
    const auto alone = read(llama, tokens, tokens.size() - 1);
    for (size_t i = 0; i < alone.size(); ++i) {
      ASSERT_EQ(batched[r * TinyLlama::kVocabulary + i], alone[i]) << "row " << r;
    }
  }
}

TEST_F(LlamaTest, a_step_may_skip_rows_that_have_ended) {
  Llama llama = model({});
  nn::KeyValueCache cache;
  ASSERT_TRUE(llama.make_room(cache, 2, 16).ok());
  std::vector<float> logits(TinyLlama::kVocabulary);
  ASSERT_TRUE(llama.prefill(cache, 0, some_tokens(3, 1), logits).ok());
  ASSERT_TRUE(llama.prefill(cache, 1, some_tokens(4, 2), logits).ok());
  const int64_t row = 1;
  const int32_t token = 9;
  ASSERT_TRUE(llama.decode(cache, {&row, 1}, {&token, 1}, logits).ok());
  auto tokens = some_tokens(4, 2);
  tokens.push_back(token);
  EXPECT_EQ(logits, read(llama, tokens, 4));
  EXPECT_EQ(cache.lengths, (std::vector<int64_t>{3, 5}));
}

TEST_F(LlamaTest, a_larger_cache_goes_on_where_a_smaller_one_ended) {
  TinyLlama tiny;
  tiny.context = 5000;
  Llama grown = model(tiny);
  nn::KeyValueCache cache;
  std::vector<float> before(TinyLlama::kVocabulary);
  ASSERT_TRUE(grown.make_room(cache, 1, 8).ok());
  ASSERT_TRUE(grown.prefill(cache, 0, some_tokens(8, 1), before).ok());
  Llama fresh = model(tiny);
  const auto tokens =
      some_tokens(2050, 3);  // beyond the table of rotations that the first one made
  EXPECT_EQ(read(grown, tokens, 2048), read(fresh, tokens, 2048));
}

TEST_F(LlamaTest, impossible_requests_are_refused) {
  Llama llama = model({});
  nn::KeyValueCache cache;
  EXPECT_EQ(llama.make_room(cache, 1, 1025).error().kind, ErrorKind::invalid_argument);
  ASSERT_TRUE(llama.make_room(cache, 1, 4).ok());
  std::vector<float> logits(TinyLlama::kVocabulary);
  const auto prefill = [&](const std::vector<int32_t>& tokens) {
    return llama.prefill(cache, 0, tokens, logits);
  };
  EXPECT_EQ(prefill({}).error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(prefill({1, 2, 3, 4, 5}).error().kind, ErrorKind::invalid_argument);
  EXPECT_THAT(prefill({1, 258}).error().message, HasSubstr("token id 258"));
  EXPECT_THAT(prefill({-1}).error().message, HasSubstr("token id -1"));
  ASSERT_TRUE(prefill({1, 2, 3, 4}).ok());
  EXPECT_EQ(prefill({1}).error().kind, ErrorKind::invalid_argument);
  const int64_t row = 0;
  const int32_t token = 1;
  EXPECT_THAT(llama.decode(cache, {&row, 1}, {&token, 1}, logits).error().message,
              HasSubstr("holds 4 of 4"));
}

TEST_F(LlamaTest, files_that_are_not_such_a_model_are_named_errors) {
  const auto load_error = [&](const std::string& bytes) {
    const auto opened = checkpoints::GgufFile::open(folder_.write("bad.gguf", bytes));
    EXPECT_TRUE(opened.ok());
    return load_llama_weights(*opened).error();
  };
  const auto replaced = [](std::string bytes, const std::string& from, const std::string& to) {
    EXPECT_EQ(from.size(), to.size());
    for (size_t at = bytes.find(from); at != std::string::npos; at = bytes.find(from)) {
      bytes.replace(at, from.size(), to);
    }
    return bytes;
  };
  const std::string good = TinyLlama{}.bytes();
  const Error architecture = load_error(replaced(good, "llama", "gemma"));
  EXPECT_EQ(architecture.kind, ErrorKind::unavailable);
  EXPECT_THAT(architecture.message, HasSubstr("'gemma'"));
  const Error missing = load_error(replaced(good, "blk.1.ffn_up", "blk.9.ffn_up"));
  EXPECT_EQ(missing.kind, ErrorKind::data);
  EXPECT_THAT(missing.message, HasSubstr("no tensor 'blk.1.ffn_up.weight'"));
  const Error key = load_error(replaced(good, "llama.block_count", "llama.block_COUNT"));
  EXPECT_EQ(key.kind, ErrorKind::data);
  EXPECT_THAT(key.message, HasSubstr("llama.block_count"));
  qfs::test::GgufWriter shape;
  shape.text("general.architecture", "llama");
  EXPECT_EQ(load_error(shape.bytes()).kind, ErrorKind::data);
  TinyLlama odd;
  odd.kv_heads = 3;
  EXPECT_THAT(load_error(odd.bytes()).message, HasSubstr("4 heads, 3 key heads"));
}

TEST_F(LlamaTest, a_claimed_size_beyond_the_file_allocates_nothing) {
  TinyLlama tiny;
  std::string bytes = tiny.bytes();
  const std::string key = "llama.feed_forward_length";
  const size_t value = bytes.find(key) + key.size() + 4;
  bytes.replace(value, 4, std::string("\x00\x00\x10\x00", 4));  // 2^20
  const auto opened = checkpoints::GgufFile::open(folder_.write("huge.gguf", bytes));
  ASSERT_TRUE(opened.ok());
  const auto weights = load_llama_weights(*opened);
  ASSERT_FALSE(weights.ok());
  EXPECT_EQ(weights.error().kind, ErrorKind::data);
  EXPECT_THAT(weights.error().message, HasSubstr("[64, 32], expected [1048576, 32]"));
}

TEST(TorchRuntime, settings_are_applied_and_read_back) {
  RuntimeOptions runtime;
  const auto facts = nn::probe_torch(runtime);
  ASSERT_TRUE(facts.ok());
  EXPECT_THAT(facts->numerics.text, HasSubstr(R"("deterministic":true)"));
  EXPECT_THAT(facts->numerics.text, HasSubstr(R"("libtorch":"2.11.)"));
  EXPECT_THAT(facts->numerics.text, HasSubstr(R"("threads":1)"));
  runtime.device = "cuda";
  EXPECT_EQ(nn::configure_torch(runtime).error().kind, ErrorKind::unavailable);
  // Which products a training in bfloat16 has, where they are not the processor's.
  EXPECT_EQ(facts->numerics.text.find("bfloat16") == std::string::npos,
            kernels::has_bfloat16_products());
  runtime = {};
  runtime.dtype = "bfloat16";
  EXPECT_THAT(nn::probe_torch(runtime)->numerics.text, HasSubstr(R"("bfloat16_products":)"));
  runtime.dtype = "float16";
  EXPECT_THAT(nn::configure_torch(runtime).error().message, HasSubstr("float32 and bfloat16 are"));
  runtime = {};
  runtime.threads = 0;
  EXPECT_EQ(nn::configure_torch(runtime).error().kind, ErrorKind::invalid_argument);
}

TEST(TorchRuntime, exceptions_become_typed_errors) {
  const auto thrown = [](auto exception) {
    return nn::guarded("testing", [&]() -> Status { throw exception; }).error();
  };
  EXPECT_EQ(thrown(std::bad_alloc()).kind, ErrorKind::out_of_memory);
  const Error other = thrown(std::runtime_error("odd"));
  EXPECT_EQ(other.kind, ErrorKind::internal);
  EXPECT_EQ(other.message, "testing: odd");
}

}  // namespace
}  // namespace qfs::architectures

// The work of models, beside numbers that were worked out by hand.
#include "methods/models/nn/model_work.h"

#include <gtest/gtest.h>

#include "methods/models/architectures/bart/bart.h"
#include "methods/models/architectures/bert/encoder_work.h"
#include "methods/models/architectures/llama/llama_network.h"
#include "methods/models/architectures/llama/llama_work.h"
#include "methods/models/checkpoints/gguf.h"
#include "methods/models/checkpoints/model_directory.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_llama.h"
#include "tests/support/tiny_seq2seq.h"

namespace qfs::nn {
namespace {

/// Two layers of a 6 x 4 and a 4 x 6 matrix, attention of width 4, a vocabulary of 10.
ModelWork two_layers() {
  ModelWork work;
  work.input = {.matrices = {{6, 4, 2}, {4, 6, 2}}, .bytes = 400, .layers = 2, .width = 4};
  work.output = work.input;
  work.head = {10, 4, 1};
  work.head_bytes = 160;
  work.cache_bytes = 64;
  return work;
}

TEST(PrefillWork, IsLayersForAllTokensCausalAttentionAndTheHeadOnce) {
  // 2 * 96 * 3 tokens + 4 * 4 * 2 layers * (1 + 2 + 3) pairs + 2 * 40 of the head.
  const Work work = prefill_work(two_layers(), {.tokens = 3});
  EXPECT_EQ(work.flops, 576 + 192 + 80);
  EXPECT_EQ(work.bytes, 560);
}

TEST(LearningFlops, AreThoseOfModelUtilisation) {
  // 3 tokens: products 2 * 96 * 3, attention 4 * 4 * 2 * 6, two labels of the head's 2 * 40.
  const int64_t products = 576;
  const int64_t attention = 192;
  const int64_t head = 80;
  const auto flops = [&](const LearningPass& pass) {
    return learning_flops(two_layers(), {.tokens = 3}, pass);
  };
  EXPECT_EQ(flops({.labels = 2}), 2 * products + 7 * attention / 2 + 2 * 2 * head);
  EXPECT_EQ(flops({.labels = 2, .weights = true}), 3 * products + 7 * attention / 2 + 3 * 2 * head);
  EXPECT_EQ(flops({.labels = 0, .recompute = true}), 3 * products + 9 * attention / 2);
  EXPECT_EQ(flops({.labels = 0, .silent = 3}), products + attention);
  // A LoRA step of LLaMA-2-7B at 3,800 tokens, head aside: 4NT + 3.5A with A half of a square.
  ModelWork llama;
  llama.input = {
      .matrices = {{4096, 4096, 4 * 32}, {11008, 4096, 3 * 32}}, .layers = 32, .width = 4096};
  const double step = static_cast<double>(learning_flops(llama, {.tokens = 3800}, {.labels = 0}));
  EXPECT_NEAR(step / (4 * 6.476005376e9 * 3800 + 3.5 * 2 * 32 * 4096 * 3800.0 * 3800), 1, 1e-4);
}

TEST(LearningFlops, OfAnEncoderDecoderHaveBothAttentions) {
  ModelWork model = two_layers();
  model.source_bytes = 1;
  model.causal = false;
  const PromptSize size = {.tokens = 5, .begun = 3};
  // 25 pairs in the encoder; 6 of the decoder with itself and 15 with the source.
  const int64_t attention = 4 * 4 * 2 * (25 + 6 + 15);
  const int64_t products = 2 * 96 * (5 + 3);
  EXPECT_EQ(learning_flops(model, size, {.labels = 0}), 2 * products + 7 * attention / 2);
}

TEST(DecodeWork, ReadsWeightsOnceAndTheCacheOfEachRow) {
  const RowGroup groups[] = {{.rows = 2, .past = 5}, {.rows = 1, .past = 7}};
  const Work work = decode_work(two_layers(), groups);
  // 3 rows through layers and head; 2 * 6 + 8 keys are seen in 2 layers of width 4.
  EXPECT_EQ(work.flops, 3 * 2 * (96 + 40) + 4 * 4 * 2 * (2 * 6 + 8));
  EXPECT_EQ(work.bytes, 560 + 64 * (2 * 5 + 7));
}

TEST(SegmentWork, IsAttentionInBlocksAndTheMemoryBehindTheFirst) {
  ModelWork model = two_layers();
  model.segment = {.tokens = 4, .written = 30, .read = 20, .bytes = 100};
  // Blocks of 4 and 4, and 2 tokens that see 3 and 4; 6 tokens move one into the memory and read.
  const int64_t pairs = 10 + 10 + 3 + 4;
  EXPECT_EQ(prefill_work(model, {.tokens = 10}).flops,
            2 * 96 * 10 + 4 * 4 * 2 * pairs + 2 * 40 + 2 * (30 + 20) * 6);
  EXPECT_EQ(prefill_work(model, {.tokens = 3}).flops,
            prefill_work(two_layers(), {.tokens = 3}).flops);
  const RowGroup inside = {.rows = 2, .past = 3};
  EXPECT_EQ(decode_work(model, {&inside, 1}).flops, decode_work(two_layers(), {&inside, 1}).flops);
  const RowGroup beyond = {.rows = 2, .past = 90};
  const Work far = decode_work(model, {&beyond, 1});
  EXPECT_EQ(far.flops, decode_work(model, {&inside, 1}).flops + 2 * 2 * (30 + 20));
  EXPECT_EQ(far.bytes, 560 + 2 * (3 * 64 + 2 * 100));
  // The last 3 one by one see 4 each, write and read; the head is that of the last token alone.
  const Work stepped = prefill_work(model, {.tokens = 10, .stepped = 3});
  EXPECT_EQ(stepped.flops, prefill_work(model, {.tokens = 7}).flops +
                               3 * (2 * 96 + 4 * 4 * 2 * 4 + 2 * (30 + 20)));
  EXPECT_EQ(stepped.bytes, 560 + 3 * (400 + 3 * 64 + 2 * 100));
  // With a kept token 6 see one more, and one fewer leaves.
  const int64_t plain = prefill_work(model, {.tokens = 10}).flops;
  model.segment.kept = 1;
  EXPECT_EQ(prefill_work(model, {.tokens = 10}).flops, plain + 4 * 4 * 2 * 6 - 2 * (30 + 20));
}

TEST(DecodeWork, OfAllPositionsAddsUpToThePrefillButForTheHead) {
  const ModelWork model = two_layers();
  int64_t flops = 0;
  for (int64_t past = 0; past < 9; ++past) {
    const RowGroup group = {1, past};
    flops += decode_work(model, {&group, 1}).flops - 2 * model.head.elements();
  }
  EXPECT_EQ(flops + 2 * model.head.elements(), prefill_work(model, {.tokens = 9}).flops);
}

TEST(PrefillWork, OfASharedPrefixReadsItsCacheInstead) {
  const ModelWork model = two_layers();
  const Work whole = prefill_work(model, {.tokens = 5});
  const Work rest = prefill_work(model, {.tokens = 5, .shared = 3});
  // Layers for 3 tokens and the 6 pairs that they are.
  EXPECT_EQ(whole.flops - rest.flops, 2 * 96 * 3 + 4 * 4 * 2 * 6);
  EXPECT_EQ(rest.bytes, 560 + 3 * 64);
}

TEST(PrefillWork, OfAWindowCountsTheKeysThatAreSeen) {
  ModelWork model = two_layers();
  model.causal = false;
  const int64_t products = 2 * 96 * 5 + 80;
  EXPECT_EQ(prefill_work(model, {.tokens = 5}).flops, products + 4 * 4 * 2 * 25);
  // Of 5 tokens, with one on each side: 2 + 3 + 3 + 3 + 2; in blocks of 2: 4 + 4 + 5 + 5 + 3.
  model.windows = {{.reach = 1}, {.reach = 2, .blocks = true}};
  EXPECT_EQ(prefill_work(model, {.tokens = 5}).flops, products + 4 * 4 * (13 + 21));
  // A global token sees all 5 and is seen by them, in each layer; all have its keys and values.
  EXPECT_EQ(prefill_work(model, {.tokens = 5, .global = 1}).flops,
            products + 4 * 4 * (13 + 10 + 25) + 2 * 2 * 4 * 4 * (2 * 5 + 1));
  model.windows = {{.reach = 9}, {.reach = 9, .blocks = true}};
  EXPECT_EQ(prefill_work(model, {.tokens = 5}).flops, products + 4 * 4 * 2 * 25);
}

TEST(LlamaWork, IsCountedFromTheWeightsAsTheyAreLoaded) {
  const qfs::test::TemporaryFolder folder;
  const auto file =
      checkpoints::GgufFile::open(folder.write("m.gguf", qfs::test::TinyLlama{}.bytes()));
  ASSERT_TRUE(file.ok());
  const auto weights = architectures::load_llama_weights(*file);
  ASSERT_TRUE(weights.ok()) << weights.error().to_string();
  // Two layers of width 32 with 4 heads of 8, 2 of them for keys, and 64 inside; 258 tokens.
  const ModelWork loaded = architectures::llama_work(**weights, {});
  const int64_t layer = 64 * 32 + 32 * 32 + 128 * 32 + 32 * 64;
  EXPECT_EQ(loaded.input.elements(), 2 * layer);
  EXPECT_EQ(loaded.input.width, 32);
  EXPECT_EQ(loaded.head.elements(), 258 * 32);
  EXPECT_EQ(loaded.cache_bytes, 2 * 2 * 16 * 4);
  EXPECT_FALSE(loaded.encoder_decoder());
  const ModelWork halved = architectures::llama_work(**weights, {2, 2});
  EXPECT_EQ(halved.output.bytes, 2 * (2 * layer + 2 * 2 * 32));
  EXPECT_EQ(halved.head_bytes, 2 * (258 * 32 + 32));
  EXPECT_EQ(halved.cache_bytes, loaded.cache_bytes / 2);

  const auto network = architectures::make_llama_network(*weights);
  const auto cache_of = [&](const char* device, const char* dtype) {
    return network->work(network->element_bytes({.device = device, .dtype = dtype})).cache_bytes;
  };
  EXPECT_EQ(network->work(network->element_bytes({})).output.bytes, loaded.output.bytes);
  EXPECT_EQ(network->work(network->element_bytes({.dtype = "bfloat16"})).output.bytes,
            halved.output.bytes);
  EXPECT_EQ(cache_of("cpu", "bfloat16"), loaded.cache_bytes);
  EXPECT_EQ(cache_of("cuda", "bfloat16"), halved.cache_bytes);
  EXPECT_EQ(cache_of("cuda", "float32"), loaded.cache_bytes);
}

TEST(BartWork, TellsTheEncoderFromTheDecoder) {
  const qfs::test::TemporaryFolder folder;
  const auto directory = checkpoints::ModelDirectory::open(qfs::test::TinySeq2Seq{}.write(folder));
  ASSERT_TRUE(directory.ok());
  const auto weights = architectures::load_bart_weights(*directory);
  ASSERT_TRUE(weights.ok()) << weights.error().to_string();
  const architectures::BartConfig& c = (*weights)->config;
  const int64_t d = c.encoder.hidden;
  const auto network = architectures::load_bart_folder(*directory);
  ASSERT_TRUE(network.ok()) << network.error().to_string();
  const ModelWork work = (*network)->work({});
  EXPECT_EQ(work.input.elements(), c.encoder.layers * (4 * d * d + 2 * d * c.encoder.intermediate) +
                                       c.decoder_layers * 2 * d * d);
  EXPECT_EQ(work.output.elements(),
            c.decoder_layers * (6 * d * d + 2 * d * c.decoder_intermediate));
  // Matrices, their biases and three norms of a layer, float32.
  EXPECT_EQ(work.output.bytes, 4 * c.decoder_layers *
                                   (6 * d * d + 2 * d * c.decoder_intermediate + 6 * d +
                                    c.decoder_intermediate + d + 3 * 2 * d));
  EXPECT_TRUE(work.encoder_decoder());
  // One more token of the source: its keys and values are read by each group once.
  const RowGroup near = {.rows = 3, .past = 4, .source = 6};
  const RowGroup far = {.rows = 3, .past = 4, .source = 7};
  EXPECT_EQ(decode_work(work, {&far, 1}).bytes - decode_work(work, {&near, 1}).bytes,
            c.decoder_layers * 2 * d * 4);
  EXPECT_EQ(decode_work(work, {&far, 1}).flops - decode_work(work, {&near, 1}).flops,
            c.decoder_layers * 3 * 4 * d);
}

}  // namespace
}  // namespace qfs::nn

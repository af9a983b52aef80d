// How many parameters published sizes have, counted by the lists of weights from shapes alone.
// Sources of the numbers: specifications of the methods, which count them by hand; EGAD states 460
// M for LED-large.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "methods/models/architectures/bart/bart_weights.h"
#include "methods/models/architectures/bert/encoder_names.h"

namespace qfs::architectures {
namespace {

/// Adds up elements without making any.
class Counter final : public nn::WeightVisitor {
 public:
  void tensor(const std::string&, at::Tensor&, std::vector<int64_t> shape) override { add(shape); }
  /// A buffer, or one that is a copy.
  void optional(const std::string&, at::Tensor&, std::vector<int64_t>) override {}
  void tied(const std::string&, at::Tensor&, const at::Tensor&, std::vector<int64_t>) override {}
  void fused(const std::vector<nn::FusedPart>& parts, nn::Linear&, int64_t inputs,
             bool bias) override {
    for (const nn::FusedPart& part : parts) count += part.outputs * (inputs + (bias ? 1 : 0));
  }
  void transposed(const std::string&, nn::Linear&, int64_t outputs, int64_t inputs) override {
    count += outputs * (inputs + 1);
  }

  int64_t count = 0;

 private:
  void add(const std::vector<int64_t>& shape) {
    int64_t elements = 1;
    for (const int64_t extent : shape) elements *= extent;
    count += elements;
  }
};

int64_t encoder(const EncoderConfig& config) {
  EncoderWeights weights;
  weights.config = config;
  Counter counter;
  visit_weights(weights, encoder_names(config.model_type).token_embeddings.front(), counter);
  return counter.count;
}

/// bart-large or -base, or the LED of that size with its longer table and its projections of global
/// attention.
int64_t encoder_decoder(bool led, bool base = false) {
  const int64_t layers = base ? 6 : 12;
  const int64_t hidden = base ? 768 : 1024;
  const int64_t heads = hidden / 64;
  BartWeights weights;
  EncoderConfig& shape = weights.config.encoder;
  shape.model_type = led ? "led" : "bart";
  shape.layers = layers;
  shape.hidden = hidden;
  shape.intermediate = 4 * hidden;
  shape.heads = heads;
  shape.vocabulary = 50265;
  shape.position_rows = led ? 16384 : 1026;
  weights.config.decoder_layers = layers;
  weights.config.decoder_heads = heads;
  weights.config.decoder_intermediate = 4 * hidden;
  weights.config.decoder_position_rows = led ? 1024 : 1026;
  if (led) weights.config.windows.assign(static_cast<size_t>(layers), {.reach = 512});
  auto made = std::make_shared<EncoderWeights>();
  made->config = shape;
  weights.encoder = made;
  Counter counter;
  visit_weights(weights, counter);
  return counter.count;
}

TEST(ParameterCounts, of_dyles_models) {
  EncoderConfig roberta;
  roberta.model_type = "roberta";
  roberta.layers = 12;
  roberta.hidden = 768;
  roberta.intermediate = 3072;
  roberta.heads = 12;
  roberta.vocabulary = 50265;
  roberta.position_rows = 514;
  roberta.segments = 1;
  EXPECT_EQ(encoder(roberta), 124'055'040);
  EXPECT_EQ(encoder_decoder(false), 406'291'456);
  const int64_t head = 768 + 1;
  const int64_t gate = 2 * (1024 * 1024 + 1024) + 1024 + 1;
  EXPECT_EQ(encoder(roberta) + head + encoder_decoder(false) + gate, 532'447'490);
}

TEST(ParameterCounts, of_led_large) { EXPECT_EQ(encoder_decoder(true), 459'801'600); }

TEST(ParameterCounts, of_the_base_models) {
  EXPECT_EQ(encoder_decoder(false, true), 139'420'416);
  EXPECT_EQ(encoder_decoder(true, true), 161'844'480);
}

}  // namespace
}  // namespace qfs::architectures

// How unlimiformer reads sources in training: losses and gradients beside a float64 reference that
// gathers what is chosen and leaves the rest to plain autograd, and what is drawn when.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "methods/models/architectures/bart/bart.h"
#include "methods/models/nn/adapters.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/sequences.h"
#include "methods/models/nn/token_loss.h"
#include "methods/models/nn/trained_weights.h"
#include "methods/unlimiformer/session_reading.h"
#include "methods/unlimiformer/windows.h"
#include "tests/support/random_bart.h"
#include "tests/support/tiny_llama.h"

namespace qfs::unlimiformer {
namespace {

using nn::Recompute;
using ::testing::ElementsAre;
using training::GraphRow;
using training::LabelledSequence;

/// Places of the states that a position of a head reads, by its scores [tokens].
using Choose = std::function<at::Tensor(size_t layer, const at::Tensor& scores)>;

/// Windows encoded one by one, and keys and values gathered for each position and head.
class Gathered final : public nn::SourceReading {
 public:
  explicit Gathered(Choose choose) : choose_(std::move(choose)) {}

  Result<at::Tensor> encode(const nn::Decoder& decoder, const nn::SequenceInput& input,
                            Recompute) const override {
    std::vector<at::Tensor> kept;
    for (const Window& window : windows_of(static_cast<int64_t>(input.ids.size()),
                                           decoder.shape().sequence.source_context, 0.5)) {
      nn::SequenceInput part{
          .ids = {input.ids.begin() + window.begin, input.ids.begin() + window.end}};
      part.adapters = input.adapters;
      kept.push_back(decoder.encode(part)->slice(1, window.kept_begin - window.begin,
                                                 window.kept_end - window.begin));
    }
    return at::cat(kept, 1);
  }

  at::Tensor attend(const nn::SourceQuery& query) const override {
    const nn::DecoderShape& c = query.decoder.shape();
    const at::Tensor both =
        query.decoder.source_keys_values(query.layer, query.states, query.adapters);
    const at::Tensor asking = query.queries.view({-1, c.heads, c.head_dim});
    std::vector<at::Tensor> rows;
    for (int64_t row = 0; row < asking.size(0); ++row) {
      std::vector<at::Tensor> heads;
      for (int64_t head = 0; head < c.heads; ++head) {
        const at::Tensor q = asking[row][head] / std::sqrt(static_cast<double>(c.head_dim));
        const at::Tensor places = choose_(query.layer, at::mv(both[0][head].detach(), q.detach()));
        const at::Tensor weights = at::mv(both[0][head].index_select(0, places), q).softmax(0);
        heads.push_back(at::mv(both[1][head].index_select(0, places).t(), weights));
      }
      rows.push_back(at::cat(heads));
    }
    return at::stack(rows);
  }

 private:
  Choose choose_;
};

Choose best(int64_t count) {
  return [count](size_t, const at::Tensor& scores) {
    return std::get<1>(scores.topk(std::min(count, scores.size(0))));
  };
}

at::Tensor drawn_of(uint64_t seed, const char* stream, uint64_t index, int64_t tokens,
                    int64_t count) {
  return at::tensor(drawn_places(Rng::derived(seed, stream, index), tokens, count), at::kLong);
}

class ReadingTest : public ::testing::Test {
 protected:
  ReadingTest() {
    EXPECT_TRUE(nn::configure_torch({}).ok());
    decoder_ = architectures::make_bart_decoder(test::random_bart({}));
    auto precise = decoder_->copy_to(at::kCPU, at::kDouble);
    EXPECT_TRUE(precise.ok()) << precise.error().to_string();
    precise_ = *std::move(precise);
    for (const int64_t tokens : {90, 33}) {  // windows of 40
      nn::SequenceInput input;
      for (const int32_t id : test::some_tokens(tokens, static_cast<int32_t>(tokens))) {
        input.ids.push_back(id % 60);
      }
      input.decoder_ids = {2, 0, 11, 8, 6};
      rows_.push_back({std::move(input), {nn::kNoLabel, 11, 8, 6, 2}});
    }
  }

  /// Rows of a step, in the order of the sequences.
  std::vector<GraphRow> rows(int64_t step) const {
    std::vector<GraphRow> made;
    for (size_t i = 0; i < rows_.size(); ++i) {
      made.push_back({rows_[i], static_cast<uint64_t>(step) * rows_.size() + i, step});
    }
    return made;
  }

  struct Learned {
    double loss = 0;
    std::map<std::string, at::Tensor> gradients;
  };

  /// Of the summed loss of both rows, to low-rank matrices of every layer or to all weights.
  Learned learned(const nn::Decoder& decoder, const nn::SourceReadings& sources, bool weights,
                  Recompute recompute = Recompute::nothing) const {
    std::map<std::string, at::Tensor> leaves;
    nn::LowRankByName layers;
    at::manual_seed(3);
    const auto leaf = [&](const std::string& name, const at::Tensor& value) {
      return leaves[name] = value.to(decoder.type()).clone().set_requires_grad(true);
    };
    if (weights) {
      for (const auto& [name, weight] : nn::weights_of(decoder)) leaf(name, weight);
    } else {
      for (const nn::AdapterTarget& target : nn::adapter_targets(decoder)) {
        for (const nn::FusedPart& layer : target.layers) {
          layers[layer.name] = {leaf(layer.name + ".a", at::randn({2, target.inputs}) * 0.2),
                                leaf(layer.name + ".b", at::randn({layer.outputs, 2}) * 0.2), 0.5};
        }
      }
    }
    const auto trained = weights ? nn::with_weights(decoder, leaves) : nullptr;
    const nn::Decoder& own = weights ? *trained : decoder;
    const auto bound = nn::bind_adapters({.linears = layers}, own);
    EXPECT_TRUE(bound.ok()) << bound.error().to_string();
    std::vector<nn::SequenceInput> inputs;
    std::vector<int64_t> labels;
    for (const LabelledSequence& row : rows_) {
      inputs.push_back(row.input);
      inputs.back().adapters = *bound;
      labels.insert(labels.end(), row.labels.begin(), row.labels.end());
    }
    const auto states = nn::sequence_states(own, inputs, recompute, {}, sources);
    EXPECT_TRUE(states.ok()) << states.error().to_string();
    const auto loss = nn::token_loss(nn::apply(own.head(), *states), labels);
    EXPECT_TRUE(loss.ok());
    loss->backward();
    Learned learned{loss->item<double>(), {}};
    for (const auto& [name, value] : leaves) learned.gradients[name] = value.grad();
    return learned;
  }

  static void expect_near(const Learned& found, const Learned& expected) {
    EXPECT_NEAR(found.loss, expected.loss, 1e-5);
    ASSERT_EQ(found.gradients.size(), expected.gradients.size());
    for (const auto& [name, gradient] : expected.gradients) {
      SCOPED_TRACE(name);
      const at::Tensor& own = found.gradients.at(name);
      ASSERT_EQ(own.defined(), gradient.defined());
      if (!gradient.defined()) continue;
      const double most = gradient.abs().max().item<double>();
      EXPECT_LT((own.to(at::kDouble) - gradient).abs().max().item<double>(), 1e-4 * most + 1e-6);
    }
  }

  /// `reference`: what each row reads.
  void expect_learns_as(const TrainingReading& how, const std::vector<Choose>& reference) const {
    nn::SourceReadings gathered;
    for (const Choose& choose : reference) gathered.push_back(std::make_shared<Gathered>(choose));
    const nn::SourceReadings own = readings_of(how, rows(kStep));
    for (const bool weights : {false, true}) {
      const Learned expected = learned(*precise_, gathered, weights);
      expect_near(learned(*decoder_, own, weights), expected);
      expect_near(learned(*decoder_, own, weights, Recompute::layers), expected);
    }
  }

  static constexpr int64_t kStep = 4;
  std::shared_ptr<const nn::Decoder> decoder_;
  std::shared_ptr<const nn::Decoder> precise_;
  std::vector<LabelledSequence> rows_;
};

TEST_F(ReadingTest, all_states_are_full_cross_attention_with_its_gradients) {
  const TrainingReading how = {"retrieval", {1000, 0.5}};
  expect_learns_as(how, {best(1000), best(1000)});
  expect_learns_as({"random_encoded", {1000, 0.5}}, {best(1000), best(1000)});
}

TEST_F(ReadingTest, each_position_and_head_learns_of_its_best) {
  expect_learns_as({"retrieval", {7, 0.5}}, {best(7), best(7)});
  // All but one, of the longer source; the shorter is read in full.
  expect_learns_as({"retrieval", {89, 0.5}}, {best(89), best(33)});
}

TEST_F(ReadingTest, each_layer_learns_of_states_that_it_draws) {
  const auto of_row = [](uint64_t row) {
    return [row](size_t layer, const at::Tensor& scores) {
      const uint64_t draw = kStep * 2 + row;
      return drawn_of(5, "unlimiformer_states", draw * 2 + layer, scores.size(0), 7);
    };
  };
  expect_learns_as({"random_encoded", {7, 0.5}, 5}, {of_row(0), of_row(1)});
}

TEST_F(ReadingTest, what_is_not_retrieved_has_no_part_in_a_loss) {
  const auto loss = [&](const TrainingReading& how) {
    return learned(*decoder_, readings_of(how, rows(0)), false).loss;
  };
  const double all = loss({"retrieval", {1000, 0.5}});
  EXPECT_GT(std::abs(loss({"retrieval", {4, 0.5}}) - all), 1e-3);
  EXPECT_GT(std::abs(loss({"random_encoded", {4, 0.5}}) - all), 1e-3);
}

/// What a reading makes of a layer's query, to the bit.
std::vector<float> attended(const nn::SourceReading& reading, const nn::Decoder& decoder,
                            size_t layer, const nn::Dropout* dropout = nullptr) {
  at::manual_seed(9);
  const at::Tensor states = at::randn({1, 50, 12});
  const at::Tensor out =
      reading.attend({decoder, layer, states, at::randn({3, 12}), nullptr, dropout}).contiguous();
  return {out.const_data_ptr<float>(), out.const_data_ptr<float>() + out.numel()};
}

TEST_F(ReadingTest, draws_are_of_the_seed_the_step_the_example_and_the_layer) {
  std::set<std::vector<float>> seen;
  for (const uint64_t seed : {1, 2}) {
    const TrainingReading how = {"random_encoded", {6, 0.5}, seed};
    for (const int64_t step : {0, 1}) {
      for (const auto& reading : readings_of(how, rows(step))) {
        for (const size_t layer : {0, 1}) seen.insert(attended(*reading, *decoder_, layer));
      }
    }
    // Again, as after a kill.
    seen.insert(attended(*readings_of(how, rows(1)).back(), *decoder_, 1));
    // Of a development loss, whenever it is computed.
    for (const int64_t step : {0, 3}) {
      const std::vector<GraphRow> development = {{rows_[0], {}, step}};
      seen.insert(attended(*readings_of(how, development).front(), *decoder_, 0));
    }
  }
  EXPECT_EQ(seen.size(), 2 * (2 * 2 * 2 + 1));
}

TEST_F(ReadingTest, weights_of_what_is_read_are_dropped) {
  const nn::Dropout dropout{{.attention = 0.4}, 1};
  for (const char* mode : {"retrieval", "random_encoded"}) {
    SCOPED_TRACE(mode);
    const auto reading = readings_of({mode, {6, 0.5}, 1}, rows(0)).front();
    const auto dropped = attended(*reading, *decoder_, 0, &dropout);
    EXPECT_NE(dropped, attended(*reading, *decoder_, 0));
    EXPECT_EQ(dropped, attended(*reading, *decoder_, 0, &dropout));
  }
}

TEST_F(ReadingTest, both_take_turns_and_retrieval_is_what_chooses) {
  const auto of = [&](const char* mode, int64_t step, bool development = false) {
    std::vector<GraphRow> some = rows(step);
    if (development) some.front().draw.reset();
    return attended(*readings_of({mode, {6, 0.5}, 1}, some).front(), *decoder_, 0);
  };
  for (const int64_t step : {0, 2}) EXPECT_EQ(of("alternating", step), of("retrieval", step));
  for (const int64_t step : {1, 3}) EXPECT_EQ(of("alternating", step), of("random_encoded", step));
  EXPECT_NE(of("retrieval", 1), of("random_encoded", 1));
  EXPECT_EQ(of("alternating", 1, true), of("retrieval", 1));
}

TEST(DrawnPlaces, rise_and_are_all_alike) {
  EXPECT_THAT(drawn_places(Rng(1), 4, 4), ElementsAre(0, 1, 2, 3));
  std::vector<int64_t> counts(10);
  constexpr int64_t kDraws = 20'000;
  for (uint64_t i = 0; i < kDraws; ++i) {
    const std::vector<int64_t> places = drawn_places(Rng(i), 10, 3);
    ASSERT_EQ(places.size(), 3U);
    ASSERT_TRUE(std::ranges::adjacent_find(places, std::greater_equal{}) == places.end());
    for (const int64_t place : places) ++counts[static_cast<size_t>(place)];
  }
  // Six standard deviations of a binomial.
  for (const int64_t count : counts) {
    EXPECT_LT(std::abs(static_cast<double>(count) - kDraws * 0.3), 6 * std::sqrt(kDraws * 0.21));
  }
}

TEST(ReadingFlops, windows_in_full_and_states_that_are_read) {
  nn::ModelWork work;
  work.causal = false;
  work.input = {.matrices = {{4, 4, 1}}, .bytes = 0, .layers = 1, .width = 4};
  work.output = {.matrices = {{3, 3, 1}}, .bytes = 0, .layers = 1, .width = 3};
  work.head = {10, 4, 1};
  work.source_bytes = 1;
  const auto sequence = [](size_t tokens) {
    return LabelledSequence{{.ids = std::vector<int32_t>(tokens, 5)}, {1, 2}};
  };
  // One window, all of it read: as without retrieval.
  EXPECT_EQ(reading_flops({"retrieval", {8, 0.5}}, work, 8, sequence(6)),
            nn::prefill_work(work, {.tokens = 6, .begun = 2}).flops);
  // [0, 8) [4, 12) [8, 16) [9, 17): of each 8 x 2 x 16 and 4 x 4 x 64; two produced tokens pass
  // 2 x 9 each, see 3 pairs of their own, and of states what is counted; the head once.
  const auto expected = [](int64_t seen) {
    return 4 * (8 * 32 + 16 * 64) + 2 * 18 + 4 * 3 * (3 + 2 * seen) + 2 * 40;
  };
  EXPECT_EQ(reading_flops({"random_encoded", {5, 0.5}}, work, 8, sequence(17)), expected(5));
  EXPECT_EQ(reading_flops({"retrieval", {5, 0.5}}, work, 8, sequence(17)), expected(11));
  EXPECT_EQ(reading_flops({"alternating", {5, 0.5}}, work, 8, sequence(17)), expected(8));
}

}  // namespace
}  // namespace qfs::unlimiformer

// Low-rank adapters on every linear layer of tiny random models give the logits of the model whose
// weights they were merged into (W + scale B A), whichever way it is run; rows with adapters and
// rows without them share a batch.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "methods/models/architectures/bart/bart.h"
#include "methods/models/architectures/gpt2/gpt2.h"
#include "methods/models/architectures/llama/cpu_llama.h"
#include "methods/models/architectures/llama/llama_tensors.h"
#include "methods/models/nn/adapters.h"
#include "methods/models/nn/device/device_model.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/sequences.h"
#include "methods/models/nn/steps/step_model.h"
#include "tests/support/tiny_checkpoint.h"

namespace qfs::architectures {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr int64_t kRank = 3;

/// Calls `each` for every linear layer of a checkpoint, with its rows of the weight.
class LinearLayers final : public nn::WeightVisitor {
 public:
  using Each = std::function<void(const std::string& name, at::Tensor rows)>;
  explicit LinearLayers(Each each) : each_(std::move(each)) {}

  void tensor(const std::string&, at::Tensor&, std::vector<int64_t>) override {}
  void optional(const std::string&, at::Tensor&, std::vector<int64_t>) override {}
  void tied(const std::string&, at::Tensor&, const at::Tensor&, std::vector<int64_t>) override {}
  void fused(const std::vector<nn::FusedPart>& parts, nn::Linear& linear, int64_t, bool) override {
    int64_t first = 0;
    for (const nn::FusedPart& part : parts) {
      each_(part.name, linear.weight.narrow(0, first, part.outputs));
      first += part.outputs;
    }
  }
  void transposed(const std::string& name, nn::Linear& linear, int64_t, int64_t) override {
    each_(name, linear.weight);
  }

 private:
  Each each_;
};

nn::LowRankByName random_adapters(const nn::Decoder& decoder) {
  at::manual_seed(11);
  nn::LowRankByName adapters;
  LinearLayers layers([&](const std::string& name, const at::Tensor& rows) {
    adapters[name] = {at::randn({kRank, rows.size(1)}) * 0.2,
                      at::randn({rows.size(0), kRank}) * 0.2, 0.7};
  });
  decoder.visit(layers);
  return adapters;
}

/// Into the decoder's own weights.
void merge(const nn::LowRankByName& adapters, const nn::Decoder& decoder) {
  LinearLayers layers([&](const std::string& name, at::Tensor rows) {
    const nn::LowRank& added = adapters.at(name);
    rows.add_(at::mm(added.up, added.down), added.scale);
  });
  decoder.visit(layers);
}

using Rows = std::vector<std::vector<float>>;

/// Logits after a prompt of all but the last three tokens of `input` (of its decoder), and after
/// each of those.
Rows run(nn::SequenceModel& model, nn::SequenceInput input) {
  constexpr size_t kSteps = 3;
  std::vector<int32_t>& ids = input.decoder_ids.empty() ? input.ids : input.decoder_ids;
  const std::vector<int32_t> steps(ids.end() - kSteps, ids.end());
  ids.resize(ids.size() - kSteps);
  EXPECT_TRUE(model.begin(2, 24).ok());
  Rows rows(1, std::vector<float>(static_cast<size_t>(model.shape().vocabulary)));
  const Status read = model.prefill(1, input, rows.back());
  EXPECT_TRUE(read.ok()) << read.error().to_string();
  for (const int32_t token : steps) {
    const int64_t row = 1;
    rows.push_back(rows.back());
    EXPECT_TRUE(model.decode({&row, 1}, {&token, 1}, rows.back()).ok());
  }
  return rows;
}

double largest_difference(const Rows& a, const Rows& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < a[i].size(); ++j) {
      largest = std::max<double>(largest, std::abs(a[i][j] - b[i][j]));
    }
  }
  return largest;
}

class TinyAdaptersConformance : public ::testing::Test {
 protected:
  TinyAdaptersConformance() { EXPECT_TRUE(nn::configure_torch({}).ok()); }

  checkpoints::ModelDirectory directory(const std::string& file, size_t index) {
    std::ifstream stream("tests/conformance/models/architectures/" + file);
    const json cases = json::parse(stream).at("cases");
    auto opened = checkpoints::ModelDirectory::open(
        qfs::test::write_tiny_checkpoint(folder_, cases.at(index)));
    EXPECT_TRUE(opened.ok());
    return *std::move(opened);
  }

  /// `load` makes the decoder anew.
  template <class Load>
  void expect_merged(const Load& load, const nn::SequenceInput& input) {
    const std::shared_ptr<const nn::Decoder> plain = load();
    const std::shared_ptr<const nn::Decoder> merged = load();
    const nn::LowRankByName adapters = random_adapters(*plain);
    ASSERT_GE(adapters.size(), 8U);
    merge(adapters, *merged);
    nn::StepModel expected(merged);
    const Rows wanted = run(expected, input);

    nn::StepModel steps(plain);
    ASSERT_GT(largest_difference(run(steps, input), wanted), 0.01) << "they change nothing";
    expect_near(steps, adapters, input, wanted);
    nn::DeviceModel device(plain, nn::cpu_device_services());
    expect_near(device, adapters, input, wanted);

    const auto bound = nn::bind_adapters({.linears = adapters}, *plain);
    ASSERT_TRUE(bound.ok()) << bound.error().to_string();
    nn::SequenceInput with = input;
    with.adapters = *bound;
    const std::vector<nn::SequenceInput> both = {input, with};
    const auto states = nn::sequence_states(*plain, both);
    const auto merged_states = nn::sequence_states(*merged, {&input, 1});
    ASSERT_TRUE(states.ok()) << states.error().to_string();
    const int64_t count = merged_states->size(0);
    EXPECT_TRUE(at::allclose(states->narrow(0, count, count), *merged_states, 1e-4, 1e-5));
    EXPECT_FALSE(at::allclose(states->narrow(0, 0, count), *merged_states, 1e-2, 1e-2));
  }

  static void expect_near(nn::SequenceModel& model, const nn::LowRankByName& adapters,
                          nn::SequenceInput input, const Rows& wanted) {
    const auto bound = model.bind({.linears = adapters});
    ASSERT_TRUE(bound.ok()) << bound.error().to_string();
    input.adapters = *bound;
    EXPECT_LT(largest_difference(run(model, input), wanted), 5e-5);
  }

  qfs::test::TemporaryFolder folder_;
};

TEST_F(TinyAdaptersConformance, OfTheLlamaFamilyPackedOrNot) {
  for (const size_t index : {size_t{0}, size_t{5}, size_t{9}}) {
    SCOPED_TRACE(index);
    const auto from = directory("tiny_llama_expected.json", index);
    const auto packed = load_llama_weights(from);
    ASSERT_TRUE(packed.ok()) << packed.error().to_string();
    const auto load = [&] {
      return make_llama_decoder(*copy_to_device(**packed, at::kCPU, at::kFloat));
    };
    const nn::SequenceInput input = {.ids = {3, 7, 1, 9, 12, 5, 30, 2, 17, 21, 4, 8}};
    expect_merged(load, input);
    const auto decoder = load();
    const nn::LowRankByName adapters = random_adapters(*decoder);
    merge(adapters, *decoder);
    nn::StepModel merged(decoder);
    const Rows wanted = run(merged, input);
    expect_near(*make_cpu_model(*packed), adapters, input, wanted);
  }
}

TEST_F(TinyAdaptersConformance, OfGpt2) {
  const auto from = directory("tiny_gpt2_expected.json", 0);
  expect_merged([&] { return *load_gpt2_decoder(from); }, {.ids = {3, 7, 1, 9, 12, 5, 30, 2, 17}});
}

TEST_F(TinyAdaptersConformance, OfEncoderDecoders) {
  for (const size_t index : {size_t{0}, size_t{3}}) {
    SCOPED_TRACE(index);
    const auto from = directory("tiny_seq2seq_expected.json", index);
    expect_merged([&] { return make_bart_decoder(*load_bart_weights(from)); },
                  {.ids = {3, 7, 1, 9, 12, 5, 30, 2}, .decoder_ids = {2, 9, 4, 6, 11, 5}});
  }
}

/// Logits of two rows that take the same steps, one with adapters.
Rows beside_others(nn::SequenceModel& model, const std::shared_ptr<const nn::Adapters>& adapters) {
  const nn::SequenceInput plain = {.ids = {3, 7, 1, 9}};
  nn::SequenceInput with = plain;
  with.adapters = adapters;
  const auto width = static_cast<size_t>(model.shape().vocabulary);
  std::vector<float> first(width);
  EXPECT_TRUE(model.begin(3, 12).ok());
  EXPECT_TRUE(model.prefill(0, plain, first).ok());
  EXPECT_TRUE(model.prefill(2, with, first).ok());
  const std::vector<int64_t> rows = {0, 2};
  const std::vector<int32_t> tokens = {5, 5};
  std::vector<float> logits(2 * width);
  EXPECT_TRUE(model.decode(rows, tokens, logits).ok());
  // The row without goes on from the one with them, and takes them along.
  const std::vector<int64_t> to = {0};
  const std::vector<int64_t> from = {2};
  EXPECT_TRUE(model.reassign(to, from).ok());
  std::vector<float> after(2 * width);
  EXPECT_TRUE(model.decode(rows, tokens, after).ok());
  const auto half = static_cast<std::ptrdiff_t>(width);
  return {{logits.begin(), logits.begin() + half},
          {logits.begin() + half, logits.end()},
          {after.begin(), after.begin() + half},
          {after.begin() + half, after.end()}};
}

TEST_F(TinyAdaptersConformance, AreStateOfARow) {
  const auto from = directory("tiny_llama_expected.json", 0);
  const auto packed = load_llama_weights(from);
  ASSERT_TRUE(packed.ok());
  const auto decoder = make_llama_decoder(*copy_to_device(**packed, at::kCPU, at::kFloat));
  const nn::LowRankByName adapters = random_adapters(*decoder);
  std::vector<std::unique_ptr<nn::SequenceModel>> models;
  models.push_back(make_cpu_model(*packed));
  models.push_back(std::make_unique<nn::StepModel>(decoder));
  models.push_back(std::make_unique<nn::DeviceModel>(decoder, nn::cpu_device_services()));
  for (const auto& model : models) {
    const auto bound = model->bind({.linears = adapters});
    ASSERT_TRUE(bound.ok());
    const Rows rows = beside_others(*model, *bound);
    EXPECT_GT(largest_difference({rows[0]}, {rows[1]}), 0.01);
    // LibTorch's products may round a row by where it stands among others; packed ones do not.
    EXPECT_LE(largest_difference({rows[2]}, {rows[3]}), model == models.front() ? 0 : 1e-5);
    // A prefix that was read with others is not shared.
    std::vector<float> logits(rows[0].size());
    ASSERT_TRUE(model->begin(2, 12).ok());
    ASSERT_TRUE(model->prefill(0, {.ids = {3, 7, 1, 9}}, logits).ok());
    const nn::SequenceInput shared = {.ids = {3, 7, 1, 9, 2},
                                      .shared = nn::SharedPrefix{.row = 0, .positions = 4},
                                      .adapters = *bound};
    EXPECT_THAT(model->prefill(1, shared, logits).error().message, HasSubstr("other adapters"));
  }
}

TEST_F(TinyAdaptersConformance, ThatDoNotFitAreRefusedByName) {
  const auto decoder = *load_gpt2_decoder(directory("tiny_gpt2_expected.json", 0));
  nn::LowRankByName adapters = random_adapters(*decoder);
  const auto refusal = [&](const nn::LowRankByName& given) {
    const auto bound = nn::bind_adapters({.linears = given}, *decoder);
    return bound.ok() ? "bound" : bound.error().to_string();
  };
  EXPECT_EQ(refusal(adapters), "bound");
  const nn::LowRank fine = adapters.at("h.0.attn.c_attn");
  EXPECT_THAT(refusal({{"h.0.attn.c_att", fine}}),
              AllOf(HasSubstr("h.0.attn.c_att'"), HasSubstr("did you mean 'h.0.attn.c_attn'?")));
  EXPECT_THAT(refusal({{"h.0.attn.c_proj", fine}}),
              AllOf(HasSubstr("[3, 32] and [96, 3]"), HasSubstr("32 inputs and 32 outputs")));
  EXPECT_THAT(refusal({{"h.0.attn.c_attn", {fine.down.narrow(0, 0, 2), fine.up, 1}}}),
              HasSubstr("[2, 32] and [96, 3]"));
  EXPECT_THAT(refusal({{"wte", fine}}), HasSubstr("no layer 'wte'"));
}

}  // namespace
}  // namespace qfs::architectures

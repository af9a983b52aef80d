// A tiny model with Infini-attention gives the logits of a float64 reference written from the
// papers' formulas: whole sequences, and prompts with steps over caches.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "methods/models/architectures/llama/llama_tensors.h"
#include "methods/models/nn/adapters.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/sequences.h"
#include "methods/models/nn/steps/segment_model.h"
#include "tests/support/tiny_checkpoint.h"

namespace qfs::architectures {
namespace {

using nlohmann::json;

constexpr double kInfiniTolerance = 1e-5;

at::Tensor made(const std::string& name, std::vector<int64_t> shape, float scale) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return at::tensor(qfs::test::tiny_values(name, count, scale, 0)).view(shape);
}

class TinyInfiniConformance : public ::testing::Test {
 protected:
  TinyInfiniConformance() {
    EXPECT_TRUE(nn::configure_torch({}).ok());
    expected_ = read("tiny_infini_expected.json");
    const json models = read("tiny_llama_expected.json").at("cases");
    const auto model = std::ranges::find_if(
        models, [&](const json& one) { return one.at("name") == expected_.at("model"); });
    auto directory =
        checkpoints::ModelDirectory::open(qfs::test::write_tiny_checkpoint(folder_, *model));
    const auto weights = load_llama_weights(*directory);
    EXPECT_TRUE(weights.ok());
    decoder_ = make_llama_decoder(*copy_to_device(**weights, at::kCPU, at::kFloat));
    const int64_t rank = expected_.at("rank");
    nn::LowRankByName adapters;
    for (const nn::AdapterTarget& target : nn::adapter_targets(*decoder_)) {
      for (const nn::FusedPart& layer : target.layers) {
        const std::string& name = layer.name;
        const bool read =
            name.ends_with("q_proj") || name.ends_with("k_proj") || name.ends_with("v_proj");
        if (!read) continue;
        adapters[layer.name] = {made(name + ".lora_A", {rank, target.inputs}, 0.5),
                                made(name + ".lora_B", {layer.outputs, rank}, 0.5)};
      }
    }
    adapters_ = *nn::bind_adapters({.linears = adapters}, *decoder_);
  }

  static json read(const std::string& file) {
    std::ifstream stream("tests/conformance/models/architectures/" + file);
    return json::parse(stream);
  }

  std::shared_ptr<const nn::InfiniMemory> memory_of(const json& one) const {
    nn::InfiniOptions options;
    options.segment = one.at("segment");
    options.rule = one.at("rule") == "linear" ? nn::MemoryRule::linear : nn::MemoryRule::delta;
    options.query_focused = one.contains("instruction");
    options.relevance = one.value("relevance", "head") == "model" ? nn::RelevanceScale::model
                                                                  : nn::RelevanceScale::head;
    const nn::DecoderShape& shape = decoder_->shape();
    std::vector<nn::InfiniScalars> layers;
    for (int64_t i = 0; i < shape.layers; ++i) {
      const std::string name = "layers." + std::to_string(i) + '.';
      nn::InfiniScalars scalars{made(name + "beta", {shape.heads}, 2), {}, {}};
      if (options.query_focused) scalars.weight = made(name + "w_g", {shape.head_dim}, 1);
      if (one.value("bias", false)) scalars.bias = made(name + "b_g", {1}, 1);
      layers.push_back(std::move(scalars));
    }
    auto memory = nn::bind_memory(options, std::move(layers), *decoder_);
    EXPECT_TRUE(memory.ok()) << memory.error().to_string();
    return *std::move(memory);
  }

  nn::SequenceInput input_of(const json& one) const {
    nn::SequenceInput input{.ids = expected_.at("ids").get<std::vector<int32_t>>(),
                            .adapters = adapters_,
                            .memory = memory_of(one)};
    if (one.contains("instruction")) {
      input.query = {one.at("instruction").at(0), one.at("instruction").at(1)};
    }
    return input;
  }

  qfs::test::TemporaryFolder folder_;
  json expected_;
  std::shared_ptr<const nn::Decoder> decoder_;
  std::shared_ptr<const nn::Adapters> adapters_;
};

at::Tensor tensor_of(const json& rows) {
  const auto values = rows.get<std::vector<std::vector<double>>>();
  std::vector<double> flat;
  for (const auto& row : values) flat.insert(flat.end(), row.begin(), row.end());
  return at::tensor(flat).view({static_cast<int64_t>(values.size()), -1}).to(at::kFloat);
}

double farthest(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

TEST_F(TinyInfiniConformance, whole_sequences_in_segments) {
  for (const json& one : expected_.at("cases")) {
    SCOPED_TRACE(one.at("name").get<std::string>());
    nn::SequenceInput input = input_of(one);
    input.stepped = one.at("stepped");
    const auto logits = nn::sequence_logits(*decoder_, input);
    ASSERT_TRUE(logits.ok()) << logits.error().to_string();
    EXPECT_LT(farthest(*logits, tensor_of(one.at("logits"))), kInfiniTolerance);
  }
}

TEST_F(TinyInfiniConformance, prompts_and_steps_over_caches) {
  for (const json& one : expected_.at("cases")) {
    SCOPED_TRACE(one.at("name").get<std::string>());
    nn::SequenceInput input = input_of(one);
    const auto stepped = one.at("stepped").get<size_t>();
    const std::vector<int32_t> steps(input.ids.end() - static_cast<std::ptrdiff_t>(stepped),
                                     input.ids.end());
    input.ids.resize(input.ids.size() - stepped);
    const at::Tensor expected = tensor_of(one.at("logits"));
    nn::SegmentModel model(decoder_, input.memory);
    ASSERT_TRUE(model.begin(2, expected.size(0)).ok());
    const auto row_of = [&](int64_t position) { return expected.select(0, position); };
    auto position = static_cast<int64_t>(input.ids.size());
    const at::Tensor logits = at::empty({expected.size(1)});
    const std::span<float> out(logits.mutable_data_ptr<float>(),
                               static_cast<size_t>(logits.numel()));
    ASSERT_TRUE(model.prefill(1, input, out).ok());
    EXPECT_LT(farthest(logits, row_of(position - 1)), kInfiniTolerance);
    for (const int32_t token : steps) {
      const int64_t row = 1;
      ASSERT_TRUE(model.decode({&row, 1}, {&token, 1}, out).ok());
      EXPECT_LT(farthest(logits, row_of(position++)), kInfiniTolerance);
    }
  }
}

}  // namespace
}  // namespace qfs::architectures

// Adapters of whole layers and generated ones equal a float64 reference in Python on a tiny LLaMA
// (make_ideal_expected.py): files in the release's layout are read, and logits are the same by
// whole sequences, prompts and steps, packed or not, with generated adapters of a row; gradients
// are its finite differences under every memory policy.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "methods/models/architectures/llama/cpu_llama.h"
#include "methods/models/architectures/llama/llama_tensors.h"
#include "methods/models/nn/device/device_model.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/sequences.h"
#include "methods/models/nn/steps/segment_model.h"
#include "methods/models/nn/steps/step_model.h"
#include "methods/models/nn/token_loss.h"
#include "methods/models/peft/hyper_network.h"
#include "methods/models/peft/layer_adapter_files.h"
#include "methods/models/peft/trained_biases.h"
#include "methods/models/training/optimizer.h"
#include "methods/models/training/sequence_task.h"
#include "tests/support/ideal_case.h"
#include "tests/support/tiny_checkpoint.h"

namespace qfs::peft {
namespace {

using nlohmann::json;
using ::qfs::test::adapter_writer;
using ::testing::HasSubstr;

const json& expected() {
  static const json kExpected = [] {
    std::ifstream file("tests/conformance/models/peft/ideal_expected.json");
    return json::parse(file);
  }();
  return kExpected;
}

nn::TokenSpan span_of(const json& pair) { return {pair.at(0), pair.at(1)}; }

class IdealConformance : public ::testing::TestWithParam<std::string> {
 protected:
  IdealConformance() {
    EXPECT_TRUE(nn::configure_torch({}).ok());
    const auto directory = checkpoints::ModelDirectory::open(
        qfs::test::write_tiny_checkpoint(folder_, expected().at("backbone")));
    packed_ = *architectures::load_llama_weights(*directory);
    own_ = decoder_ = architectures::make_llama_decoder(
        *architectures::copy_to_device(*packed_, at::kCPU, at::kFloat));
    input_ = {.ids = expected().at("ids"),
              .query = span_of(expected().at("query")),
              .document = span_of(expected().at("document"))};
  }

  const nn::LayerWidths& widths() const { return decoder_->shape().sequence.widths; }

  static const json& the_case(const std::string& name) {
    for (const json& one : expected().at("cases")) {
      if (one.at("name") == name) return one;
    }
    throw std::out_of_range(name);
  }

  static LayerAdapterConfig rest_of(const json& test_case) {
    LayerAdapterConfig rest;
    rest.gate_tanh = test_case.at("gate_tanh");
    rest.hyper.detach = test_case.at("detach");
    return rest;
  }

  Result<LayerAdapter> read(const std::string& bytes, const LayerAdapterConfig& rest) {
    return read_layer_adapter(folder_.write("adapter.safetensors", bytes), widths(), rest);
  }
  LayerAdapter adapter(const json& test_case) {
    auto read = this->read(adapter_writer(test_case).bytes(), rest_of(test_case));
    EXPECT_TRUE(read.ok()) << read.error().to_string();
    put_biases(*read);
    return *std::move(read);
  }
  /// The decoder over those of the adapter, if it has some.
  void put_biases(const LayerAdapter& adapter) {
    decoder_ = adapter.biases.empty() ? own_ : with_biases(*own_, adapter.biases);
  }

  AdaptedModel of_decoder() const {
    return {.bind = [this](const nn::AdapterSet& set) { return bind_adapters(set, *decoder_); },
            .stream =
                [this](size_t layer, const nn::SequenceInput& input) {
                  return nn::stream_before(*decoder_, input, layer);
                }};
  }
  static AdaptedModel of(nn::SequenceModel& model) {
    return {.bind = [&](const nn::AdapterSet& set) { return model.bind(set); },
            .stream =
                [&](size_t layer, const nn::SequenceInput& input) {
                  return model.stream_before(layer, input);
                }};
  }

  nn::SequenceInput with_adapters(const LayerAdapter& adapter, const AdaptedModel& model) const {
    nn::SequenceInput input = input_;
    nn::SequenceInput prefix;
    if (adapter.config.hyper.layers > 0) {
      const auto read = pooled_prefix(input_, adapter.config.hyper.pooling);
      EXPECT_TRUE(read.ok()) << read.error().to_string();
      prefix = *read;
    }
    const auto bound = row_adapters(adapter, prefix, model);
    EXPECT_TRUE(bound.ok()) << bound.error().to_string();
    input.adapters = *bound;
    return input;
  }

  /// By a prompt up to the second of the case's positions and steps behind it.
  void expect_steps(nn::SequenceModel& model, const LayerAdapter& adapter, const json& test_case) {
    const nn::SequenceInput whole = with_adapters(adapter, of(model));
    const std::vector<int64_t> positions = expected().at("positions");
    std::vector<float> logits(static_cast<size_t>(model.shape().vocabulary));
    const auto expect_logits = [&](size_t index) {
      const std::vector<float> wanted = test_case.at("logits").at(index);
      for (size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(logits[i], wanted[i], 3e-5) << i;
    };
    nn::SequenceInput prompt = whole;
    prompt.ids.resize(static_cast<size_t>(positions[1]) + 1);
    ASSERT_TRUE(model.begin(2, 32).ok());
    const Status read = model.prefill(1, prompt, logits);
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    expect_logits(1);
    // The rest of a prompt whose beginning another row has read.
    nn::SequenceInput shared = prompt;
    shared.shared = nn::SharedPrefix{.row = 1, .positions = 4};
    ASSERT_TRUE(model.prefill(0, shared, logits).ok());
    expect_logits(1);
    const int64_t row = 0;
    for (auto at = static_cast<size_t>(positions[1]) + 1; at < whole.ids.size(); ++at) {
      ASSERT_TRUE(model.decode({&row, 1}, {&whole.ids[at], 1}, logits).ok());
    }
    expect_logits(2);
  }

  void expect_gradients(const training::TrainedTensors& trained, const json& test_case) const {
    qfs::test::expect_gradients(trained, test_case.at("gradients"), test_case.at("size"),
                                widths().head_dim);
  }

  qfs::test::TemporaryFolder folder_;
  std::shared_ptr<const architectures::LlamaWeights> packed_;
  std::shared_ptr<const nn::Decoder> own_;  ///< the backbone's
  std::shared_ptr<const nn::Decoder> decoder_;
  nn::SequenceInput input_;
};

TEST_P(IdealConformance, FilesOfTheReleaseSayWhatTheyAre) {
  const json& wanted = the_case(GetParam());
  const LayerAdapterConfig config = adapter(wanted).config;
  EXPECT_EQ(config.size, wanted.at("size"));
  EXPECT_EQ(config.first_layer, wanted.at("first_layer"));
  EXPECT_EQ(config.hyper.layers, wanted.at("generated"));
  EXPECT_EQ(config.bare_layers, 0);
  if (config.hyper.layers == 0) return;
  EXPECT_EQ(config.hyper.bottleneck, 6);
  EXPECT_EQ(config.hyper.pooling == Pooling::both, wanted.at("pooling") == "both");
  const std::map<std::string, HyperEncoder> encoders = {{"own", HyperEncoder::own},
                                                        {"common", HyperEncoder::common},
                                                        {"serial", HyperEncoder::serial}};
  EXPECT_EQ(config.hyper.encoder, encoders.at(wanted.at("encoder")));
}

TEST_P(IdealConformance, LogitsOfWholeSequences) {
  const json& wanted = the_case(GetParam());
  const LayerAdapter adapter = this->adapter(wanted);
  nn::SequenceInput input = with_adapters(adapter, of_decoder());
  const auto logits = nn::sequence_logits(*decoder_, input);
  ASSERT_TRUE(logits.ok()) << logits.error().to_string();
  const std::vector<int64_t> positions = expected().at("positions");
  for (size_t i = 0; i < positions.size(); ++i) {
    const std::vector<float> values = wanted.at("logits").at(i);
    const at::Tensor row = logits->select(0, positions[i]);
    EXPECT_TRUE(at::allclose(row, at::tensor(values), 1e-4, 3e-5)) << positions[i];
  }
  // Beside a row of other adapters and one of none each has its own.
  LayerAdapter other = adapter;
  for (auto& [name, tensor] : other.tensors) tensor = tensor * 0.5;
  const std::vector<nn::SequenceInput> rows = {with_adapters(other, of_decoder()), input, input_,
                                               input};
  const auto states = nn::sequence_states(*decoder_, rows);
  ASSERT_TRUE(states.ok()) << states.error().to_string();
  const auto alone = nn::sequence_states(*decoder_, {&input, 1});
  const int64_t count = alone->size(0);
  EXPECT_TRUE(at::allclose(states->narrow(0, count, count), *alone, 1e-4, 1e-5));
  EXPECT_TRUE(at::allclose(states->narrow(0, 3 * count, count), *alone, 1e-4, 1e-5));
  EXPECT_FALSE(at::allclose(states->narrow(0, 0, count), *alone, 1e-2, 1e-2));
  EXPECT_FALSE(at::allclose(states->narrow(0, 2 * count, count), *alone, 1e-2, 1e-2));
}

TEST_P(IdealConformance, LogitsOfPromptsAndSteps) {
  const json& wanted = the_case(GetParam());
  const LayerAdapter adapter = this->adapter(wanted);
  nn::StepModel steps(decoder_);
  expect_steps(steps, adapter, wanted);
  nn::DeviceModel device(decoder_, nn::cpu_device_services());
  expect_steps(device, adapter, wanted);
  if (adapter.biases.empty()) {
    expect_steps(*architectures::make_cpu_model(packed_), adapter, wanted);
  }
}

TEST_P(IdealConformance, GradientsUnderEveryMemoryPolicy) {
  const json& wanted = the_case(GetParam());
  for (const nn::Recompute recompute : {nn::Recompute::nothing, nn::Recompute::layers}) {
    LayerAdapter adapter = this->adapter(wanted);
    training::NamedTensors all = adapter.tensors;
    all.insert(adapter.biases.begin(), adapter.biases.end());
    const training::TrainedTensors trained(all);
    for (auto* part : {&adapter.tensors, &adapter.biases}) {
      for (auto& [name, tensor] : *part) tensor = trained.tensors().at(name);
    }
    const c10::AutoGradMode with_gradients(true);
    put_biases(adapter);
    const nn::SequenceInput input = with_adapters(adapter, of_decoder());
    const auto states = nn::sequence_states(*decoder_, {&input, 1}, recompute);
    ASSERT_TRUE(states.ok()) << states.error().to_string();
    std::vector<int64_t> labels = expected().at("labels");
    for (int64_t& label : labels) label = label < 0 ? nn::kNoLabel : label;
    const auto loss = nn::summed_token_loss(decoder_->head(), *states, labels);
    ASSERT_TRUE(loss.ok());
    EXPECT_NEAR(loss->item<double>(), wanted.at("loss"), 1e-4);
    loss->backward();
    expect_gradients(trained, wanted);
  }
}

TEST_P(IdealConformance, AFileWrittenHereIsReadAgain) {
  const json& wanted = the_case(GetParam());
  const LayerAdapter first = adapter(wanted);
  const std::string bytes = layer_adapter_bytes(first, {{"qfs.method", "ideal"}}, at::kFloat);
  const auto again = read(bytes, rest_of(wanted));
  ASSERT_TRUE(again.ok()) << again.error().to_string();
  for (const auto& [name, tensor] : first.tensors) {
    EXPECT_TRUE(at::equal(again->tensors.at(name), tensor)) << name;
  }
  for (const auto& [name, tensor] : first.biases) {
    EXPECT_TRUE(at::equal(again->biases.at(name), tensor)) << name;
  }
  EXPECT_EQ(again->metadata.at("qfs.method"), "ideal");
  EXPECT_EQ(again->metadata.at("qfs.rotary_layout"), "hf");
}

INSTANTIATE_TEST_SUITE_P(, IdealConformance,
                         ::testing::Values("parallel_adapter", "prompt_tuning", "ideal_lora",
                                           "ideal_parallel_adapter", "ideal_prompt_as_released",
                                           "ideal_lora_common", "ideal_lora_serial",
                                           "ideal_lora_not_detached", "ideal_prompt_both",
                                           "ideal_lora_biases", "prompt_tuning_biases"),
                         [](const auto& info) { return info.param; });

/// Generated adapters with a query-focused memory.
class IdealMemoryConformance : public IdealConformance {
 protected:
  const json& wanted() const { return the_case(GetParam()); }

  std::shared_ptr<const nn::InfiniMemory> memory_of(const InfiniTensors& tensors) const {
    const json& form = wanted().at("memory");
    nn::InfiniOptions options{.segment = form.at("segment"), .query_focused = true};
    options.rule = form.at("rule") == "linear" ? nn::MemoryRule::linear : nn::MemoryRule::delta;
    options.relevance =
        form.at("relevance") == "model" ? nn::RelevanceScale::model : nn::RelevanceScale::head;
    auto scalars = memory_scalars(tensors, decoder_->shape(), true, "the case's file");
    EXPECT_TRUE(scalars.ok()) << scalars.error().to_string();
    auto memory = nn::bind_memory(options, *std::move(scalars), *decoder_);
    EXPECT_TRUE(memory.ok()) << memory.error().to_string();
    return *std::move(memory);
  }

  static void expect_row(const at::Tensor& row, const json& values) {
    const at::Tensor numbers = at::tensor(values.get<std::vector<float>>());
    EXPECT_TRUE(at::allclose(row, numbers, 1e-5, 1e-5)) << (row - numbers).abs().max();
  }
};

TEST_P(IdealMemoryConformance, Logits) {
  const LayerAdapter adapter = this->adapter(wanted());
  nn::SequenceInput input = with_adapters(adapter, of_decoder());
  input.memory = memory_of(adapter.memory);
  const auto logits = nn::sequence_logits(*decoder_, input);
  ASSERT_TRUE(logits.ok()) << logits.error().to_string();
  const std::vector<int64_t> positions = expected().at("positions");
  for (size_t i = 0; i < positions.size(); ++i) {
    expect_row(logits->select(0, positions[i]), wanted().at("logits").at(i));
  }
  nn::SegmentModel model(decoder_, input.memory);
  ASSERT_TRUE(model.begin(1, 32).ok());
  const at::Tensor last = at::empty({model.shape().vocabulary});
  const std::span<float> out(last.mutable_data_ptr<float>(), static_cast<size_t>(last.numel()));
  const Status read = model.prefill(0, input, out);
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  expect_row(last, wanted().at("logits").back());
}

TEST_P(IdealMemoryConformance, LossAndGradientsUnderEveryMemoryPolicy) {
  std::vector<int64_t> labels = expected().at("labels");
  for (int64_t& label : labels) label = label < 0 ? nn::kNoLabel : label;
  for (const nn::Recompute recompute : {nn::Recompute::nothing, nn::Recompute::layers}) {
    LayerAdapter adapter = this->adapter(wanted());
    training::NamedTensors all = adapter.tensors;
    all.insert(adapter.memory.begin(), adapter.memory.end());
    const training::TrainedTensors trained(all);
    for (auto* part : {&adapter.tensors, &adapter.memory}) {
      for (auto& [name, tensor] : *part) tensor = trained.tensors().at(name);
    }
    const training::TrainingTask task = training::sequence_task(
        {.decoder = decoder_,
         .train = {{input_, labels}},
         .adapters = [&](std::span<const training::GraphRow>) -> Result<training::RowAdapters> {
           return training::RowAdapters{with_adapters(adapter, of_decoder()).adapters};
         },
         .recompute = recompute,
         .memory = [&] { return Result(memory_of(adapter.memory)); },
         .segment_means = wanted().at("memory").at("segment_means")});
    const int64_t item = 0;
    const auto sum = task.backward({&item, 1}, 1, 0);
    ASSERT_TRUE(sum.ok()) << sum.error().to_string();
    EXPECT_NEAR(sum->loss, wanted().at("loss"), 1e-4);
    expect_gradients(trained, wanted());
  }
}

INSTANTIATE_TEST_SUITE_P(, IdealMemoryConformance,
                         ::testing::Values("ideal_lora_memory_as_written",
                                           "ideal_lora_memory_as_released"),
                         [](const auto& info) { return info.param; });

/// Cases of their own.
class IdealOneConformance : public IdealConformance {};

TEST_F(IdealOneConformance, AFilledSegmentSeesItselfAlone) {
  const json& wanted = the_case("ideal_lora_memory_filled");
  LayerAdapter adapter = this->adapter(wanted);
  const training::TrainedTensors trained(adapter.tensors);
  adapter.tensors = trained.tensors();
  std::vector<int64_t> labels = expected().at("labels");
  for (int64_t& label : labels) label = label < 0 ? nn::kNoLabel : label;
  nn::InfiniOptions options{.segment = 6, .query_focused = true};
  auto scalars = memory_scalars(adapter.memory, decoder_->shape(), true, "the case's file");
  const auto memory = *nn::bind_memory(options, *std::move(scalars), *decoder_);
  nn::SequenceInput filled = input_;
  filled.ids.resize(18, 0);
  labels.resize(18, nn::kNoLabel);
  const training::TrainingTask task = training::sequence_task(
      {.decoder = decoder_,
       .train = {{filled, labels}},
       .adapters = [&](std::span<const training::GraphRow>) -> Result<training::RowAdapters> {
         return training::RowAdapters{with_adapters(adapter, of_decoder()).adapters};
       },
       .memory = [&] { return Result(std::shared_ptr<const nn::InfiniMemory>(memory)); },
       .segment_means = true});
  const int64_t item = 0;
  const auto sum = task.backward({&item, 1}, 1, 0);
  ASSERT_TRUE(sum.ok()) << sum.error().to_string();
  EXPECT_NEAR(sum->loss, wanted.at("loss"), 1e-4);
  json of_adapters = wanted;
  std::erase_if(of_adapters.at("gradients").get_ref<json::array_t&>(), [](const json& row) {
    return is_memory_tensor(row.at("name").get<std::string>());
  });
  expect_gradients(trained, of_adapters);
}

TEST_F(IdealOneConformance, TrainedBiasesBeginWithTheBackbones) {
  const NamedTensors first = first_biases(*own_);
  for (const auto& [name, shape] : bias_shapes(widths())) {
    ASSERT_TRUE(is_bias_tensor(name));
    EXPECT_EQ(first.at(name).sizes(), at::IntArrayRef(shape)) << name;
  }
  EXPECT_TRUE(at::equal(*nn::sequence_logits(*with_biases(*own_, first), input_),
                        *nn::sequence_logits(*own_, input_)));
  json less = the_case("ideal_lora_biases");
  std::erase_if(less.at("tensors").get_ref<json::array_t&>(),
                [](const json& tensor) { return tensor.at("name") == "llama.norm.weight"; });
  const auto refused = read(adapter_writer(less).bytes(), {});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().to_string(), HasSubstr("there is no tensor 'llama.norm.weight'"));
}

class IdealFiles : public IdealConformance {};

TEST_F(IdealFiles, OtherNamesOfTheReleaseAreUnderstood) {
  const json& lora = the_case("ideal_lora");
  auto writer = adapter_writer(lora);
  writer.tensor("llama.layers.3.attention.lora_wq_l1.not_use.weight", {1, 1}, {0});
  writer.tensor("llama.layers.3.attention.lora_wq_l1.not_use.bias", {1}, {0});
  EXPECT_TRUE(read(writer.bytes(), {}).ok());
  json renamed = lora;
  for (json& tensor : renamed.at("tensors")) {
    std::string name = tensor.at("name");
    if (const size_t at = name.find(".loralinear"); at != std::string::npos) name.erase(at, 11);
    tensor.at("name") = name;
  }
  const auto baseline = read(adapter_writer(renamed).bytes(), {});
  ASSERT_TRUE(baseline.ok()) << baseline.error().to_string();
  EXPECT_TRUE(baseline->tensors.contains("llama.layers.0.attention.lora_wq_l1.loralinear.weight"));
}

TEST_F(IdealFiles, WhatDoesNotFitIsRefusedByName) {
  const json& lora = the_case("ideal_lora");
  const auto refusal = [&](json changed) {
    const auto given = read(adapter_writer(changed).bytes(), {});
    return given.ok() ? "read" : given.error().to_string();
  };
  EXPECT_EQ(refusal(lora), "read");
  json changed = lora;
  for (json& tensor : changed.at("tensors")) {
    if (tensor.at("name") == "llama.layers.1.attention.lora_wv_l2.weight") {
      tensor.at("name") = "llama.layers.1.attention.lora_wv_l3.weight";
    }
  }
  EXPECT_THAT(refusal(changed),
              HasSubstr("no tensor 'llama.layers.1.attention.lora_wv_l2.weight'"));
  changed = lora;
  const auto with = [&](const char* name, int64_t heads) {
    json more = lora;
    more.at("tensors").push_back(
        {{"name", name}, {"shape", {1, heads, 1, 1}}, {"scale", 1.0}, {"offset", 0.0}});
    return more;
  };
  EXPECT_THAT(refusal(with("llama.layers.0.attention.gates", 4)),
              HasSubstr("'llama.layers.0.attention.gates' is none of"));
  // That of a memory belongs to whoever asks for one.
  EXPECT_EQ(refusal(with("llama.layers.0.attention.gate", 4)), "read");
  EXPECT_THAT(refusal(with("llama.layers.0.attention.gate", 0)), HasSubstr("has no values"));
  changed = lora;
  for (json& tensor : changed.at("tensors")) {
    if (tensor.at("name") == "lora_hyper_net.norm.weight") tensor.at("shape") = {24};
  }
  EXPECT_THAT(refusal(changed), HasSubstr("'lora_hyper_net.norm.weight' is [24]; expected [32]"));
  changed.at("tensors") = json::array();
  changed.at("tensors").push_back(lora.at("tensors").at(0));
  changed.at("tensors").at(0).at("name") = "model.weight";
  EXPECT_THAT(refusal(changed), HasSubstr("no tensors of a low-rank, parallel or prompt adapter"));
}

}  // namespace
}  // namespace qfs::peft

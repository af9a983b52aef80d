// LoRA equals peft 0.21.2 on tiny random models: logits of its directories and of ours, gradients,
// losses of 20 steps of AdamW; values by make_peft_expected.py. With QFS_PEFT_OUT set, directories
// are written there for `make_peft_expected.py --check`.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "methods/models/architectures/bart/bart.h"
#include "methods/models/architectures/gpt2/gpt2.h"
#include "methods/models/architectures/llama/llama_tensors.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/sequences.h"
#include "methods/models/peft/lora.h"
#include "methods/models/training/sequence_task.h"
#include "methods/models/training/trainer.h"
#include "tests/support/tiny_checkpoint.h"

namespace qfs::peft {
namespace {

using nlohmann::json;
using training::LabelledSequence;

constexpr const char* kFolder = "tests/conformance/models/";

json read(const std::string& name) {
  std::ifstream file(kFolder + name);
  return json::parse(file);
}

struct Losses final : TrainingProgress {
  Status point(const TrainingPoint& point) override {
    values.push_back(point.values.at("loss"));
    return {};
  }
  std::vector<double> values;
};

class PeftConformance : public ::testing::TestWithParam<std::string> {
 protected:
  PeftConformance() : expected_(read("peft/peft_expected.json")) {
    EXPECT_TRUE(nn::configure_torch({}).ok());
    for (const json& test_case : expected_.at("cases")) {
      if (test_case.at("name") == GetParam()) case_ = test_case;
    }
    const json model =
        read("architectures/" + case_.at("described").get<std::string>()).at("cases").at(0);
    const auto directory =
        checkpoints::ModelDirectory::open(qfs::test::write_tiny_checkpoint(folder_, model));
    if (GetParam() == "llama") {
      const auto weights = architectures::load_llama_weights(*directory);
      decoder_ = architectures::make_llama_decoder(
          *architectures::copy_to_device(**weights, at::kCPU, at::kFloat));
    } else if (GetParam() == "gpt2") {
      decoder_ = *architectures::load_gpt2_decoder(*directory);
    } else {
      decoder_ = architectures::make_bart_decoder(*architectures::load_bart_weights(*directory));
    }
  }

  std::vector<LabelledSequence> sequences() const {
    const char* kind = GetParam() == "bart" ? "seq2seq" : "llama";
    std::vector<LabelledSequence> made;
    for (const json& text : expected_.at("texts")) {
      const json& of = text.at("kinds").at(kind);
      LabelledSequence sequence{{.ids = of.at("input_ids")}, of.at("labels")};
      if (of.contains("decoder_input_ids"))
        sequence.input.decoder_ids = of.at("decoder_input_ids").get<std::vector<int32_t>>();
      made.push_back(std::move(sequence));
    }
    return made;
  }

  LoraAdapter adapter() const {
    auto adapter = read_lora(std::string(kFolder) + "peft/adapters/" + GetParam());
    EXPECT_TRUE(adapter.ok()) << adapter.error().to_string();
    return *std::move(adapter);
  }

  void expect_logits(const LoraAdapter& adapter) const {
    nn::SequenceInput input = sequences().front().input;
    input.adapters = *nn::bind_adapters({.linears = adapter.layers}, *decoder_);
    const auto logits = nn::sequence_logits(*decoder_, input);
    ASSERT_TRUE(logits.ok()) << logits.error().to_string();
    const json& rows = case_.at("logits");
    ASSERT_EQ(static_cast<int64_t>(rows.size()), logits->size(0));
    for (int64_t i = 0; i < logits->size(0); ++i) {
      for (int64_t j = 0; j < logits->size(1); ++j) {
        const double value = rows.at(static_cast<size_t>(i)).at(static_cast<size_t>(j));
        ASSERT_NEAR((*logits)[i][j].item<double>(), value, 1e-5) << i << ", " << j;
      }
    }
  }

  /// A task over `trained`, whose leaves stand for the adapter's matrices.
  training::TrainingTask task(LoraAdapter& adapter, training::TrainedTensors& trained,
                              nn::Recompute recompute) const {
    replace_matrices(trained.tensors(), adapter);
    return training::sequence_task(
        {.decoder = decoder_,
         .train = sequences(),
         .adapters = [this, &adapter](std::span<const training::GraphRow> rows)
             -> Result<training::RowAdapters> {
           return training::RowAdapters(rows.size(),
                                        *nn::bind_adapters({.linears = adapter.layers}, *decoder_));
         },
         .recompute = recompute});
  }

  json expected_;
  json case_;
  qfs::test::TemporaryFolder folder_;
  std::shared_ptr<const nn::Decoder> decoder_;
};

TEST_P(PeftConformance, LogitsOfAPeftDirectory) {
  const LoraAdapter adapter = this->adapter();
  EXPECT_DOUBLE_EQ(adapter.config.scale(), case_.at("scale"));
  expect_logits(adapter);
}

TEST_P(PeftConformance, LogitsOfADirectoryWrittenHere) {
  LoraAdapter adapter = this->adapter();
  nn::LowRankByName own;
  for (const auto& [name, added] : adapter.layers) {
    own[name.substr(decoder_->name_prefix().size())] = added;
  }
  adapter.layers = std::move(own);
  const LoraFiles files = lora_files(adapter, *decoder_, at::kFloat);
  folder_.write("written/adapter_model.safetensors", files.tensors);
  folder_.write("written/adapter_config.json", files.config);
  const auto again = read_lora(folder_ / "written");
  ASSERT_TRUE(again.ok()) << again.error().to_string();
  expect_logits(*again);
  if (const char* out = std::getenv("QFS_PEFT_OUT")) {
    std::filesystem::copy(folder_ / "written", std::string(out) + "/" + GetParam(),
                          std::filesystem::copy_options::recursive);
  }
}

TEST_P(PeftConformance, GradientsUnderEveryMemoryPolicy) {
  for (const nn::Recompute recompute : {nn::Recompute::nothing, nn::Recompute::layers}) {
    LoraAdapter adapter = this->adapter();
    training::TrainedTensors trained(matrices_of(adapter));
    const training::TrainingTask learned = task(adapter, trained, recompute);
    const std::vector<int64_t> items = {0, 1};
    const auto labels = static_cast<double>(learned.items[0].labels + learned.items[1].labels);
    const auto loss = learned.backward(items, 1 / labels, 0);
    ASSERT_TRUE(loss.ok()) << loss.error().to_string();
    EXPECT_NEAR(loss->loss / labels, case_.at("losses").at(0), 1e-4);
    ASSERT_EQ(case_.at("gradients").size(), 2 * adapter.layers.size());
    for (const json& row : case_.at("gradients")) {
      const std::string name = row.at("name");
      SCOPED_TRACE(name);
      const at::Tensor gradient = trained.tensors()
                                      .at(name.substr(std::string("base_model.model.").size()))
                                      .grad()
                                      .flatten();
      std::vector<float> values =
          qfs::test::tiny_values(name + "#gradient", gradient.numel(), 1, 0);
      const double norm = row.at("norm");
      const double slack = 1e-4 * norm + 1e-7;
      EXPECT_NEAR(gradient.norm().item<double>(), norm, slack);
      EXPECT_NEAR(gradient.dot(at::from_blob(values.data(), {gradient.numel()})).item<double>(),
                  row.at("product"), slack);
    }
  }
}

TEST_P(PeftConformance, LossesOfTwentySteps) {
  for (const nn::Recompute recompute : {nn::Recompute::nothing, nn::Recompute::layers}) {
    LoraAdapter adapter = this->adapter();
    training::TrainedTensors trained(matrices_of(adapter));
    training::Recipe recipe;
    recipe.steps = 20;
    recipe.batch_size = 2;
    recipe.order = training::DataOrder::file;
    recipe.micro_tokens = recompute == nn::Recompute::nothing ? 1 : 1000;  // apart, and together
    recipe.learning_rate = 0.01;
    recipe.schedule = training::Schedule::constant;
    recipe.weight_decay = 0.01;
    recipe.clip_norm = 1;
    Losses losses;
    const qfs::test::TemporaryFolder checkpoints;
    const auto model = training::train(recipe, task(adapter, trained, recompute),
                                       {checkpoints.path(), "", {}}, trained, losses);
    ASSERT_TRUE(model.ok()) << model.error().to_string();
    ASSERT_EQ(losses.values.size(), 20U);
    for (size_t i = 0; i < losses.values.size(); ++i) {
      const double value = case_.at("losses").at(i);
      EXPECT_NEAR(losses.values[i], value, 1e-4 * value) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, PeftConformance, ::testing::Values("llama", "gpt2", "bart"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace qfs::peft

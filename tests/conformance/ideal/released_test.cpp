// With the preset as_released segments are read as a float64 reference in Python reads them
// (make_released_expected.py): prompts of a batch as far as the shortest and on token by token,
// and in training with dropout of its own in the hypernetwork for each segment.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "methods/ideal/session_train.h"
#include "methods/ideal/sessions.h"
#include "methods/ideal/specs.h"
#include "methods/models/architectures/llama/llama_tensors.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/sequences.h"
#include "methods/models/nn/steps/segment_model.h"
#include "methods/models/nn/token_loss.h"
#include "methods/models/prompted/trained_spec.h"
#include "tests/support/ideal_case.h"
#include "tests/support/trained_session.h"

namespace qfs::ideal {
namespace {

using nlohmann::json;

constexpr int64_t kSegment = 6;
constexpr double kTolerance = 1e-5;

json read(const std::string& path) {
  std::ifstream file("tests/conformance/" + path);
  return json::parse(file);
}

double farthest(const at::Tensor& logits, const json& wanted) {
  const at::Tensor numbers = at::tensor(wanted.get<std::vector<double>>());
  return (logits - numbers).abs().max().item<double>();
}

class IdealReleaseConformance : public test::TrainedSessionTest {
 protected:
  IdealReleaseConformance()
      : TrainedSessionTest(IdealSpec(), session_factories().back()),
        expected_(read("ideal/released_expected.json")),
        ideal_(read("models/peft/ideal_expected.json")) {
    EXPECT_TRUE(nn::configure_torch({}).ok());
    const auto directory = checkpoints::ModelDirectory::open(
        test::write_tiny_checkpoint(folder_, ideal_.at("backbone")));
    const auto weights = architectures::load_llama_weights(*directory);
    decoder_ = architectures::make_llama_decoder(
        *architectures::copy_to_device(**weights, at::kCPU, at::kFloat));
    adapter_case_ = *std::ranges::find_if(ideal_.at("cases"), [&](const json& one) {
      return one.at("name") == expected_.at("adapter");
    });
    adapter_ = adapter();
    sequence_ = {
        {.ids = ideal_.at("ids"), .query = {ideal_.at("query").at(0), ideal_.at("query").at(1)}},
        ideal_.at("labels")};
    std::ranges::replace(sequence_.labels, -1, nn::kNoLabel);
  }

  /// What a training with the preset begins with, of the case's file.
  std::unique_ptr<prompted::TrainedAdapter> adapter() {
    use_llama({}, "{query} {document}");  // whose prompts are not read
    request_.seed = expected_.at("drawn").at("seed");
    request_.params.set("preset", std::string("as_released"));
    request_.params.set("memory", std::string("qf_infini"));
    request_.params.set("train_segment", kSegment);
    request_.params.set("rank", adapter_case_.at("size").get<int64_t>());
    request_.params.set("hyper_bottleneck", int64_t{6});
    request_.params.set("hyper_precision", std::string("fp32"));  // half precision is dead
    request_.artifacts[prompted::kAdapter] = {
        "", folder_.write("a.safetensors", test::adapter_writer(adapter_case_).bytes()), ""};
    ResourceCache cache;
    const auto prompts = prompted::open_prompts(request_, cache);
    auto made = make_layers({request_, *prompts, decoder_}, "ideal");
    EXPECT_TRUE(made.ok()) << made.error().to_string();
    return *std::move(made);
  }

  /// The row's sequence with its memory, and adapters of its draw.
  nn::SequenceInput row_input(const training::GraphRow& row) {
    nn::SequenceInput input = row.sequence.input;
    input.memory = *adapter_->memory();
    input.adapters = adapter_->adapters({&row, 1})->front();
    const auto tokens = static_cast<int64_t>(input.ids.size());
    const size_t segments = nn::segment_lengths(tokens, kSegment).size();
    input.later_adapters = *adapter_->later_adapters(row, static_cast<int64_t>(segments) - 1);
    return input;
  }

  json expected_;
  json ideal_;
  json adapter_case_;
  std::shared_ptr<const nn::Decoder> decoder_;
  std::unique_ptr<prompted::TrainedAdapter> adapter_;
  training::LabelledSequence sequence_;
};

TEST_F(IdealReleaseConformance, BehindTheShortestPromptTokensAreReadOneByOne) {
  nn::SequenceInput input = row_input({sequence_});
  const auto tokens = static_cast<int64_t>(input.ids.size());
  const int64_t written = 2;  // the rest is the prompt
  for (const json& reading : expected_.at("readings")) {
    const int64_t shortest = reading.at("shortest");
    SCOPED_TRACE(shortest);
    const int64_t whole = std::max(shortest, input.query.end());
    input.stepped = tokens - whole;
    const auto logits = nn::sequence_logits(*decoder_, input);
    ASSERT_TRUE(logits.ok()) << logits.error().to_string();
    for (int64_t i = 0; i < tokens; ++i) {
      EXPECT_LT(farthest(logits->select(0, i), reading.at("logits").at(static_cast<size_t>(i))),
                kTolerance)
          << i;
    }
    // The prompt, and one that is as far as segments go and is continued with
    // the same tokens.
    nn::SegmentModel model(decoder_, input.memory);
    ASSERT_TRUE(model.begin(2, tokens).ok());
    const at::Tensor last = at::empty({model.shape().vocabulary});
    const std::span<float> out(last.mutable_data_ptr<float>(), static_cast<size_t>(last.numel()));
    for (int64_t row = 0; row < 2; ++row) {
      nn::SequenceInput prompt = input;
      prompt.ids.resize(static_cast<size_t>(row == 0 ? tokens - written : whole));
      prompt.stepped = static_cast<int64_t>(prompt.ids.size()) - whole;
      const Status read = model.prefill(row, prompt, out);
      ASSERT_TRUE(read.ok()) << read.error().to_string();
      for (size_t i = prompt.ids.size();; ++i) {
        EXPECT_LT(farthest(last, reading.at("logits").at(i - 1)), kTolerance) << row << ' ' << i;
        if (i == input.ids.size()) break;
        ASSERT_TRUE(model.decode({&row, 1}, {&input.ids[i], 1}, out).ok());
      }
    }
  }
}

TEST_F(IdealReleaseConformance, DropoutOfTheHypernetworkDiffersBySegment) {
  const json& drawn = expected_.at("drawn");
  const int64_t step = drawn.at("step");
  // Filled up to whole segments.
  sequence_.input.ids.resize(3 * kSegment, 0);
  sequence_.labels.resize(3 * kSegment, nn::kNoLabel);
  const auto logits =
      nn::sequence_logits(*decoder_, row_input({sequence_, static_cast<uint64_t>(step), step}));
  ASSERT_TRUE(logits.ok()) << logits.error().to_string();
  const std::vector<int64_t> positions = ideal_.at("positions");
  for (size_t i = 0; i < positions.size(); ++i) {
    EXPECT_LT(farthest(logits->select(0, positions[i]), drawn.at("logits").at(i)), kTolerance)
        << positions[i];
  }

  const training::TrainedTensors trained(adapter_->tensors());
  adapter_->replace(trained.tensors());
  const training::TrainingTask task = training::sequence_task(
      {.decoder = decoder_,
       .train = {sequence_},
       .adapters =
           [&](std::span<const training::GraphRow> rows) { return adapter_->adapters(rows); },
       .later_adapters = [&](const training::GraphRow& row,
                             int64_t segments) { return adapter_->later_adapters(row, segments); },
       .memory = [&] { return adapter_->memory(); },
       .segment_means = true});
  const int64_t item = 0;
  const auto sum = task.backward({&item, 1}, 1, step);
  ASSERT_TRUE(sum.ok()) << sum.error().to_string();
  EXPECT_NEAR(sum->loss, drawn.at("loss"), kTolerance);
  test::expect_gradients(trained, drawn.at("gradients"), adapter_case_.at("size"),
                         decoder_->shape().head_dim);
}

}  // namespace
}  // namespace qfs::ideal

// Logits and greedy continuations of SmolLM2 equal those of transformers on the same GGUF file;
// values by make_smollm2_expected.py. Skipped when the checkpoint is absent.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "methods/models/architectures/llama/llama.h"
#include "methods/models/checkpoints/gguf.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "tests/support/model_file.h"

namespace qfs::architectures {
namespace {

constexpr double kLogitTolerance = 2e-4;
// A step whose two best logits are closer than this may go either way in float32.
constexpr double kDecidedMargin = 1e-3;

class SmolLM2Conformance : public ::testing::Test {
 protected:
  void SetUp() override {
    const Result<Resource> resource = qfs::test::smollm2();
    if (!resource.ok()) GTEST_SKIP() << "SmolLM2 checkpoint: " << resource.error().to_string();
    ASSERT_TRUE(nn::configure_torch({}).ok());
    const auto file = checkpoints::GgufFile::open(resource->path);
    ASSERT_TRUE(file.ok()) << file.error().to_string();
    const auto weights = load_llama_weights(*file);
    ASSERT_TRUE(weights.ok()) << weights.error().to_string();
    model_ = std::make_unique<Llama>(*weights);
    std::ifstream stream("tests/conformance/models/architectures/smollm2_expected.json");
    expected_ = nlohmann::json::parse(stream);
  }

  void expect_logits(const std::vector<float>& logits, const nlohmann::json& step,
                     const std::string& name) {
    if (!step.contains("logits")) return;
    const std::vector<size_t> indices = expected_["indices"];
    for (size_t i = 0; i < indices.size(); ++i) {
      ASSERT_NEAR(logits[indices[i]], step["logits"][i].get<double>(), kLogitTolerance)
          << name << ", logit " << indices[i];
    }
  }

  std::unique_ptr<Llama> model_;
  nlohmann::json expected_;
};

TEST_F(SmolLM2Conformance, logits_and_greedy_continuations_equal_transformers) {
  std::vector<float> logits(static_cast<size_t>(model_->config().vocabulary));
  size_t compared_steps = 0;
  for (const auto& item : expected_["cases"]) {
    const std::string name = item["name"];
    const std::vector<int32_t> ids = item["ids"];
    const auto& steps = item["steps"];
    nn::KeyValueCache cache;
    ASSERT_TRUE(model_->make_room(cache, 1, static_cast<int64_t>(ids.size() + steps.size())).ok());
    ASSERT_TRUE(model_->prefill(cache, 0, ids, logits).ok());
    for (size_t step = 0; step < steps.size(); ++step) {
      expect_logits(logits, steps[step], name + ", step " + std::to_string(step));
      if (steps[step]["margin"] < kDecidedMargin) break;
      const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
      ASSERT_EQ(best, steps[step]["argmax"].get<int64_t>()) << name << ", step " << step;
      ++compared_steps;
      const int64_t row = 0;
      const auto token = static_cast<int32_t>(best);
      if (step + 1 < steps.size()) {
        ASSERT_TRUE(model_->decode(cache, {&row, 1}, {&token, 1}, logits).ok());
      }
    }
  }
  EXPECT_GT(compared_steps, 100u);
}

}  // namespace
}  // namespace qfs::architectures

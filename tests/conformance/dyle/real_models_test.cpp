// dyle over the real models that packages carry: MiniLM scores, SmolLM2 writes. Few examples; what
// is learned of many is an experiment's matter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/core/files.h"
#include "methods/dyle/session.h"
#include "methods/dyle/spec.h"
#include "methods/models/registry/registry.h"
#include "tests/support/recording_sink.h"
#include "tests/support/temporary_folder.h"

namespace qfs::dyle {
namespace {

class Curve final : public TrainingProgress {
 public:
  Status point(const TrainingPoint& point) override {
    points.push_back(point);
    return {};
  }
  std::vector<TrainingPoint> points;
};

NumberedExample meeting(int64_t ordinal) {
  NumberedExample numbered;
  numbered.ordinal = ordinal;
  Example& one = numbered.example;
  one.key = "meeting-" + std::to_string(ordinal);
  one.document = {{"Good morning, everyone. Shall we begin?", "Chair"},
                  {"The new remote control will have a rubber case in bright yellow.", "Designer"},
                  {"I could not park my car this morning.", "Engineer"},
                  {"A rubber case costs two euros, which is within the budget.", "Finance"},
                  {"Thank you. See you next week.", "Chair"}};
  one.query = "What was decided about the case?";
  one.references = {"The case will be made of yellow rubber for two euros, within the budget."};
  return numbered;
}

TEST(DyleOnRealModels, trains_and_writes_with_minilm_and_smollm2) {
  const auto generator = registry::resolve_backbone("smollm2-135m");
  const auto extractor = registry::resolve_backbone("minilm");
  if (!generator.ok() || !extractor.ok()) {
    GTEST_SKIP() << "smollm2-135m or minilm is not on this machine";
  }
  SessionRequest request;
  for (const ParamSpec& param : DyleSpec().params()) {
    if (param.default_value) request.params.set(param.name, *param.default_value);
  }
  for (const auto& [name, value] : std::map<std::string, int64_t>{{"k", 2},
                                                                  {"snippet_tokens", 48},
                                                                  {"label_tokens", 12},
                                                                  {"max_new_tokens", 8},
                                                                  {"extractor_steps", 10},
                                                                  {"steps", 12},
                                                                  {"train_batch", 1},
                                                                  {"evaluate_every", 0}}) {
    request.params.set(name, value);
  }
  request.params.set("extractor_learning_rate", 2e-3);
  request.backbone = *generator;
  request.backbones[kExtractor] = *extractor;
  const test::TemporaryFolder folder;
  ResourceCache cache;
  auto training = session_factory().open_training(request, cache);
  ASSERT_TRUE(training.ok()) << training.error().to_string();
  Curve curve;
  const TrainingData data{{meeting(0)}, {}};
  const auto outcome = (*training)->fit({folder.path(), "cell", {}}, data, curve);
  ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
  ASSERT_EQ(curve.points.size(), 12U);
  EXPECT_LT(curve.points.back().values.at("loss.oracle"),
            curve.points.front().values.at("loss.oracle"));
  EXPECT_LT(curve.points.back().values.at("loss.generation"),
            curve.points[10].values.at("loss.generation"));
  request.artifacts["adapter"] = {"", folder / outcome->files.front().name, ""};
  auto session = session_factory().open(request, cache);
  ASSERT_TRUE(session.ok()) << session.error().to_string();
  test::RecordingSink sink;
  const std::vector<NumberedExample> unit = {meeting(1)};
  ASSERT_TRUE((*session)->run(unit, sink).ok());
  const Prediction& prediction = sink.predictions.at(1);
  EXPECT_FALSE(prediction.text.empty());
  const auto chosen = nlohmann::json::parse(prediction.extra.text).at("snippets");
  EXPECT_EQ(chosen.size(), 2U);
  // The turn that the oracle would begin with.
  EXPECT_THAT(chosen.get<std::vector<int64_t>>(), ::testing::Contains(3));
}

}  // namespace
}  // namespace qfs::dyle

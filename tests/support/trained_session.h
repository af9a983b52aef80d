// A method that trains, by itself on a tiny LLaMA or another backbone: its request with the spec's
// defaults and a small recipe, examples to learn, and calls of its sessions.
//
// Base of fixtures. Sets QFS_CACHE_DIR for the process.
#pragma once

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/files.h"
#include "harness/core/sha256.h"
#include "methods/models/tokenizers/builtin_tokenizers.h"
#include "tests/support/recording_sink.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_llama.h"

namespace qfs::test {

/// Keeps the points that it is told.
class Curve final : public TrainingProgress {
 public:
  Status point(const TrainingPoint& point) override {
    points.push_back(point);
    return {};
  }
  double first(const std::string& value) const { return points.front().values.at(value); }
  double last(const std::string& value) const { return points.back().values.at(value); }

  std::vector<TrainingPoint> points;
};

class TrainedSessionTest : public ::testing::Test {
 protected:
  explicit TrainedSessionTest(const MethodSpec& spec, SessionFactory sessions) {
    ::setenv("QFS_CACHE_DIR", folder_.path().c_str(), 1);
    use(spec, std::move(sessions));
    request_.tokenizer = tokenizers::builtin_tokenizer("words");
    for (int64_t i = 0; i < 10; ++i) data_.train.push_back(example(i));
    for (int64_t i = 20; i < 23; ++i) data_.development.push_back(example(i));
  }

  /// Another method, with its defaults.
  void use(const MethodSpec& spec, SessionFactory sessions) {
    sessions_ = std::move(sessions);
    request_.params = {};
    for (const ParamSpec& param : spec.params()) {
      if (param.default_value) request_.params.set(param.name, *param.default_value);
    }
    request_.params.set("chat", false);
    request_.params.set("max_new_tokens", int64_t{8});
    request_.params.set("train_tokens", int64_t{96});
    request_.params.set("label_tokens", int64_t{12});
    request_.params.set("train_batch", int64_t{4});
    request_.params.set("steps", int64_t{12});
    request_.params.set("learning_rate", 0.02);
    request_.params.set("evaluate_every", int64_t{4});
    request_.params.set("checkpoint_every", int64_t{3});
  }

  void use_llama(const TinyLlama& tiny, const std::string& prompt) {
    request_.params.set("prompt", prompt);
    const std::string bytes = tiny.bytes();
    request_.backbone = Resource{"local:x", folder_.write("m.gguf", bytes), sha256_hex(bytes)};
  }

  static NumberedExample example(int64_t i, const std::string& query = "why?") {
    NumberedExample numbered;
    numbered.ordinal = i;
    numbered.example.key = "example-" + std::to_string(i);
    for (int64_t j = 0; j < 3 + i; ++j) {
      numbered.example.document.push_back({"line " + std::to_string(i * j), "Ann"});
    }
    numbered.example.query = query;
    numbered.example.references = {i % 2 == 0 ? "abcabc" : "abcabcab"};
    return numbered;
  }

  /// In a folder of this name.
  Result<TrainingOutcome> fit(const std::string& name, Curve& curve,
                              std::optional<int64_t> steps = {}) {
    EXPECT_TRUE(make_directories(folder_ / name).ok());
    ResourceCache cache;
    auto session = sessions_.open_training(request_, cache);
    if (!session.ok()) return session.error();
    return (*session)->fit({folder_ / name, "cell", steps}, data_, curve);
  }

  /// Kills at each failpoint, one after the other; what goes on in the same folder has the bytes of
  /// `file` and the curve of a training that nobody killed.
  void expect_kills_change_nothing(std::initializer_list<const char*> failpoints,
                                   const std::string& file) {
    const auto killed_at = [&](const char* failpoint) {
      ::setenv("QFS_FAILPOINT", failpoint, 1);
      Curve curve;
      static_cast<void>(fit("killed", curve));
    };
    for (const char* failpoint : failpoints) {
      EXPECT_EXIT(killed_at(failpoint), ::testing::KilledBySignal(SIGKILL), "");
    }
    Curve curve;
    ASSERT_TRUE(fit("killed", curve).ok());
    Curve whole;
    ASSERT_TRUE(fit("whole", whole).ok());
    EXPECT_EQ(*read_file(folder_ / ("killed/" + file)), *read_file(folder_ / ("whole/" + file)));
    EXPECT_EQ(curve.points, whole.points);
  }

  /// Why a training is refused.
  std::string refusal() {
    Curve curve;
    const auto outcome = fit("refused", curve);
    return outcome.ok() ? "trained" : outcome.error().message;
  }

  /// Of one unit.
  std::vector<Prediction> predictions(const std::vector<NumberedExample>& unit) {
    RecordingSink sink;
    ResourceCache cache;
    auto session = sessions_.open(request_, cache);
    EXPECT_TRUE(session.ok()) << session.error().to_string();
    if (!session.ok()) return {};
    const Status status = (*session)->run(unit, sink);
    EXPECT_TRUE(status.ok()) << status.error().to_string();
    std::vector<Prediction> made;
    for (const NumberedExample& one : unit) made.push_back(sink.predictions.at(one.ordinal));
    return made;
  }
  std::vector<std::string> outputs(const std::vector<NumberedExample>& unit) {
    std::vector<std::string> texts;
    for (const Prediction& made : predictions(unit)) texts.push_back(made.text);
    return texts;
  }
  std::string output() {
    const auto texts = outputs({example(3)});
    return texts.empty() ? "" : texts.front();
  }

  TemporaryFolder folder_;
  SessionFactory sessions_;
  SessionRequest request_;
  TrainingData data_;
};

}  // namespace qfs::test

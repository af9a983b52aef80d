// RecordingSink: keeps what a session emits. For tests of sessions; not thread-safe; expects that
// times are not negative.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "harness/api/method.h"

namespace qfs::test {

class RecordingSink final : public PredictionSink {
 public:
  void emit(int64_t ordinal, Prediction prediction) override {
    predictions[ordinal] = std::move(prediction);
  }
  void phase(const Phase& phase) override {
    EXPECT_GE(phase.ns, 0);
    phases[phase.name] = phase.tokens;
    if (phase.work) work[phase.name] = *phase.work;
  }
  std::map<int64_t, Prediction> predictions;
  std::map<std::string, int64_t> phases;
  std::map<std::string, Work> work;  ///< of phases that say it
};

}  // namespace qfs::test

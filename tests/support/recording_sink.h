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
  void phase(std::string_view name, int64_t ns, int64_t tokens) override {
    EXPECT_GE(ns, 0);
    phases[std::string(name)] = tokens;
  }
  std::map<int64_t, Prediction> predictions;
  std::map<std::string, int64_t> phases;
};

}  // namespace qfs::test

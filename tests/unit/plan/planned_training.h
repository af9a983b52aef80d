// Plans of cells that train, for the tests of this folder.
//
// Pure; thread-safe. A plan that cannot be made fails the test.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "harness/plan/plan.h"
#include "tests/support/plan_fakes.h"

namespace qfs::plan {

inline constexpr const char* kSplit = R"({"name": "split"})";
inline const std::string kLearner = R"({"method": "learner", "backbone": "small")";

inline Plan planned_training(const std::string& text, test::Planning planning = {}) {
  Result<Plan> plan = planning(text);
  if (!plan.ok()) {
    ADD_FAILURE() << plan.error().to_string();
    return {};
  }
  return *std::move(plan);
}

inline std::string training_error(const std::string& text, test::Planning planning = {}) {
  const Result<Plan> plan = planning(text);
  return plan.ok() ? "no error" : plan.error().to_string();
}

}  // namespace qfs::plan

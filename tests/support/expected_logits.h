// Logits of decoder-only models beside those of transformers, which the cases of
// tests/conformance/models/architectures/tiny_*_expected.json have.
//
// Used by conformance tests. Fails the test that calls it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "methods/models/nn/sequence_model.h"

namespace qfs::test {

/// Logits after reading `prompt` tokens at once and the rest one by one, at every `every`-th
/// position that this passes.
inline void expect_logits(nn::SequenceModel& model, const nlohmann::json& test_case, size_t prompt,
                          size_t every) {
  constexpr double kTolerance = 2e-5;
  const std::vector<int32_t> ids = test_case.at("ids");
  std::vector<float> logits(static_cast<size_t>(model.shape().vocabulary));
  ASSERT_TRUE(model.begin(1, static_cast<int64_t>(ids.size())).ok());
  const nn::SequenceInput input = {
      .ids = {ids.begin(), ids.begin() + static_cast<int64_t>(prompt)}};
  ASSERT_TRUE(model.prefill(0, input, logits).ok());
  for (size_t position = prompt - 1;;) {
    if (position % every == 0) {
      const std::vector<double> row = test_case.at("logits").at(position / every);
      ASSERT_EQ(row.size(), logits.size());
      for (size_t i = 0; i < row.size(); ++i) {
        ASSERT_NEAR(logits[i], row[i], kTolerance * std::max(1.0, std::abs(row[i])))
            << "logit " << i << " after position " << position;
      }
    }
    if (++position == ids.size()) return;
    const int64_t row = 0;
    ASSERT_TRUE(model.decode({&row, 1}, {&ids[position], 1}, logits).ok());
  }
}

}  // namespace qfs::test

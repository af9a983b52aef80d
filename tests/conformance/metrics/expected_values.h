// Reading the values that make_rouge_expected.py wrote, and comparing rows of twelve with them.
//
// Called by the ROUGE conformance tests, which run in the source tree's root. A missing or
// malformed file ends the test with nlohmann's exception.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/core/sha256.h"
#include "metrics/rouge/rouge_scorer.h"

namespace qfs::test {

inline constexpr double kRougeTolerance = 1e-12;

using Row = std::vector<double>;

inline nlohmann::json expected_values(const std::string& name) {
  std::ifstream file("tests/conformance/metrics/" + name);
  return nlohmann::json::parse(file);
}

inline Row row_of(const metrics::RougeScores& scores) {
  Row row;
  for (const metrics::Prf& prf : {scores.rouge1, scores.rouge2, scores.rougeL, scores.rougeLsum}) {
    row.insert(row.end(), {prf.precision, prf.recall, prf.f});
  }
  return row;
}

/// SHA-256 over the little-endian bytes of all values: equal only when every bit is.
inline std::string digest(const std::vector<Row>& rows, size_t begin, size_t end) {
  static_assert(std::endian::native == std::endian::little);
  Sha256 hash;
  for (size_t i = begin; i < end; ++i) {
    hash.update({reinterpret_cast<const char*>(rows[i].data()), rows[i].size() * sizeof(double)});
  }
  return hash.hex();
}

inline void expect_rows_near(const Row& actual, const Row& expected, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], kRougeTolerance) << what << ", value " << i;
  }
}

}  // namespace qfs::test

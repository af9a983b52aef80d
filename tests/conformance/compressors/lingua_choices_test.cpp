// What LLMLingua keeps equals a literal transcription in Python (make_compressors_expected.py) on
// losses that are made up.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "methods/compressors/lingua.h"

namespace qfs::compressors {
namespace {

using nlohmann::json;

json expected(const char* name) {
  std::ifstream file("tests/conformance/compressors/compressors_expected.json");
  return json::parse(file).at(name);
}

/// Losses as in the script: of a token, the one before it and what is held.
class Surprised final : public SmallLm {
 public:
  explicit Surprised(int64_t positions) : positions_(positions) {}

  int64_t positions() const override { return positions_; }
  Result<std::vector<double>> losses(std::span<const int32_t> ids, int64_t first,
                                     int64_t held) override {
    uint64_t sum = 0;
    for (size_t i = 0; i < held_.size(); ++i) sum += (i + 1) * static_cast<uint64_t>(held_[i]);
    std::vector<double> losses;
    for (auto t = static_cast<size_t>(first); t < ids.size(); ++t) {
      const auto mixed =
          static_cast<uint32_t>(static_cast<uint64_t>(ids[t]) * 2654435761U +
                                static_cast<uint64_t>(ids[t - 1]) * 40503U + sum * 97U + 12345U);
      losses.push_back(static_cast<double>(mixed >> 8) / static_cast<double>(1 << 24));
    }
    held_.insert(held_.end(), ids.begin(), ids.begin() + held);
    return losses;
  }
  Status forget(int64_t first, int64_t count) override {
    held_.erase(held_.begin() + first, held_.begin() + first + count);
    return {};
  }

 private:
  int64_t positions_;
  std::vector<int32_t> held_;
};

/// Tokens count up from 1.
LinguaTask task_of(const json& one) {
  LinguaTask task;
  task.texts = one.at("texts").get<std::vector<int64_t>>();
  task.target = one.at("target");
  task.window = one.at("window");
  for (const int64_t text : task.texts) {
    for (int64_t i = 0; i < text; ++i) {
      task.ids.push_back(static_cast<int32_t>(task.ids.size()) + 1);
    }
  }
  return task;
}

TEST(LinguaConformance, keeps_what_a_literal_transcription_keeps) {
  for (const json& one : expected("lingua")) {
    const LinguaTask task = task_of(one);
    SCOPED_TRACE(one.at("texts").dump());
    EXPECT_EQ(released_windows(task.texts, task.window),
              one.at("windows").get<std::vector<std::vector<int64_t>>>());
    Surprised for_released(1000000);
    const auto released = keep_as_released(task, for_released);
    ASSERT_TRUE(released.ok());
    EXPECT_EQ(*released, one.at("released").get<std::vector<int32_t>>());
    Surprised for_exact(1000000);
    const auto exact = keep_exactly(task, for_exact);
    ASSERT_TRUE(exact.ok());
    EXPECT_EQ(*exact, one.at("exactly").get<std::vector<int32_t>>());
    EXPECT_EQ(static_cast<int64_t>(exact->size()), task.target);
  }
}

TEST(LinguaConformance, puts_tokens_aside_as_a_literal_transcription_does) {
  for (const json& one : expected("lingua_over_positions")) {
    SCOPED_TRACE(one.at("texts").dump());
    Surprised model(one.at("positions"));
    const auto released = keep_as_released(task_of(one), model);
    ASSERT_TRUE(released.ok());
    EXPECT_EQ(*released, one.at("released").get<std::vector<int32_t>>());
  }
}

}  // namespace
}  // namespace qfs::compressors

// What rows say of the operations of their passes.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "methods/compressors/session_facts.h"

namespace qfs::compressors {
namespace {

TEST(CompressorFacts, the_head_is_counted_on_all_positions_or_where_it_is_asked) {
  nn::SequenceShape shape;
  shape.vocabulary = 50;
  shape.widths = {
      .layers = 2, .hidden = 8, .heads = 2, .kv_heads = 1, .head_dim = 4, .intermediate = 16};
  const auto counted = [&](int64_t headed) {
    const std::vector<ReadPass> passes = {{100, headed}};
    nlohmann::json facts;
    add_operations({.passes = passes}, shape, facts);
    return std::pair(facts.at("flops_eager").get<double>(), facts.at("flops_lean").get<double>());
  };
  const auto [no_head, no_head_lean] = counted(0);
  const auto [asked, asked_lean] = counted(3);
  EXPECT_EQ(asked - no_head, 2.0 * 50 * 8 * 100);
  EXPECT_EQ(asked_lean - no_head_lean, 2.0 * 50 * 8 * 3);
}

}  // namespace
}  // namespace qfs::compressors

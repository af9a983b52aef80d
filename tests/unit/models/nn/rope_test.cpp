// A table of rotations has the rows that were asked for, whatever it held before.
#include "methods/models/nn/rope.h"

#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

namespace qfs::nn {
namespace {

TEST(RotationTable, grows_and_keeps_the_bits_of_its_rows) {
  const checkpoints::RopeConfig config;
  constexpr int64_t kDim = 24;
  RotationTable table(config, kDim);
  EXPECT_FALSE(table.holds(1));
  table.cover(5);
  EXPECT_TRUE(table.holds(5));
  EXPECT_FALSE(table.holds(5000));
  const Rotations small = table.rotations();
  table.cover(5);
  EXPECT_EQ(table.rotations().sines.data_ptr(), small.sines.data_ptr());
  table.cover(5000);
  ASSERT_TRUE(table.holds(5000));
  const Rotations whole = make_rotations(config, kDim, 6000);
  for (const auto& part : {&Rotations::cosines, &Rotations::sines}) {
    const at::Tensor& grown = table.rotations().*part;
    EXPECT_TRUE(at::equal(grown, (whole.*part).narrow(0, 0, grown.size(0))));
    const at::Tensor& first = small.*part;
    EXPECT_TRUE(at::equal(first, grown.narrow(0, 0, first.size(0))));
  }
}

}  // namespace
}  // namespace qfs::nn

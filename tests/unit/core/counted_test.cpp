// Numbers with their nouns.
#include "harness/core/counted.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace qfs {
namespace {

TEST(Counted, OneIsSingularAndEverythingElsePlural) {
  EXPECT_EQ(counted(1, "cell"), "1 cell");
  EXPECT_EQ(counted(size_t{2}, "cell"), "2 cells");
  EXPECT_EQ(counted(int64_t{0}, "cell"), "0 cells");
  EXPECT_EQ(counted(1, "cell is", "cells are"), "1 cell is");
  EXPECT_EQ(counted(12, "cell is", "cells are"), "12 cells are");
}

}  // namespace
}  // namespace qfs

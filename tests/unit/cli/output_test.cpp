// Text for terminals: columns line up, foreign text cannot move the cursor.
#include "harness/cli/output.h"

#include <gtest/gtest.h>

#include "harness/cli/cell_names.h"
#include "tests/support/nasty_corpus.h"

namespace qfs::cli {
namespace {

TEST(Aligned, ColumnsAreAsWideAsTheirWidestText) {
  EXPECT_EQ(aligned({{"a", "bb", "c"}, {"aaa", "b", "c"}, {"é", "", "x"}}),
            "a    bb  c\n"
            "aaa  b   c\n"
            "é        x\n");
}

TEST(Aligned, ARowMayBeShortAndLeavesNoTrailingBlanks) {
  EXPECT_EQ(aligned({{"name", "value"}, {"alone"}, {"x", ""}}), "name   value\nalone\nx\n");
}

TEST(Aligned, EveryTextStaysOneLineWithoutControls) {
  for (const std::string& text : test::nasty_corpus()) {
    const std::string line = aligned({{text, "end"}});
    EXPECT_EQ(line.find('\n'), line.size() - 1) << text;
    EXPECT_EQ(line.find('\x1b'), std::string::npos) << text;
  }
}

TEST(Durations, AreInUnitsThatPeopleRead) {
  EXPECT_EQ(duration_text(0.04), "0.0 s");
  EXPECT_EQ(duration_text(9.94), "9.9 s");
  EXPECT_EQ(duration_text(35.4), "35 s");
  EXPECT_EQ(duration_text(250), "4 min 10 s");
  EXPECT_EQ(duration_text(7500), "2 h 05 min");
}

}  // namespace
}  // namespace qfs::cli

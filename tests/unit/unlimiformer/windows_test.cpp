// The windows of unlimiformer: every token is kept once, with as much company as the release gives.
#include "methods/unlimiformer/windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace qfs::unlimiformer {
namespace {

using ::testing::ElementsAre;

TEST(Windows, a_source_that_fits_is_one) {
  EXPECT_THAT(windows_of(1, 8, 0.5), ElementsAre(Window{0, 1, 0, 1}));
  EXPECT_THAT(windows_of(8, 8, 0.5), ElementsAre(Window{0, 8, 0, 8}));
}

TEST(Windows, the_middle_half_is_kept_but_at_the_ends) {
  EXPECT_THAT(windows_of(17, 8, 0.5), ElementsAre(Window{0, 8, 0, 6}, Window{4, 12, 6, 10},
                                                  Window{8, 16, 10, 14}, Window{9, 17, 14, 17}));
  EXPECT_THAT(windows_of(9, 8, 0.5), ElementsAre(Window{0, 8, 0, 6}, Window{1, 9, 6, 9}));
}

TEST(Windows, of_bart_they_move_by_512) {
  const std::vector<Window> windows = windows_of(100'000, 1024, 0.5);
  EXPECT_EQ(windows[1], (Window{512, 1536, 768, 1280}));
  EXPECT_EQ(windows.size(), 195);  // 1 + ceil((100000 - 1024) / 512)
}

TEST(Windows, every_token_is_kept_once_in_order) {
  for (const double overlap : {0.0, 0.3, 0.5, 0.99}) {
    for (int64_t tokens = 1; tokens < 60; ++tokens) {
      int64_t kept = 0;
      for (const Window& window : windows_of(tokens, 7, overlap)) {
        EXPECT_EQ(window.kept_begin, kept) << tokens << " tokens, overlap " << overlap;
        EXPECT_LE(window.begin, window.kept_begin);
        EXPECT_LT(window.kept_begin, window.kept_end);
        EXPECT_LE(window.kept_end, window.end);
        EXPECT_LE(window.end - window.begin, 7);
        kept = window.kept_end;
      }
      EXPECT_EQ(kept, tokens);
    }
  }
}

}  // namespace
}  // namespace qfs::unlimiformer

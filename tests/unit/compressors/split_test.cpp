// What of a document is kept and what is compressed, and how many memory tokens stand for it.
#include "methods/compressors/split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

namespace qfs::compressors {
namespace {

constexpr int64_t kL = 7;

std::vector<Range> in_text_order(const Plan& plan) {
  std::vector<Range> all;
  for (const Segment& segment : plan.segments) all.push_back(segment.content);
  if (plan.kept.count > 0) all.push_back(plan.kept);
  std::ranges::sort(all, {}, &Range::first);
  return all;
}

TEST(Split, parts_cover_the_document_in_order_and_none_exceeds_the_window) {
  for (const int64_t n :
       {int64_t{1}, kL - 1, kL, kL + 1, 2 * kL - 1, 2 * kL, 2 * kL + 1, 3 * kL, 10 * kL + 3}) {
    for (const Side side : {Side::former, Side::latter}) {
      for (const bool compress_short : {false, true}) {
        SCOPED_TRACE(std::to_string(n) + (side == Side::former ? " former" : " latter"));
        const Plan plan =
            split(n, {.window = kL, .side = side, .ratio = 3.0, .compress_short = compress_short});
        int64_t done = 0;
        for (const Range& part : in_text_order(plan)) {
          EXPECT_EQ(part.first, done);
          EXPECT_LE(part.count, kL);
          EXPECT_GE(part.count, 1);
          done = part.end();
        }
        EXPECT_EQ(done, n);
        // m = ceil(N / L - 1) beyond two windows.
        if (n > 2 * kL) {
          EXPECT_EQ(plan.segments.size(), static_cast<size_t>((n + kL - 1) / kL - 1));
        }
        EXPECT_EQ(plan.segments.empty(),
                  (n <= kL && !compress_short) || (n == 1 && side == Side::latter));
      }
    }
  }
  EXPECT_EQ(split(3 * kL, {.window = kL}).segments.size(), 2U);
}

TEST(Split, halves_and_windows_lie_on_the_side_that_is_asked_for) {
  const SplitRules latter{.window = 7, .side = Side::latter, .ratio = 3.0};
  const SplitRules former{.window = 7, .side = Side::former, .ratio = 3.0};
  EXPECT_EQ(split(9, latter), (Plan{{{{5, 4}, 2}}, {0, 5}, false}));
  EXPECT_EQ(split(9, former), (Plan{{{{0, 5}, 2}}, {5, 4}, true}));
  EXPECT_EQ(split(24, latter), (Plan{{{{7, 6}, 2}, {{13, 6}, 2}, {{19, 5}, 2}}, {0, 7}, false}));
  EXPECT_EQ(split(24, former), (Plan{{{{0, 6}, 2}, {{6, 6}, 2}, {{12, 5}, 2}}, {17, 7}, true}));
  SplitRules released = latter;
  released.memory_first = true;
  EXPECT_TRUE(split(9, released).memory_first);
}

TEST(Split, a_segment_without_a_memory_token_is_left_out) {
  EXPECT_EQ(split(24, {.window = 7, .ratio = std::nullopt}), (Plan{{}, {0, 7}, false}));
  EXPECT_EQ(split(24, {.window = 7, .ratio = 6.0, .rounding = Rounding::floor}),
            (Plan{{{{7, 6}, 1}, {{13, 6}, 1}}, {0, 7}, false}));
  EXPECT_EQ(split(1, {.window = 7, .side = Side::former, .ratio = 3.0, .compress_short = true}),
            (Plan{{{{0, 1}, 1}}, {1, 0}, true}));
}

TEST(MemoryTokens, are_those_of_the_paper_and_of_its_release) {
  EXPECT_EQ(memory_tokens(512, 12.0, Rounding::ceil), 43);
  EXPECT_EQ(memory_tokens(512, 12.0, Rounding::floor), 42);
  EXPECT_EQ(memory_tokens(3, 12.0, Rounding::ceil), 1);
  EXPECT_EQ(memory_tokens(3, 12.0, Rounding::floor), 0);
  EXPECT_EQ(memory_tokens(512, 512.0, Rounding::ceil), 1);
  EXPECT_EQ(memory_tokens(512, std::nullopt, Rounding::ceil), 0);
  // Where the window counts everything (the release's path for DUC).
  EXPECT_EQ(1024 - content_in(1024, 12.0), 79);
  EXPECT_EQ(512 - content_in(512, 12.0), 40);
  EXPECT_EQ(memory_tokens(content_in(1024, 12.0), 12.0, Rounding::ceil), 79);
  EXPECT_EQ(content_in(512, std::nullopt), 512);
}

TEST(ReleasedSplit, draws_its_five_ways_as_often_as_the_release) {
  std::array<int, 5> drawn{};
  constexpr int kDraws = 4000;
  Rng rng(3);
  for (int i = 0; i < kDraws; ++i) {
    const Plan plan = released_split(900, 512, 12, rng);
    const Segment& first = plan.segments.front();
    if (first.earlier == Earlier::previous) {
      // 900 / 2 + 1 and the rest; only the last memory is read.
      EXPECT_EQ(plan.segments, (std::vector<Segment>{{{0, 451}, 37, Earlier::previous, false},
                                                     {{451, 449}, 37, Earlier::previous, true}}));
      ++drawn[2];
    } else if (first.earlier == Earlier::all) {
      EXPECT_EQ(plan.segments, (std::vector<Segment>{{{0, 450}, 37, Earlier::all},
                                                     {{450, 450}, 37, Earlier::all}}));
      ++drawn[3];
    } else if (plan.kept.count == 0) {
      EXPECT_EQ(plan.segments, (std::vector<Segment>{{{0, 900}, 75}}));
      ++drawn[4];
    } else if (plan.memory_first) {
      EXPECT_EQ(plan, (Plan{{{{0, 512}, 42}}, {512, 388}, true}));
      ++drawn[1];
    } else {
      EXPECT_EQ(plan, (Plan{{{{512, 388}, 32}}, {0, 512}, false}));
      ++drawn[0];
    }
  }
  const std::array<double, 5> shares = {0.25, 0.25, 0.2, 0.1, 0.2};
  for (size_t i = 0; i < shares.size(); ++i)
    EXPECT_NEAR(drawn[i] / double{kDraws}, shares[i], 0.03);
}

TEST(ReleasedSplit, reads_two_windows_of_a_longer_document) {
  Rng rng(5);
  for (int i = 0; i < 40; ++i) {
    Rng same = rng;
    const Plan plan = released_split(1024, 512, 12, same);
    EXPECT_EQ(released_split(5000, 512, 12, rng), plan);
  }
}

TEST(ReleasedSplit, short_documents_are_halved) {
  Rng rng(1);
  for (int i = 0; i < 40; ++i) {
    const Plan plan = released_split(601, 512, 12, rng);
    if (plan.kept.count == 0) continue;
    EXPECT_EQ(plan.segments.front().memory, 25);  // of the longer half, whichever is compressed
    EXPECT_EQ(plan.segments.front().content.count + plan.kept.count, 601);
    EXPECT_EQ(std::max(plan.kept.count, plan.segments.front().content.count), 301);
  }
}

TEST(TextPlan, HalvesAreCutIntoSegmentsOfAtMostAWindow) {
  Rng rng = Rng::derived(7, "texts");
  for (int64_t tokens = 4; tokens < 90; ++tokens) {
    for (const int64_t window : {1, 2, 5, 24}) {
      for (Rng* draws : {static_cast<Rng*>(nullptr), &rng}) {
        SCOPED_TRACE(std::to_string(tokens) + " in " + std::to_string(window));
        const Plan plan = text_plan(tokens, window, 3, draws);
        int64_t done = 0;
        int64_t first = 0;  // segments of the first half
        for (const Segment& segment : plan.segments) {
          EXPECT_EQ(segment.content.first, done);
          EXPECT_GE(segment.content.count, 1);
          EXPECT_LE(segment.content.count, window);
          EXPECT_EQ(segment.memory, 3);
          EXPECT_EQ(segment.earlier, Earlier::all);
          done = segment.content.end();
          if (done == (tokens + 1) / 2) first = &segment - plan.segments.data() + 1;
          EXPECT_EQ(segment.held, done <= (tokens + 1) / 2 ? 0 : first);
        }
        EXPECT_EQ(done, tokens);
        EXPECT_GT(first, tokens >= 8 ? 1 : 0) << "no segment ends where the first half does";
      }
    }
  }
}

TEST(TextPlan, LongerTextsHaveSegmentsOfThreeQuartersOfAWindow) {
  Rng rng = Rng::derived(7, "longer");
  int64_t least = 100;
  int64_t most = 0;
  for (int i = 0; i < 500; ++i) {
    const Plan plan = text_plan(600, 100, 3, &rng);
    ASSERT_EQ(plan.segments.size(), 8U);
    for (const Segment& segment : plan.segments) {
      least = std::min(least, segment.content.count);
      most = std::max(most, segment.content.count);
    }
  }
  EXPECT_LT(least, 70);
  EXPECT_GT(most, 90);
  EXPECT_EQ(text_plan(3, 100, 3, &rng).segments.size(), 1U);
}

TEST(TextPlan, LengthsAreDrawnAsTheReleaseDrawsThem) {
  Rng rng = Rng::derived(7, "lengths");
  std::map<int64_t, int> lengths;
  for (int i = 0; i < 4000; ++i) {
    const Plan plan = text_plan(60, 20, 3, &rng);
    ASSERT_EQ(plan.segments.size(), 4U);
    ++lengths[plan.segments[0].content.count];
    ++lengths[plan.segments[2].content.count];
  }
  // Halves of 30 in two segments: at least 10, and one of ten slots behind these.
  ASSERT_EQ(lengths.size(), 10U);
  EXPECT_EQ(lengths.begin()->first, 10);
  for (const auto& [length, draws] : lengths) EXPECT_NEAR(draws, 800, 120) << length;
}

}  // namespace
}  // namespace qfs::compressors

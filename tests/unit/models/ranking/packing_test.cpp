// What a scorer reads: chunks of query and whole snippets, and where scores stand.
#include "methods/models/ranking/packing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace qfs::ranking {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Ids = std::vector<int32_t>;

constexpr int32_t kBegin = 0;
constexpr int32_t kPad = 1;
constexpr int32_t kEnd = 2;

/// RoBERTa's: "<s> x </s></s>".
PackOptions options(int64_t chunk_tokens, int64_t max_chunks = 50) {
  return {{kBegin}, {kEnd, kEnd}, chunk_tokens, max_chunks, kPad};
}

PackedSnippets packed(const Ids& query, const std::vector<Ids>& snippets,
                      const PackOptions& options) {
  const auto result = pack_snippets(query, snippets, options);
  EXPECT_TRUE(result.ok()) << result.error().to_string();
  return result.ok() ? *result : PackedSnippets();
}

TEST(PackSnippets, fill_chunks_with_the_query_and_whole_snippets) {
  const PackedSnippets read = packed({9}, {{10, 11}, {12}, {13, 14}}, options(13));
  EXPECT_THAT(read.chunks, ElementsAre(Ids{0, 9, 2, 2, 0, 10, 11, 2, 2, 0, 12, 2, 2},
                                       Ids{0, 9, 2, 2, 0, 13, 14, 2, 2, 1, 1, 1, 1}));
  EXPECT_THAT(read.positions, ElementsAre(8, 12, 13 + 8));
  EXPECT_EQ(read.cut, 0);
  EXPECT_EQ(read.unseen, 0);
}

TEST(PackSnippets, without_padding_chunks_end_with_their_last_snippet) {
  PackOptions masked = options(13);
  masked.padding.reset();
  const PackedSnippets read = packed({9}, {{10, 11}, {12}, {13, 14}}, masked);
  EXPECT_EQ(read.chunks.back(), (Ids{0, 9, 2, 2, 0, 13, 14, 2, 2}));
  EXPECT_THAT(read.positions, ElementsAre(8, 12, 13 + 8));
}

TEST(PackSnippets, a_snippet_longer_than_a_chunk_ends_with_its_last_kept_id) {
  const PackedSnippets read = packed({9}, {{20, 21, 22, 23, 24, 25, 26}, {12}}, options(10));
  EXPECT_THAT(read.chunks, ElementsAre(Ids{0, 9, 2, 2, 0, 20, 21, 22, 23, 24},
                                       Ids{0, 9, 2, 2, 0, 12, 2, 2, 1, 1}));
  EXPECT_THAT(read.positions, ElementsAre(9, 10 + 7));
  EXPECT_EQ(read.cut, 1);
}

TEST(PackSnippets, what_does_not_fit_the_last_chunk_is_not_seen) {
  const PackedSnippets read = packed({9}, {{10}, {11}, {12}, {13}}, options(12, 2));
  EXPECT_EQ(read.chunks.size(), 2U);
  EXPECT_EQ(read.visible(), 4);
  const PackedSnippets less = packed({9}, {{10}, {11}, {12}, {13}, {14}}, options(8, 2));
  EXPECT_THAT(less.positions, ElementsAre(7, 15));
  EXPECT_EQ(less.unseen, 3);
}

TEST(PackSnippets, fifty_chunks_are_read_unless_other_is_said) {
  PackOptions released = options(8);
  released.max_chunks = PackOptions().max_chunks;
  const PackedSnippets read = packed({9}, std::vector<Ids>(52, Ids{10}), released);
  EXPECT_EQ(read.chunks.size(), 50U);
  EXPECT_EQ(read.visible(), 50);
  EXPECT_EQ(read.unseen, 2);
}

TEST(PackSnippets, a_query_read_apart_leaves_chunks_to_snippets) {
  PackOptions apart = options(9);
  apart.query_apart = true;
  const PackedSnippets read = packed({9}, {{10, 11}, {12}, {13}}, apart);
  EXPECT_THAT(read.chunks, ElementsAre(Ids{0, 10, 11, 2, 2, 0, 12, 2, 2},  // all of a chunk
                                       Ids{0, 13, 2, 2, 1, 1, 1, 1, 1}));
  EXPECT_THAT(read.positions, ElementsAre(4, 8, 9 + 3));
  EXPECT_EQ(read.query, (Ids{0, 9, 2, 2}));
  EXPECT_EQ(read.query_tokens, 0);
  const PackedPart part = drawn_part(read, std::vector<int64_t>{2}, {1, 1}, Rng(3));
  EXPECT_EQ(part.packed.query, read.query);
  EXPECT_EQ(part.packed.query_tokens, 0);
  const PackedSnippets behind = packed({9}, {{10}}, options(9));
  EXPECT_EQ(behind.query, read.query);
  EXPECT_EQ(behind.query_tokens, 4);
  EXPECT_EQ(read.tokens(), 4 + 2 * 9);
  EXPECT_EQ(behind.tokens(), 4 + 5);
  // A query read apart needs no room in a chunk.
  EXPECT_TRUE(pack_snippets(Ids{9, 9, 9, 9, 9, 9, 9, 9}, std::vector<Ids>{{10}}, apart).ok());
}

TEST(PackSnippets, an_empty_query_is_its_special_tokens) {
  const PackedSnippets read = packed({}, {{10}}, options(8));
  EXPECT_THAT(read.chunks, ElementsAre(Ids{0, 2, 2, 0, 10, 2, 2, 1}));
  EXPECT_THAT(read.positions, ElementsAre(6));
}

TEST(PackSnippets, a_query_that_leaves_no_room_is_refused) {
  const auto refused = pack_snippets(Ids{9, 9, 9, 9, 9}, std::vector<Ids>{{10}}, options(8));
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("leaves no room for snippets in a chunk of 8"));
}

TEST(DrawnPart, has_the_chunks_of_wanted_snippets_and_then_others) {
  const PackedSnippets whole =
      packed({9}, {{10, 11}, {12}, {13, 14}, {15, 16}, {17, 18, 19}, {20, 21}}, options(13));
  ASSERT_EQ(whole.chunks.size(), 5);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const PackedPart part = drawn_part(whole, std::vector<int64_t>{3}, {2, 2}, Rng(seed));
    ASSERT_EQ(part.packed.chunks.size(), 2);
    EXPECT_THAT(part.snippets, ::testing::Contains(3));
    ASSERT_EQ(part.snippets.size(), part.packed.positions.size());
    for (size_t i = 0; i < part.snippets.size(); ++i) {
      const auto id_at = [](const PackedSnippets& of, int64_t position) {
        return of.chunks[static_cast<size_t>(position / of.chunk_tokens)]
                        [static_cast<size_t>(position % of.chunk_tokens) - 2];
      };
      EXPECT_EQ(id_at(part.packed, part.packed.positions[i]),
                id_at(whole, whole.positions[static_cast<size_t>(part.snippets[i])]));
    }
  }
}

TEST(DrawnPart, has_no_more_chunks_of_wanted_snippets_than_asked_for_where_there_are_others) {
  const PackedSnippets whole =
      packed({9}, {{10, 11}, {12}, {13, 14}, {15, 16}, {17, 18, 19}, {20, 21}}, options(13));
  const auto read = [&](std::vector<int64_t> wanted, ChunkDraw draw, uint64_t seed) {
    const PackedPart part = drawn_part(whole, wanted, draw, Rng(seed));
    EXPECT_EQ(std::ssize(part.packed.chunks), draw.chunks);
    return std::ranges::count_if(part.snippets,
                                 [&](int64_t i) { return std::ranges::count(wanted, i) > 0; });
  };
  // Snippets 0 and 1 are one chunk, the others one each.
  std::set<int64_t> others;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(read({2, 3, 4}, {2, 1}, seed), 1);
    EXPECT_EQ(read({2, 3, 4}, {4, 2}, seed), 2);
    EXPECT_EQ(read({2, 3, 4, 5}, {4, 2}, seed), 3);  // there is one other
    EXPECT_EQ(read({2}, {4, 2}, seed), 1);
    const PackedPart part = drawn_part(whole, std::vector<int64_t>{2}, {2, 1}, Rng(seed));
    others.insert(part.snippets.back() == 2 ? part.snippets.front() : part.snippets.back());
  }
  EXPECT_EQ(others.size(), 4);  // all are drawn
}

TEST(DrawnPart, of_as_many_chunks_as_there_are_is_the_whole) {
  const PackedSnippets whole = packed({9}, {{10, 11}, {12}, {13, 14}}, options(13));
  const PackedPart part = drawn_part(whole, {}, {7, 7}, Rng(3));
  EXPECT_EQ(part.packed.chunks, whole.chunks);
  EXPECT_EQ(part.packed.positions, whole.positions);
  EXPECT_THAT(part.snippets, ElementsAre(0, 1, 2));
}

TEST(Reading, counts_targets_among_what_is_read) {
  const PackedSnippets whole =
      packed({9}, {{10, 11}, {12}, {13, 14}, {15, 16}, {17, 18, 19}, {20, 21}}, options(13));
  EXPECT_THAT(whole_reading(whole, std::vector<int64_t>{1, 4}).targets, ElementsAre(1, 4));
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Reading part = drawn_reading(whole, std::vector<int64_t>{2, 5}, {2, 2}, Rng(seed));
    std::vector<int64_t> found;
    for (const int64_t i : part.targets) {
      found.push_back(part.part.snippets[static_cast<size_t>(i)]);
    }
    EXPECT_THAT(found, ElementsAre(2, 5));
  }
  EXPECT_EQ(drawn_reading(whole, std::vector<int64_t>{0, 5}, {1, 1}, Rng(3)).targets.size(), 1U);
}

}  // namespace
}  // namespace qfs::ranking

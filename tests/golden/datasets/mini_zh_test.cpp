// The bundled Chinese segments as delivered: sizes, language, evidence, and ids pinned for identity
// version 1 (values by recompute_ids.py).
#include <gtest/gtest.h>

#include <set>

#include "datasets/readers/catalog.h"
#include "harness/core/utf8.h"
#include "tests/unit/datasets/requests.h"

namespace qfs::datasets {
namespace {

TEST(MiniZh, SplitsHaveFourFourAndFifteenSegmentsWithTwoQueriesEach) {
  std::set<std::string> segments;
  for (const auto& [split, count] :
       {std::pair{"train", 4u}, std::pair{"val", 4u}, std::pair{"test", 15u}}) {
    const auto dataset = load_bundled(named("mini-zh", {.split = split}));
    EXPECT_EQ(dataset->examples.size(), 2 * count);
    for (const Example& example : dataset->examples) segments.insert(example.document_id);
  }
  EXPECT_EQ(segments.size(), 23u);
}

TEST(MiniZh, SegmentsAreChineseOf600To2000CharactersBySeveralSpeakers) {
  for (const char* split : {"train", "val", "test"}) {
    const auto dataset = load_bundled(named("mini-zh", {.split = split}));
    for (const Example& example : dataset->examples) {
      EXPECT_EQ(example.language, "zh");
      int64_t characters = 0;
      std::set<std::string> speakers;
      for (const Segment& turn : example.document) {
        characters += count_code_points(turn.text);
        speakers.insert(turn.speaker);
      }
      EXPECT_GE(characters, 600) << example.key;
      EXPECT_LE(characters, 2000) << example.key;
      EXPECT_GE(speakers.size(), 3u) << example.key;
      EXPECT_FALSE(example.evidence.empty()) << example.key;
      EXPECT_FALSE(example.references.at(0).empty()) << example.key;
    }
  }
}

TEST(MiniZh, IdsArePinned) {
  EXPECT_EQ(load_bundled(named("mini-zh"))->id.hex(),
            "3b359021dd65733833dc0aaad1fb4c6d051cc6312acdf820810f08fe12e21b89");
  EXPECT_EQ(load_bundled(named("mini-zh", {.view = "golden"}))->id.hex(),
            "9473ab7d6538e3a1f311ae419a18c871325163e8c71f558a113f7007545593e2");
  EXPECT_EQ(load_bundled(named("mini-zh", {.split = "train"}))->id.hex(),
            "6f5eee19a9dbdf762e3b0584b8bd928b59451e74d2c06df898bf60cb409eb705");
}

}  // namespace
}  // namespace qfs::datasets

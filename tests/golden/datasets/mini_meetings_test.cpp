// The bundled meetings as delivered: sizes, ids and example hashes pinned for identity version 1
// (values of the raw form by recompute_ids.py).
#include <gtest/gtest.h>

#include <set>

#include "datasets/readers/catalog.h"
#include "tests/unit/datasets/requests.h"

namespace qfs::datasets {
namespace {

TEST(MiniMeetings, SplitsHaveFourTwoAndTenMeetingsWithFourQueriesEach) {
  std::set<std::string> meetings;
  for (const auto& [split, count] :
       {std::pair{"train", 4u}, std::pair{"val", 2u}, std::pair{"test", 10u}}) {
    auto dataset = load_bundled(named("mini-meetings", {.split = split}));
    std::set<std::string> here;
    for (const Example& example : dataset->examples) here.insert(example.document_id);
    EXPECT_EQ(here.size(), count);
    EXPECT_EQ(dataset->examples.size(), 4 * count);
    meetings.merge(here);
    EXPECT_TRUE(here.empty()) << "a meeting is in two splits";
  }
  EXPECT_EQ(meetings.size(), 16u);
}

TEST(MiniMeetings, EverySpecificQueryHasEvidenceAndGeneralOnesHaveNone) {
  auto dataset = load_bundled(named("mini-meetings"));
  ASSERT_FALSE(dataset->examples.empty());
  for (const Example& example : dataset->examples) {
    bool general = example.key.find("/g") != std::string::npos;
    EXPECT_EQ(example.evidence.empty(), general) << example.key;
  }
}

TEST(MiniMeetings, IdsArePinned) {
  EXPECT_EQ(load_bundled(named("mini-meetings"))->id.hex(),
            "6418739d463cc215e99d83d4b33f4b66d765db99138f24f01c775109c4e1003d");
  EXPECT_EQ(load_bundled(named("mini-meetings", {.view = "golden"}))->id.hex(),
            "9d067c5e0ff734a3f7b8eb333cc7b4cf3137773b216edc1df68c8b8751ef1432");
  EXPECT_EQ(load_bundled(named("mini-meetings", {.split = "train"}))->id.hex(),
            "a1e8ade86f10b75bd3107f9337589588e9ce20eb4eb57dab2f60a9eb2116a3c8");
  EXPECT_EQ(load_bundled(named("mini-meetings", {.text_form = "ideal"}))->id.hex(),
            "db6c7e80b566ecc7da02d70edd9b4e5d089d58d96189befcfecf5681c14cb734");
}

TEST(MiniMeetings, ExampleHashesArePinned) {
  auto dataset = load_bundled(named("mini-meetings"));
  ASSERT_EQ(dataset->example_hashes.size(), 40u);
  EXPECT_EQ(dataset->examples.front().key, "mm-02/g1");
  EXPECT_EQ(dataset->example_hashes.front(),
            "a017b9feb8b4aaba43f752a20fa8c2002a22a6c3af902eb7782ac07c2253978b");
  EXPECT_EQ(dataset->examples.back().key, "mm-16/s3");
  EXPECT_EQ(dataset->example_hashes.back(),
            "760c864487b0a5209d2b74f811e3614e2c37dd461e8160cfbef61c488e8cc89d");
}

}  // namespace
}  // namespace qfs::datasets

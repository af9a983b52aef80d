// A stored oracle is the one that would be searched for, and is not searched for again.
#include "methods/models/greedy_oracle/remembered_oracle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "harness/core/files.h"
#include "methods/models/greedy_oracle/dyle_oracle.h"
#include "tests/support/temporary_folder.h"

namespace qfs::greedy_oracle {
namespace {

using List = std::vector<size_t>;

class RememberedOracle : public ::testing::Test {
 protected:
  RememberedOracle() { ::setenv("QFS_CACHE_DIR", cache_.path().c_str(), 1); }

  List asked() const { return remembered_oracle(units_, reference_); }

  /// The only file of the store.
  std::string file() const {
    std::string path;
    for (const auto& entry : std::filesystem::directory_iterator(cache_ / "oracles")) {
      EXPECT_EQ(path, "");
      path = entry.path().string();
    }
    return path;
  }
  std::string key() const { return read_file(file())->substr(1, 64); }

  const test::TemporaryFolder cache_;
  std::vector<std::string> units_ = {"we begin", "a red hat", "no", "we buy"};
  std::string reference_ = "we buy a red hat";
};

TEST_F(RememberedOracle, is_that_of_the_search_and_is_stored) {
  const List searched = dyle_oracle(units_, reference_);
  EXPECT_EQ(searched, (List{1, 3}));
  EXPECT_EQ(asked(), searched);
  EXPECT_EQ(*read_file(file()), "\n" + key() + " 1 3 .\n");
  EXPECT_EQ(asked(), searched);
  EXPECT_EQ(*read_file(file()), "\n" + key() + " 1 3 .\n") << "once is enough";
}

TEST_F(RememberedOracle, is_read_and_not_searched_for) {
  asked();
  const std::string its = key();
  std::ofstream(file()) << "\n" << its << " 0 2 .\n";
  EXPECT_EQ(asked(), (List{0, 2}));
}

TEST_F(RememberedOracle, an_empty_list_is_a_list) {
  reference_ = "zzz";
  EXPECT_EQ(asked(), List());
  EXPECT_EQ(*read_file(file()), "\n" + key() + " .\n");
  EXPECT_EQ(asked(), List());
}

TEST_F(RememberedOracle, other_texts_are_other_keys) {
  asked();
  std::string before = key();
  for (const auto& change : std::vector<std::function<void()>>{
           [&] { units_[0] = "we begi"; }, [&] { std::swap(units_[0], units_[2]); },
           [&] { reference_ += " now"; }, [&] { units_[0] += "a", units_[1].erase(0, 1); },
           [&] { units_.back() += "\n"; }}) {
    std::filesystem::remove_all(cache_ / "oracles");
    change();
    EXPECT_EQ(asked(), dyle_oracle(units_, reference_));
    EXPECT_NE(key(), before);
    before = key();
  }
}

TEST_F(RememberedOracle, damaged_lines_cost_a_search_alone) {
  const List searched = asked();
  const std::string its = key();
  for (const std::string bad :
       {"", " 1 3", " 1", " 3 1 .", " 1 4 .", " 1 x .", " 1 99999999999 .", " -1 .", " 1 1 ."}) {
    std::ofstream(file()) << "\n" << its << bad;
    EXPECT_EQ(asked(), searched) << bad;
    EXPECT_THAT(*read_file(file()), ::testing::EndsWith("\n" + its + " 1 3 .\n")) << bad;
    EXPECT_EQ(asked(), searched) << bad;
  }
}

TEST_F(RememberedOracle, without_a_place_to_store_it_is_searched_for) {
  std::ofstream(cache_ / "oracles") << "a file where the folder would be";
  EXPECT_EQ(asked(), (List{1, 3}));
}

}  // namespace
}  // namespace qfs::greedy_oracle

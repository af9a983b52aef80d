// Stored cells: which are meant, which belong together, and what is said of those without partner.
#include "harness/compare/cells.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "harness/core/identity.h"

namespace qfs::compare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Cells whose id is made of their dimensions.
class StoredCells : public testing::Test {
 protected:
  const StoredCell* cell(Dimensions dimensions, const std::string& version = "1") {
    StoredCell& cell = cells_.emplace_back();
    std::string identity;
    for (const auto& [name, value] : dimensions) identity += "\"" + name + "\":\"" + value + "\",";
    cell.cell.identity = Json{"{" + identity + "\"version\":" + version + "}"};
    cell.cell.id = make_cell_id(cell.cell.identity);
    cell.dimensions = std::move(dimensions);
    return &cell;
  }
  Cells grid(const std::string& method, const std::string& revision) {
    return {cell({{"method", method}, {"local_context", "256"}, {"revision", revision}}),
            cell({{"method", method}, {"local_context", "512"}, {"revision", revision}})};
  }

 private:
  std::deque<StoredCell> cells_;
};

TEST_F(StoredCells, AreSelectedByConditionsOnTheirDimensions) {
  Cells cells = grid("lead", "r1");
  cells.push_back(cell({{"method", "bm25"}, {"local_context", "256"}}));
  EXPECT_THAT(*select_cells(cells, "", "local_context=256"), ElementsAre(0, 2));
  EXPECT_THAT(*select_cells(cells, "", "method=lead,local_context=512"), ElementsAre(1));
  EXPECT_THAT(*select_cells(cells, "", ""), ElementsAre(0, 1, 2));
  EXPECT_THAT(*select_cells(cells, cells[2]->cell.id.hex().substr(0, 12), ""), ElementsAre(2));
  EXPECT_THAT(*select_cells(cells, "ffffffffffff", ""), IsEmpty());
  EXPECT_THAT(select_cells(cells, "", "method=led").error().message, HasSubstr("method=led"));
  EXPECT_THAT(select_cells(cells, "", "methd=lead").error().message, HasSubstr("'method'"));
}

TEST_F(StoredCells, WithEqualIdsArePairs) {
  const Cells a = grid("lead", "r1");
  Cells b = grid("lead", "r1");
  b.push_back(cell({{"method", "bm25"}, {"local_context", "256"}}));
  const auto pairing = pair_cells({a[1]}, b, {});
  ASSERT_TRUE(pairing.ok());
  ASSERT_EQ(pairing->pairs.size(), 1U);
  EXPECT_EQ(pairing->pairs[0], std::pair(a[1], b[1]));
  EXPECT_THAT(pairing->only_b, ElementsAre(b[0], b[2]));
  EXPECT_THAT(pairing_advice(*pairing), IsEmpty()) << "nothing of A is left";
}

TEST_F(StoredCells, OfAnotherRevisionHaveNoPartnerUntilTheyArePairedByWhatIsEqual) {
  const Cells a = grid("endpoint", "r1");
  const Cells b = grid("endpoint", "r2");
  const auto by_id = pair_cells(a, b, {});
  ASSERT_TRUE(by_id.ok());
  EXPECT_THAT(by_id->pairs, IsEmpty());
  EXPECT_EQ(by_id->only_a, a);
  EXPECT_THAT(
      pairing_advice(*by_id),
      ElementsAre("the cells without a partner differ in revision (r1 → r2)",
                  "with --pair-by local_context,method 2 would be paired, whatever else differs"));
  const auto by = pair_cells(a, b, {"method", "local_context"});
  ASSERT_TRUE(by.ok());
  EXPECT_EQ(by->pairs, (decltype(by->pairs){{a[0], b[0]}, {a[1], b[1]}}));
}

TEST_F(StoredCells, OfAnotherVersionDifferInTheirIdentity) {
  const Cells a = {cell({{"method", "lead"}})};
  const Cells b = {cell({{"method", "lead"}}, "2")};
  EXPECT_THAT(pairing_advice(*pair_cells(a, b, {})),
              ElementsAre("the cells without a partner differ in 'version'",
                          "with --pair-by method 1 would be paired, whatever else differs"));
}

TEST_F(StoredCells, ThatAKeyDoesNotTellApartAreNamed) {
  const Cells a = grid("lead", "r1");
  const auto message = [&](const std::vector<std::string>& by) {
    return pair_cells(a, a, by).error().message;
  };
  EXPECT_THAT(message({"method"}), HasSubstr("2 cells of A have the same values"));
  EXPECT_THAT(message({"method"}), HasSubstr("lead local_context=256\n"));
  EXPECT_THAT(message({"method"}), HasSubstr("lead local_context=512"));
  EXPECT_THAT(message({"local_contxt"}), HasSubstr("'local_context'"));
}

// "lead" ran once and is shown for seeds 0 and 1; "random" ran for each.
TEST_F(StoredCells, ThatIsShownForSeveralSeedsHasAPartnerAtEach) {
  const StoredCell* const lead = cell({{"method", "lead"}, {"seed", "0"}});
  StoredCell again = *lead;
  again.dimensions["seed"] = "1";
  again.another_seed = true;
  const Cells a = {lead, &again};
  const Cells b = {cell({{"method", "random"}, {"seed", "0"}}),
                   cell({{"method", "random"}, {"seed", "1"}})};
  for (const auto& [first, second] : {std::pair(a, b), std::pair(b, a)}) {
    const auto pairing = pair_cells(first, second, {"seed"});
    ASSERT_TRUE(pairing.ok());
    EXPECT_EQ(pairing->pairs,
              (decltype(pairing->pairs){{first[0], second[0]}, {first[1], second[1]}}));
    EXPECT_THAT(pairing->only_b, IsEmpty());
  }
  const auto one = pair_cells(a, {b[1]}, {"seed"});
  EXPECT_EQ(one->pairs, (decltype(one->pairs){{a[1], b[1]}}));
  EXPECT_THAT(one->only_a, IsEmpty()) << "its result has a partner";
  EXPECT_EQ(pair_cells(a, a, {"seed"})->pairs.size(), 1U) << "the same two results";
  EXPECT_EQ(pair_cells(a, a, {})->pairs.size(), 1U);
  EXPECT_EQ(pair_cells(a, {lead}, {"method"})->pairs, (decltype(one->pairs){{a[0], lead}}));
  EXPECT_THAT(shown_once(a), ElementsAre(lead));
}

TEST_F(StoredCells, AreCalledByWhatTellsThemApart) {
  const Cells cells = grid("lead", "r1");
  const auto shown = telling_dimensions(cells);
  EXPECT_THAT(shown, ElementsAre("local_context"));
  EXPECT_EQ(cell_name(*cells[0], shown), "lead local_context=256");
  EXPECT_THAT(several_cells(cells).message, HasSubstr("2 cells match"));
}

}  // namespace
}  // namespace qfs::compare

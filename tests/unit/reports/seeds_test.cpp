// Mean and deviation over seeds: of two or more, of all or of none.
#include "reports/seeds.h"

#include <gtest/gtest.h>

#include "reports/format.h"

namespace qfs::reports {
namespace {

SeedCell seed(const std::string& name, double value) {
  TableCell cell;
  cell.status = CellStatus::ok;
  cell.value = value;
  cell.n = 12;
  cell.clusters = 12;
  cell.spread = Spread{value - 0.1, value + 0.1, SpreadKind::interval};
  cell.source.cell_id = "cell " + name;
  return {name, cell};
}

const TableValue kRouge{"rouge1.f", "rouge1.f × 100", ValueGroup::quality, 100, 2, 1};

TEST(OverSeeds, AreMeanAndSampleDeviation) {
  const std::vector<SeedCell> cells = {seed("0", 0.30), seed("1", 0.32), seed("7", 0.37)};
  const TableCell cell = over_seeds(cells);
  EXPECT_DOUBLE_EQ(cell.value, 0.33);
  EXPECT_NEAR(cell.deviation, 0.036055512754639894, 1e-15);  // statistics.stdev([.30, .32, .37])
  EXPECT_EQ(cell.n, 12);
  EXPECT_EQ(cell.seeds[2].source.cell_id, "cell 7");
  EXPECT_EQ(cell_text(kRouge, cell), "33.00 ± 3.61");
}

TEST(OverSeeds, OneSeedKeepsItsIntervalAndHasNoDeviation) {
  const std::vector<SeedCell> cells = {seed("0", 0.30)};
  EXPECT_EQ(cell_text(kRouge, over_seeds(cells)), "30.00 [20.0, 40.0]");
}

TEST(OverSeeds, NotesSayWhatNumbersAreMeansOf) {
  const std::vector<SeedCell> cells = {seed("0", 0.30), seed("1", 0.32)};
  Table table;
  EXPECT_TRUE(deviation_notes(table).empty());
  table.cells = {over_seeds(cells)};
  EXPECT_EQ(deviation_notes(table),
            std::vector<std::string>{"mean ± standard deviation (n − 1) of 2 seeds (0, 1); numbers "
                                     "without ± are of one"});
  table.against = Baseline{.method = "lead", .differences = true};
  EXPECT_EQ(deviation_notes(table),
            std::vector<std::string>{
                "where a method has several seeds, its mean of 2 seeds (0, 1) is compared"});
}

TEST(OverSeeds, NoMeanIsMadeOfTheSeedsThatWorked) {
  std::vector<SeedCell> cells = {seed("0", 0.30), seed("1", 0.32), seed("2", 0.34)};
  cells[1].cell = {};
  cells[1].cell.status = CellStatus::failed;
  cells[1].cell.detail = "signal 9";
  EXPECT_EQ(cell_text(kRouge, over_seeds(cells)), "failed (1 of 3 seeds)");
  cells[0].cell = cells[1].cell;
  cells[2].cell = cells[1].cell;
  EXPECT_EQ(cell_text(kRouge, over_seeds(cells)), "failed (signal 9)");
  for (SeedCell& cell : cells) cell.cell.status = CellStatus::oom;
  for (SeedCell& cell : cells) cell.cell.detail = "host";
  EXPECT_EQ(cell_text(kRouge, over_seeds(cells)), "OOM");
  cells[1] = seed("1", 0.3);
  EXPECT_EQ(cell_text(kRouge, over_seeds(cells)), "OOM (2 of 3 seeds)");
}

}  // namespace
}  // namespace qfs::reports

// RFC 4180 tables and the line each defect is reported at.
#include "datasets/readers/csv.h"

#include <gtest/gtest.h>

namespace qfs::datasets {
namespace {

using Cells = std::vector<std::string>;

CsvTable table_of(std::string_view text) {
  Result<CsvTable> table = parse_csv(text, "t.csv");
  EXPECT_TRUE(table.ok()) << (table ? "" : table.error().to_string());
  return table ? *table : CsvTable{};
}

Error error_of(std::string_view text) {
  Result<CsvTable> table = parse_csv(text, "t.csv");
  EXPECT_FALSE(table.ok());
  return table ? Error{} : table.error();
}

TEST(Csv, QuotedCellsHoldCommasQuotesAndLineEnds) {
  CsvTable table = table_of("a,b\r\n\"x, \"\"y\"\"\",\"1\n2\r\n3\"\r\n");
  EXPECT_EQ(table.header, (Cells{"a", "b"}));
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].cells, (Cells{"x, \"y\"", "1\n2\r\n3"}));
}

TEST(Csv, RowsKnowTheLineTheyBeginAt) {
  CsvTable table = table_of("a\n\"1\n2\"\n\n3");
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].line, 2);
  EXPECT_EQ(table.rows[1].line, 5);
}

TEST(Csv, EmptyCellsAndATrailingCommaCount) {
  EXPECT_EQ(table_of("a,b,c\n,,\n").rows[0].cells, (Cells{"", "", ""}));
}

TEST(Tsv, ALineOfTabsIsARowOfEmptyCells) {
  const auto table = parse_tsv("a\tb\r\n1\t2\n\t\r\n\n3\t4\n", "t.tsv", {});
  ASSERT_TRUE(table.ok());
  ASSERT_EQ(table->rows.size(), 3u);
  EXPECT_EQ(table->rows[1].cells, (Cells{"", ""}));
  EXPECT_EQ(table->rows[2].line, 5);
}

TEST(Csv, ByteOrderMarkIsDropped) {
  EXPECT_EQ(table_of("\xEF\xBB\xBF"
                     "a\n1\n")
                .header,
            (Cells{"a"}));
}

TEST(CsvErrors, WrongNumberOfCells) {
  Error error = error_of("a,b\n1,2\n1,2,3\n");
  EXPECT_EQ(error.where, "t.csv:3");
  EXPECT_EQ(error.message, "a row of 3 cells under a header of 2");
}

TEST(CsvErrors, UnclosedQuoteIsReportedWhereItOpens) {
  Error error = error_of("a\n1\n\"open\n\n");
  EXPECT_EQ(error.where, "t.csv:3");
  EXPECT_EQ(error.message, "a quoted cell is never closed");
}

TEST(CsvErrors, StrayQuoteAndTextBehindAQuote) {
  EXPECT_EQ(error_of("a\nx\"y\n").where, "t.csv:2");
  Error behind = error_of("a\n\"x\"y\n");
  EXPECT_EQ(behind.where, "t.csv:2");
  EXPECT_EQ(behind.message, "text after the closing quote of a cell");
}

TEST(CsvErrors, EmptyFileRepeatedColumnAndIllFormedUtf8) {
  EXPECT_EQ(error_of("\n").message, "an empty file; expected a header line");
  EXPECT_EQ(error_of("a,a\n").message, "column 'a' is in the header twice");
  EXPECT_EQ(error_of("a\nok\n\xFF\n").where, "t.csv:3");
}

}  // namespace
}  // namespace qfs::datasets

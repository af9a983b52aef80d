// Which numbers are bold, and which differences are significant.
#include "reports/marks.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/compare/comparison.h"
#include "reports/figures/figure.h"
#include "reports/figures/front.h"
#include "reports/format.h"
#include "reports/report.h"
#include "reports/writers/csv.h"
#include "reports/writers/json.h"
#include "reports/writers/markdown.h"
#include "tests/unit/reports/sample_sweep.h"
#include "tests/unit/store/sample_rows.h"

namespace qfs::reports {
namespace {

using test::SamplePlace;
using test::SampleSweep;
using test::value_of;

/// One column of numbers that may all be compared.
Table column_of(const std::vector<double>& numbers, Better better) {
  Table table;
  table.columns = {{}};
  table.values = {{"x", "x", ValueGroup::quality, 100, 2, 1, better}};
  for (const double number : numbers) {
    table.rows.push_back({{"row"}, false});
    TableCell& cell = table.cells.emplace_back();
    cell.status = CellStatus::ok;
    cell.value = number;
    cell.comparable = "same";
  }
  return table;
}

std::vector<bool> bold(Table table) {
  mark_best(table);
  std::vector<bool> marks;
  for (const TableCell& cell : table.cells) marks.push_back(cell.best);
  return marks;
}

TEST(Best, IsHighestOrLowestAsTheValueSays) {
  EXPECT_EQ(bold(column_of({0.1, 0.3, 0.2}, Better::higher)), (std::vector{false, true, false}));
  EXPECT_EQ(bold(column_of({0.1, 0.3, 0.2}, Better::lower)), (std::vector{true, false, false}));
  EXPECT_EQ(bold(column_of({0.1, 0.3, 0.2}, Better::neither)), (std::vector{false, false, false}));
  EXPECT_EQ(bold(column_of({0.1, 0.3, 0.2}, Better::unknown)), (std::vector{false, false, false}));
}

TEST(Best, IsFoundUnroundedAndSharedByWhatPrintsTheSame) {
  // 33.524 and 33.516 print 33.52; 33.5149 prints 33.51.
  EXPECT_EQ(bold(column_of({0.33516, 0.33524, 0.335149}, Better::higher)),
            (std::vector{true, true, false}));
  // The best prints 33.53 and stands alone, though the other is nearer to it than a digit.
  EXPECT_EQ(bold(column_of({0.335249, 0.335251}, Better::higher)), (std::vector{false, true}));
}

TEST(Best, IsNoneWhereAllPrintTheSameOrOneStandsAlone) {
  EXPECT_EQ(bold(column_of({0.2, 0.2}, Better::higher)), (std::vector{false, false}));
  EXPECT_EQ(bold(column_of({0.2}, Better::higher)), std::vector{false});
}

TEST(Best, IsNeverAnOracleNorOfOtherExamples) {
  Table table = column_of({0.9, 0.3, 0.2, 0.1}, Better::higher);
  table.cells[0].oracle = true;
  EXPECT_EQ(bold(table), (std::vector{false, true, false, false}));
  table.cells[2].comparable = table.cells[3].comparable = "other data";
  EXPECT_EQ(bold(table), (std::vector{false, false, true, false}));
  table.cells[2].comparable = table.cells[3].comparable = "";
  EXPECT_EQ(bold(table), (std::vector{false, false, false, false}));
}

SamplePlace scored(const std::string& method, double value, double wobble = 0) {
  SamplePlace place;
  place.method = method;
  place.scores = {{"rouge1.f", value, std::nullopt, wobble}};
  return place;
}

Result<Table> tested(const SampleSweep& sweep, const std::string& against) {
  store::Reader reader = sweep.reader();
  ReportRequest request;
  request.against = against;
  return build_table(reader, request);
}

TEST(Against, AConstantDifferenceOfTwelveDocumentsIsSignificantAndANoisyOneIsNot) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 12);
  sweep.add(scored("lead", 0.30));
  sweep.add(scored("bm25", 0.31));
  sweep.add(scored("textrank", 0.32, 0.2));
  sweep.finish("");
  const Table table = value_of(tested(sweep, "lead"));
  EXPECT_FALSE(table.cells[0].tested) << "the baseline itself";
  ASSERT_TRUE(table.cells[1].tested);
  EXPECT_NEAR(table.cells[1].tested->difference, 0.01, 1e-12);
  EXPECT_DOUBLE_EQ(table.cells[1].tested->p, 2.0 / 4096) << "exact: all signs equal, 2 of 2^12";
  EXPECT_DOUBLE_EQ(table.cells[1].tested->p_holm, 4.0 / 4096) << "the smaller of two tests";
  EXPECT_TRUE(table.cells[1].tested->significant);
  EXPECT_FALSE(table.cells[2].tested->significant);
  EXPECT_EQ(table.against->tests, 2);
}

TEST(Against, DifferencesStandInThePlaceOfScoresWhereTheyAreAskedFor) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 12);
  sweep.add(scored("ideal", 0.31));
  sweep.add(scored("lead", 0.30));
  sweep.add(scored("textrank", 0.33, 0.2));
  sweep.finish("");
  store::Reader reader = sweep.reader();
  ReportRequest request;
  request.against = "ideal";
  request.differences = true;
  const Table table = value_of(build_table(reader, request));
  EXPECT_EQ(table.rows[0].labels, std::vector<std::string>{"ideal"});
  EXPECT_EQ(table.rows[1].labels, std::vector<std::string>{"minus lead"});
  EXPECT_EQ(shown_text(table.values[0], table.cells[0]).number, "31.00");
  const CellText lead = shown_text(table.values[0], table.cells[1]);
  EXPECT_EQ(lead.number, "+1.00") << "the baseline minus the row";
  EXPECT_EQ(lead.behind, " [1.0, 1.0] (p 0.00098)") << "2 of 2^12 signs, two tests";
  EXPECT_TRUE(shown_text(table.values[0], table.cells[2]).number.starts_with("-"));
  for (const TableCell& cell : table.cells) EXPECT_FALSE(cell.best);
  const std::string markdown = write_markdown(table);
  EXPECT_NE(markdown.find("+1.00\\* [1.0, 1.0] (p 0.00098)"), std::string::npos) << markdown;
  EXPECT_NE(markdown.find("ideal minus that method on the same examples"), std::string::npos);
}

TEST(Against, ASignatureSaysHowTheIntervalsOfDifferencesWereMade) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 12);
  for (const auto& [method, value] : {std::pair{"ideal", 0.31}, {"lead", 0.30}}) {
    for (const uint64_t seed : {0U, 1U}) {
      SamplePlace place = scored(method, value);
      place.seed = seed;
      sweep.add(place);
    }
  }
  sweep.finish("");
  store::Reader reader = sweep.reader();
  ReportRequest request;
  EXPECT_TRUE(value_of(build_table(reader, request)).interval_methods.empty());
  request.against = "ideal";
  request.differences = true;
  const Table table = value_of(build_table(reader, request));
  EXPECT_EQ(table.interval_methods, std::vector{compare::interval_signature()});
}

TEST(Against, EveryWriterShowsTheDifferenceWithOneSign) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 12);
  for (const int size : {1, 2}) {
    for (const auto& [method, value] : {std::pair{"ideal", 0.31}, {"lead", 0.30}}) {
      SamplePlace place = scored(method, value * size);
      place.params = "{\"local_context\":" + std::to_string(size) + "}";
      sweep.add(place);
    }
  }
  sweep.finish(R"({"rows":["method"],"columns":["local_context"],"values":["rouge1.f"]})");
  store::Reader reader = sweep.reader();
  ReportRequest request;
  request.against = "ideal";
  request.differences = true;
  const Table table = value_of(build_table(reader, request));
  const std::string csv = write_csv(table);
  EXPECT_NE(csv.find("minus lead,1,false,rouge1.f,ok,,0.01"), std::string::npos) << csv;
  const auto json = nlohmann::json::parse(write_json(table));
  const auto& cell = json["rows"][1]["cells"][1]["values"]["rouge1.f"];
  EXPECT_EQ(json["rows"][1]["labels"]["method"], "minus lead");
  EXPECT_NEAR(cell["value"], 0.02, 1e-12);
  EXPECT_EQ(cell["value"], cell["tested"]["difference"]);
  const Figure figure = value_of(curves_of(table));
  ASSERT_EQ(figure.series.size(), 1U) << "no score beside differences";
  EXPECT_EQ(figure.series[0].name, "minus lead");
  EXPECT_NEAR(figure.panels[0].lines[0].points[1].y.value_or(0), 2, 1e-9);
  const Result<Front> front = fronts_of(table);
  ASSERT_FALSE(front);
  EXPECT_NE(front.error().message.find("--minus"), std::string::npos);
}

TEST(Against, ADifferenceIsNamedWhereTheMethodStandsAndHasNoSpeed) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 12);
  sweep.add(scored("ideal", 0.31));
  sweep.add(scored("lead", 0.30));
  sweep.finish(
      R"({"rows":["dataset"],"columns":["method"],"values":["rouge1.f","document_kept"]})");
  store::Reader reader = sweep.reader();
  ReportRequest request;
  request.against = "ideal";
  request.differences = true;
  const Table table = value_of(build_table(reader, request));
  EXPECT_EQ(table.columns[1].labels, std::vector<std::string>{"minus lead"});
  EXPECT_EQ(table.rows[0].labels[0].find("minus"), std::string::npos);
  EXPECT_EQ(shown_text(table.values[1], table.cell(0, 1, 1)).behind, "–");
}

TEST(Against, EachCellHasThePartnerWithItsParameters) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 12);
  for (const double size : {1, 2}) {
    SamplePlace lead = scored("lead", 0.1 * size);
    lead.params = "{\"local_context\":" + std::to_string(static_cast<int>(size)) + "}";
    sweep.add(lead);
    lead.method = "bm25";
    lead.scores[0].value += 0.01;
    sweep.add(lead);
  }
  sweep.add(scored("whole", 0.5));
  sweep.finish(R"({"rows":["method"],"columns":["local_context"],"values":["rouge1.f"]})");
  const Table table = value_of(tested(sweep, "lead"));
  for (const TableCell& cell : table.cells) {
    if (cell.tested) {
      EXPECT_NEAR(cell.tested->difference, 0.01, 1e-12);
    }
  }
  EXPECT_EQ(table.against->tests, 2);
  EXPECT_EQ(table.against->untested, 1) << "two rows of lead could be meant";
}

TEST(Against, SeedsAreTestedByEachExamplesMean) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 12);
  sweep.add(scored("lead", 0.30));
  for (uint64_t seed = 0; seed < 2; ++seed) {
    // Each seed is noisy, their mean is not.
    SamplePlace model = scored("lora", 0.34, seed == 0 ? 0.2 : -0.2);
    model.seed = seed;
    sweep.add(model);
  }
  sweep.finish("");
  const Table table = value_of(tested(sweep, "lead"));
  ASSERT_TRUE(table.cells[1].tested);
  EXPECT_NEAR(table.cells[1].tested->difference, 0.04, 1e-12);
  EXPECT_TRUE(table.cells[1].tested->significant);
}

TEST(Against, TooFewDocumentsAreSaid) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 4);
  sweep.add(scored("lead", 0.30));
  sweep.add(scored("bm25", 0.40));
  sweep.finish("");
  const Table table = value_of(tested(sweep, "lead"));
  EXPECT_FALSE(table.cells[1].tested->significant);
  EXPECT_TRUE(table.mark_notes[1].starts_with("no score differs from lead"))
      << "no mark to explain";
  EXPECT_NE(table.mark_notes.back().find("too few documents"), std::string::npos);
}

TEST(Against, AnUnknownMethodNamesTheNearest) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 12);
  sweep.add(scored("lead", 0.30));
  sweep.finish("");
  const Result<Table> table = tested(sweep, "laed");
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().kind, ErrorKind::not_found);
  EXPECT_NE(table.error().message.find("did you mean 'lead'?"), std::string::npos);
}

}  // namespace
}  // namespace qfs::reports

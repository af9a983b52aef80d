// What a table shows of a store, and what it refuses.
#include "reports/report.h"

#include <gtest/gtest.h>

#include "reports/format.h"
#include "reports/notes.h"
#include "reports/signature.h"
#include "tests/unit/reports/sample_sweep.h"
#include "tests/unit/store/sample_rows.h"

namespace qfs::reports {
namespace {

using test::SamplePlace;
using test::SampleSweep;
using test::value_of;

std::vector<test::SampleScore> one_score(double value) {
  return {{"rouge1.f", value, store::ScoreInterval{value, value}}};
}

Table table_of(const SampleSweep& sweep, const ReportRequest& request = {}) {
  store::Reader reader = sweep.reader();
  return value_of(build_table(reader, request));
}

Error error_of(const SampleSweep& sweep, const ReportRequest& request) {
  store::Reader reader = sweep.reader();
  const Result<Table> table = build_table(reader, request);
  return table ? Error{} : table.error();
}

SamplePlace scored_place(const std::string& method, double value) {
  SamplePlace place;
  place.method = method;
  place.scores = one_score(value);
  return place;
}

TEST(Report, SweepWithoutSettingsShowsFMeasuresByMethod) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 12);
  sweep.add(scored_place("lead", 0.25));
  sweep.finish("");
  const Table table = table_of(sweep);
  EXPECT_EQ(table.row_axes, std::vector<std::string>{"method"});
  ASSERT_EQ(table.values.size(), 1U);
  EXPECT_EQ(table.values[0].name, "rouge1.f");
  EXPECT_EQ(cell_text(table.values[0], table.cell(0, 0, 0)), "25.00 [25.0, 25.0]");
}

TEST(Report, AnAxisOfTheFileThatAFilterLeftNoCellOfIsNotShown) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 12);
  sweep.add(scored_place("lead", 0.25));
  sweep.finish(R"({"columns":["rank"],"rows":["method"],"values":["rouge1.f"]})");
  EXPECT_TRUE(table_of(sweep).column_axes.empty());
  ReportRequest request;
  request.columns = {"rank"};  // asked for by name
  EXPECT_EQ(error_of(sweep, request).kind, ErrorKind::invalid_argument);
}

TEST(Report, TwoDataSetsOfOneNameAreToldApart) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 12, "whole");
  sweep.add_dataset("demo", 12, "golden");
  SamplePlace place = scored_place("lead", 0.25);
  sweep.add(place);
  place.dataset = 1;
  sweep.add(place);
  sweep.finish("");
  const Table table = table_of(sweep);
  EXPECT_EQ(table.row_axes, (std::vector<std::string>{"method", "dataset"}));
  EXPECT_EQ(table.rows[0].labels[1], "demo/test/whole");
  EXPECT_EQ(table.rows[1].labels[1], "demo/test/golden");
}

TEST(Report, DevicePeakIsShownAndNamedWhereAllHaveOne) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 2);
  SamplePlace place = scored_place("model", 0.25);
  place.measured = true;
  place.timing = test::SampleTiming{.decode_ns = {},
                                    .decode_tokens = 0,
                                    .total_ns = {5, 5, 5},
                                    .host_bytes = {1, 1, 1},
                                    .device_bytes = {3 << 20, 3 << 20, 3 << 20}};
  sweep.add(place);
  sweep.finish(R"({"values":["peak_memory"]})");
  const Table table = table_of(sweep);
  EXPECT_EQ(table.values[0].title, "peak device memory (allocated), MiB");
  EXPECT_EQ(cell_text(table.values[0], table.cell(0, 0, 0)), "3 (3–3)");
}

TEST(Report, MemoryOfAHostIsNoCompetitorOfADevices) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 2);
  SamplePlace place = scored_place("lead", 0.25);
  place.measured = true;
  place.timing =
      test::SampleTiming{.total_ns = {5, 5, 5}, .host_bytes = {1 << 20, 1 << 20, 1 << 20}};
  sweep.add(place);
  place = scored_place("model", 0.25);
  place.measured = true;
  place.timing = test::SampleTiming{
      .total_ns = {5, 5, 5}, .host_bytes = {1, 1, 1}, .device_bytes = {3 << 20, 3 << 20, 3 << 20}};
  sweep.add(place);
  sweep.finish(R"({"values":["peak_memory","host_peak"]})");
  const Table table = table_of(sweep);
  EXPECT_FALSE(table.cell(0, 0, 0).best);
  EXPECT_FALSE(table.cell(1, 0, 0).best);
  EXPECT_TRUE(table.cell(1, 0, 1).best);
}

TEST(Report, MissingRepetitionsAreIncomplete) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 2);
  SamplePlace place = scored_place("lead", 0.25);
  place.measured = true;
  place.timing = test::SampleTiming{
      .decode_ns = {}, .decode_tokens = 0, .total_ns = {5}, .host_bytes = {1}, .device_bytes = {}};
  sweep.add(place);
  sweep.finish(R"({"values":["seconds_per_example"]})");
  const Table table = table_of(sweep);
  EXPECT_EQ(cell_text(table.values[0], table.cell(0, 0, 0)), "incomplete (1/3)");
}

TEST(Report, WhatFailedHasNoIncompleteTiming) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 2);
  SamplePlace place = scored_place("lead", 0.25);
  place.predictions = 1;
  place.failure = store::FailureKind::oom_host;
  place.measured = true;
  place.timing = test::SampleTiming{.total_ns = {5}, .host_bytes = {1}};
  sweep.add(place);
  sweep.finish(R"({"values":["seconds_per_example"]})");
  const Table table = table_of(sweep);
  EXPECT_EQ(cell_text(table.values[0], table.cell(0, 0, 0)), "OOM");
}

TEST(Report, OneRepetitionHasNoRange) {
  Table table;
  table.values = {{"host_peak", "MiB", ValueGroup::performance}};
  table.cells = {{.status = CellStatus::ok,
                  .value = 5,
                  .spread = Spread{5, 5, SpreadKind::repetitions},
                  .n = 1}};
  EXPECT_EQ(cell_text(table.values[0], table.cells[0]), "5.00");
  EXPECT_TRUE(table_notes(table).empty());
  table.cells[0].n = 3;
  EXPECT_EQ(table_notes(table).size(), 1U);
}

TEST(Report, APartialScoreIsNotShownAsAValue) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 12);
  SamplePlace place = scored_place("lead", 0.25);
  place.predictions = 5;
  sweep.add(place);
  sweep.finish("");
  const Table table = table_of(sweep);
  EXPECT_EQ(cell_text(table.values[0], table.cell(0, 0, 0)), "incomplete (5/12)");
}

std::string notes_of(const Table& table) {
  std::string text;
  for (const std::string& note : table.notes) text += note + "\n";
  return text;
}

TEST(Report, EmptyOutputsAreCountedInTheCellAndBelow) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 12);
  SamplePlace place = scored_place("silent", 0);
  place.empty = 12;
  sweep.add(place);
  place = scored_place("lead", 0.25);
  place.empty = 2;
  sweep.add(place);
  sweep.finish("");
  const Table table = table_of(sweep);
  EXPECT_EQ(table.cell(0, 0, 0).empty, 12);
  EXPECT_EQ(cell_text(table.values[0], table.cell(0, 0, 0)), "0.00 [0.0, 0.0] (12/12 empty)");
  EXPECT_EQ(cell_text(table.values[0], table.cell(1, 0, 0)), "25.00 [25.0, 25.0] (2/12 empty)");
  EXPECT_NE(notes_of(table).find("12 of 12 outputs are empty; its scores are those of empty texts"),
            std::string::npos);
  EXPECT_NE(notes_of(table).find("): 2 of 12 outputs are empty\n"), std::string::npos);
}

TEST(Report, AFactThatNoOutputSaysIsNamed) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 12);
  SamplePlace place = scored_place("lead", 0.25);
  place.extra = R"({"observed":{"norm":2}})";
  sweep.add(place);
  sweep.finish(R"({"rows":["method"],"values":["fact.norm","fact.nrom"]})");
  const std::string notes = notes_of(table_of(sweep));
  EXPECT_NE(notes.find("no output here says 'nrom'\n"), std::string::npos) << notes;
  EXPECT_EQ(notes.find("'norm'"), std::string::npos) << notes;
}

TEST(Report, WhatOutputsWarnOfIsSaidBelow) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 12);
  SamplePlace place = scored_place("cursed", 0.5);
  place.extra = R"({"observed":{"norm":2,"warning.dead_pen":1}})";
  sweep.add(place);
  sweep.add(scored_place("lead", 0.25));
  sweep.finish("");
  const std::string notes = notes_of(table_of(sweep));
  EXPECT_NE(notes.find("): its training warns of a dead pen\n"), std::string::npos) << notes;
  EXPECT_EQ(notes.find("lead (cell"), std::string::npos) << notes;
}

TEST(Report, WhoHasNoLocalContextIsNamedAlsoWhereItIsNoAxis) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 12);
  SamplePlace place = scored_place("lead", 0.25);
  place.params = R"({"local_context":128})";
  sweep.add(place);
  sweep.add(scored_place("mine", 0.5));
  sweep.add(scored_place("imported", 0.5));
  SamplePlace cut = scored_place("whole_cut", 0.5);
  cut.params = R"({"total_tokens":300})";
  sweep.add(cut);
  sweep.finish("");
  EXPECT_EQ(notes_of(table_of(sweep)),
            "mine has no local_context: whole documents are read\n"
            "imported has no local_context: how much of the documents was read is not known\n");
}

TEST(Report, DocumentsAreAsLongAsBeforeTheyWereCut) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 12);
  SamplePlace place = scored_place("lead", 0.25);
  place.kept = 0.5;
  sweep.add(place);
  sweep.finish(
      R"({"rows":["method"],"columns":["values"],"values":["document_tokens","document_kept"]})");
  const Table table = table_of(sweep);
  EXPECT_EQ(cell_text(table.values[0], table.cell(0, 0, 0)), "100.0");
  EXPECT_EQ(cell_text(table.values[1], table.cell(0, 0, 1)), "50.0");
}

TEST(Report, ProfilesAreNamed) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 12);
  for (const char* profile : {"paper", "released"}) {
    SamplePlace place = scored_place(std::string("dyle, ") + profile, 0.25);
    place.params = std::string(R"({"profile":")") + profile + R"("})";
    sweep.add(place);
  }
  sweep.add(scored_place("lead", 0.5));
  sweep.finish("");
  EXPECT_EQ(notes_of(table_of(sweep)),
            "profile of dyle, paper: paper\nprofile of dyle, released: released\n");
  ReportRequest request;
  request.rows = {"method", "profile"};
  EXPECT_EQ(notes_of(table_of(sweep, request)).find("profile of"), std::string::npos);
}

TEST(Report, OnlyTheChosenPlacesAreShown) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 12);
  sweep.add(scored_place("lead", 0.25));
  sweep.add(scored_place("bm25", 0.5));
  sweep.finish("");
  ReportRequest request;
  request.positions = std::vector<size_t>{1};
  request.selection = "method=bm25";
  const Table table = table_of(sweep, request);
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0].labels[0], "bm25");
  EXPECT_EQ(notes_of(table), "1 of 2 cells: method=bm25\n");
}

TEST(Report, OfTwoStoredVersionsTheCallersIsShown) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 12);
  SamplePlace place = scored_place("lead", 0.25);
  place.signature = "rouge|v:1";
  sweep.add(place);
  sweep.finish("");
  {
    store::Reader reader = sweep.reader();
    const auto used = value_of(reader.results_of_sweep(sweep.id()));
    const auto stored = value_of(reader.scores(used[0].result.id));
    store::ScoreJob newer;
    newer.id = make_score_id(Json{R"({"signature":"rouge|v:2"})"});
    newer.result = used[0].result.id;
    newer.metric = "rouge";
    newer.signature = "rouge|v:2";
    newer.columns = {"rouge1.f"};
    newer.scores = {{"rouge1.f", 0.75, std::nullopt}};
    newer.clusters = 12;
    newer.statistics = value_of(reader.statistics(stored[0].id));
    test::check(sweep.store().put_scores(newer));
  }
  const Error ambiguous = error_of(sweep, {});
  EXPECT_EQ(ambiguous.kind, ErrorKind::invalid_argument);
  EXPECT_NE(ambiguous.message.find("rouge|v:2"), std::string::npos) << ambiguous.message;

  ReportRequest request;
  request.metrics = {{"rouge", "rouge|v:2"}};
  EXPECT_DOUBLE_EQ(table_of(sweep, request).cell(0, 0, 0).value, 0.75);
  request.metrics = {{"rouge", "rouge|v:1"}};
  EXPECT_DOUBLE_EQ(table_of(sweep, request).cell(0, 0, 0).value, 0.25);
}

TEST(Report, AMisspeltValueNamesTheNearest) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 12);
  sweep.add(scored_place("lead", 0.25));
  sweep.finish("");
  ReportRequest request;
  request.values = std::vector<std::string>{"rouge1.g"};
  const Error error = error_of(sweep, request);
  EXPECT_EQ(error.kind, ErrorKind::not_found);
  EXPECT_NE(error.message.find("did you mean 'rouge1.f'?"), std::string::npos) << error.message;
}

TEST(Report, AnUnknownSweepNamesTheNearest) {
  SampleSweep sweep("local_context");
  sweep.add_dataset("demo", 12);
  sweep.add(scored_place("lead", 0.25));
  sweep.finish("");
  ReportRequest request;
  request.sweep = "local_contex";
  const Error error = error_of(sweep, request);
  EXPECT_EQ(error.kind, ErrorKind::not_found);
  EXPECT_NE(error.message.find("did you mean 'local_context'?"), std::string::npos);
  request.sweep = sweep.id().hex().substr(0, 10);
  EXPECT_EQ(table_of(sweep, request).sweep_id, sweep.id().hex());
}

TEST(IntervalWords, SayWhatABootstrapDid) {
  EXPECT_EQ(interval_words("bootstrap|method:percentile|unit:cluster|n:1000|seed:7|level:0.9|v:1"),
            "cluster bootstrap by document, 90 %, 1000 resamples, seed 7");
  EXPECT_EQ(interval_words("bootstrap|unit:cluster|order:sha256|n:1000|seed:7|level:0.9|v:2"),
            "cluster bootstrap by document, 90 %, 1000 resamples, seed 7, v2");
  EXPECT_EQ(interval_words("something else"), "something else");
}

}  // namespace
}  // namespace qfs::reports

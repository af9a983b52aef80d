// Committed baselines: what is written is read again, in the same bytes, and mistakes are named.
#include "harness/gate/baseline.h"

#include <gtest/gtest.h>

#include <functional>

#include "harness/gate/gate.h"

namespace qfs::gate {
namespace {

using compare::ScoredRow;
using compare::StoredCell;

std::string hex(char digit) { return std::string(64, digit); }

/// Two examples a cell.
class Source : public compare::CellSource {
 public:
  Result<std::vector<ScoredRow>> rows(const StoredCell&, const store::ScoreJobRow&) override {
    return std::vector<ScoredRow>{{0, "first \"quoted\"", "doc", false, {0.1, 1.0 / 3}},
                                  {7, "second\n", "doc", true, {0, -1e-9}}};
  }
  Result<std::vector<double>> noise(const StoredCell&, const store::ScoreJobRow&) override {
    return std::vector<double>{0.001, 0};
  }
  Result<compare::Measured> measured(const StoredCell&) override {
    return compare::Measured{{{"peak_memory", {2, 1, 3, 3}}}, R"({"cores":2})"};
  }
  Result<compare::MadeAt> made(const StoredCell&) override {
    return compare::MadeAt{"2026-01-01T00:00:00.000Z", "2026-01-01T00:01:00.000Z"};
  }
  std::string last_message(const StoredCell&) override { return {}; }
};

StoredCell cell_of(char id, bool live = false) {
  StoredCell cell;
  cell.cell.id = CellId(hex(id));
  cell.cell.method = "lead";
  cell.cell.identity = Json{live ? R"({"sweep":{"name":"s"}})" : "{}"};
  cell.cell.dataset = DatasetId(hex('d'));
  cell.dataset = "mini";
  cell.dimensions = {{"method", "lead"}, {"local_context", std::string(1, id)}};
  cell.predict.emplace();
  cell.predict->status = store::Completeness::complete;
  store::ScoreJobRow& job = cell.scores.emplace_back();
  job.metric = "rouge";
  job.signature = "rouge|v:1";
  job.postprocess = Json{"[]"};
  job.columns = {"rouge1.f", "other"};
  job.scores = {{"rouge1.f", 0.05, {}}, {"other", 1.0 / 6, {}}};
  job.n = job.expected = 2;
  job.clusters = 1;
  return cell;
}

BaselineContents written(const compare::Cells& cells, compare::CellSource& source, bool measured) {
  const auto contents = write_baseline({"x.sqlite", &source, cells, false},
                                       {"main", "sweep", {"rouge"}, {"rouge1.f"}}, measured);
  EXPECT_TRUE(contents.ok());
  return *contents;
}

TEST(Baseline, IsReadAsItWasWritten) {
  Source source;
  const StoredCell first = cell_of('a');
  const StoredCell second = cell_of('b', true);
  StoredCell again = cell_of('a');
  again.another_seed = true;
  const compare::Cells cells = {&first, &second, &again};
  const std::string text = written(cells, source, true).text;
  auto baseline = Baseline::decode(text, "main.jsonl");
  ASSERT_TRUE(baseline.ok()) << baseline.error().to_string();
  EXPECT_EQ(baseline->info().name, "main");
  EXPECT_EQ(baseline->info().metrics, std::vector<std::string>{"rouge"});
  EXPECT_EQ(baseline->info().shown, std::vector<std::string>{"rouge1.f"});
  const compare::Cells found = baseline->cells();
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[1]->dimensions.at("local_context"), "b");
  EXPECT_EQ(found[0]->dimensions.at("cell"), "aaaaaaaaaaaa");
  const store::ScoreJobRow& job = found[0]->scores.at(0);
  EXPECT_EQ(job.columns, first.scores[0].columns);
  EXPECT_EQ(job.n, 2);
  const auto rows = *baseline->rows(*found[0], job);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].key, "first \"quoted\"");
  EXPECT_EQ(rows[0].values, (Statistics{0.1, 1.0 / 3}));
  EXPECT_TRUE(rows[1].empty);
  EXPECT_EQ(rows[1].ordinal, 7);
  EXPECT_EQ((*baseline->noise(*found[0], job))[0], 0.001);
  EXPECT_EQ(baseline->measured(*found[0])->values.at("peak_memory").high, 3);
  EXPECT_EQ(baseline->made(*found[1])->last, "2026-01-01T00:01:00.000Z");
  EXPECT_EQ(baseline->made(*found[0])->last, "") << "only of live cells";
  EXPECT_TRUE(is_live(found[1]->cell));
  EXPECT_FALSE(is_live(found[0]->cell));
  // A result that is shown for another seed is there once.
  EXPECT_EQ(found[2]->scores.size(), 1U);
  EXPECT_EQ(baseline->rows(*found[2], found[2]->scores[0])->size(), 2U);
  // A baseline is a source like any other, so it can be written again.
  EXPECT_EQ(written({&first, &second}, source, false).text,
            written({found[0], found[1]}, *baseline, false).text);
}

TEST(Baseline, LeavesOutCellsWithoutWholeScores) {
  Source source;
  StoredCell part = cell_of('a');
  part.scores[0].n = 1;
  StoredCell absent = cell_of('b');
  absent.predict.reset();
  const BaselineContents contents = written({&part, &absent}, source, false);
  EXPECT_EQ(contents.cells, 0U);
  ASSERT_EQ(contents.left_out.size(), 2U);
  EXPECT_EQ(contents.left_out[0].reason, "scored in part");
  EXPECT_EQ(contents.left_out[1].reason, "not run");
}

TEST(Baseline, MistakesAreNamedWithTheirLine) {
  Source source;
  const StoredCell cell = cell_of('a', true);
  const std::string good = written({&cell}, source, true).text;
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  const struct {
    std::string text;
    std::string where;
  } cases[] = {
      {"", ""},
      {replaced("baseline/2", "baseline/1"), "f.jsonl:1#/schema"},
      {replaced(hex('a'), "aa"), "f.jsonl:2#/cell"},
      {replaced("\"example\":7", "\"example\":0"), "f.jsonl:5#"},
      {replaced("\"values\":[0.1,", "\"values\":["), "f.jsonl:4#/values"},
      {replaced("\"key\"", "\"kye\""), "f.jsonl:4#/kye"},
      {replaced("\"empty\":true,", "\"empty\":1,"), "f.jsonl:5#/empty"},
      {good.substr(0, good.size() - 4), "f.jsonl:6:"},
      {replaced("\"values\":[0.1", "\"values\":[1e999"), "f.jsonl:4:"},
      {good + good.substr(good.find("{\"clusters\"")), "f.jsonl:7#"},
      {replaced("\"values\":[0.1,", "\"values\":[0.2,"), "f.jsonl:6#/sha256"},
      {replaced("\"cluster\":\"", "\"cluster\":\"x"), "f.jsonl:6#/sha256"},
      {good.substr(0, good.rfind("{\"sha256\"")), "f.jsonl"},
      {replaced("\"2026-01-01T00:01", "\"on Thursday"), "f.jsonl:2#/made/1"},
      {replaced("[2.0,1.0,3.0,3]", "[2.0,0.0,3.0,3]"), "f.jsonl:2#/measured/values/peak_memory"},
      {replaced("[2.0,1.0,3.0,3]", "[2.0,1.0,1.5,3]"), "f.jsonl:2#/measured/values/peak_memory"},
      {replaced("[2.0,1.0,3.0,3]", "[2.0,1.0,3.0,1e300]"),
       "f.jsonl:2#/measured/values/peak_memory"},
      // Lines that are lost: an example, a cell.
      {good.substr(0, good.rfind("{\"cluster\"")), "f.jsonl:3"},
      {good.substr(0, good.find('\n') + 1), "f.jsonl"},
  };
  for (const auto& one : cases) {
    const auto baseline = Baseline::decode(one.text, "f.jsonl");
    ASSERT_FALSE(baseline.ok()) << one.where;
    EXPECT_EQ(baseline.error().kind, ErrorKind::data) << one.where;
    EXPECT_TRUE(baseline.error().where.starts_with(one.where)) << baseline.error().to_string();
  }
}

}  // namespace
}  // namespace qfs::gate

// Cells of stores against each other: pairs of scores, and everything that is left out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "harness/api/metric_entry.h"
#include "harness/compare/compare_stores.h"
#include "harness/compare/paired.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/store/sample_rows.h"

namespace qfs::test {
namespace {

using compare::Outcome;
using compare::Request;
using compare::StoredCell;
using compare::StoredSide;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// No metric is known.
class NoMetrics : public MetricCatalog {
 public:
  std::vector<MetricInfo> list() const override { return {}; }
  Result<std::shared_ptr<const Metric>> make(std::string_view name) const override {
    return not_found("unknown metric " + std::string(name));
  }
};

/// A store with cells over one data set of twenty examples in ten documents.
class Stored {
 public:
  Stored(const TemporaryFolder& folder, const std::string& name)
      : name_(name), store_(value_of(store::Store::open(folder / name))) {
    check(store_.put_dataset(dataset_));
  }

  /// A complete cell; example i is scored `score`, of examples `first` to 19.
  StoredCell& add(const std::string& method, double score, int64_t first = 0) {
    StoredCell& cell = add_cell(method);
    const OpenResult open = open_result(store_, cell.cell);
    std::vector<store::OutputRow> outputs = sample_outputs(first, 19);
    for (auto& output : outputs) {
      if (score == 0) output.prediction.text.clear();
    }
    value_of(store_.commit_outputs(open.result, open.attempt, outputs));
    store::ScoreJob job;
    job.id = make_score_id(Json{"{\"cell\":\"" + method + "\"}"});
    job.result = open.result;
    job.metric = metric;
    job.signature = metric + "@1";
    job.columns = {metric + ".f"};
    for (int64_t i = first; i < 20; ++i) {
      job.statistics.push_back(
          {i, "", {score == 0 ? 0 : score + 0.01 * static_cast<double>(i % 3)}});
    }
    double sum = 0;
    for (const auto& row : job.statistics) sum += row.values[0];
    job.scores = {{job.columns[0], sum / static_cast<double>(job.statistics.size()), {}}};
    check(store_.put_scores(job));
    refresh(cell);
    return cell;
  }

  /// Another result of the same cell, computed on another device, that scores `score` as a whole.
  void add_elsewhere(const StoredCell& cell, double score) {
    store::EnvironmentRow other = sample_environment("cuda");
    const auto environment = value_of(store_.put_environment(other));
    const auto result = value_of(
        store_.ensure_result({cell.cell.id, other.numerics_id, store::ResultKind::predict}, {}));
    const auto attempt = value_of(
        store_.begin_attempt({.result = result, .environment = environment, .worker = "driver"}));
    value_of(store_.commit_outputs(result, attempt, sample_outputs(0, 19)));
    store::ScoreJob job;
    job.id = make_score_id(Json{R"({"cell":"elsewhere"})"});
    job.result = result;
    job.metric = metric;
    job.signature = metric + "@1";
    job.columns = {metric + ".f"};
    for (int64_t i = 0; i < 20; ++i) job.statistics.push_back({i, "", {score}});
    job.scores = {{job.columns[0], score, {}}};
    check(store_.put_scores(job));
  }

  /// A cell whose run ended without a prediction.
  StoredCell& add_ended(const std::string& method, const store::AttemptEnd& end) {
    StoredCell& cell = add_cell(method);
    const OpenResult open = open_result(store_, cell.cell);
    check(store_.end_attempt(open.attempt, end));
    refresh(cell);
    return cell;
  }

  StoredSide side() {
    compare::Cells cells;
    for (const StoredCell& cell : cells_) cells.push_back(&cell);
    return {name_, &source_, cells, false};
  }
  compare::ScoredResult result(const StoredCell& cell) {
    return {cell.scores.at(0), value_of(source_.rows(cell, cell.scores.at(0)))};
  }

  std::string metric = "rouge";

 private:
  StoredCell& add_cell(const std::string& method) {
    StoredCell& cell = cells_.emplace_back();
    cell.cell = sample_cell(dataset_, method);
    cell.dimensions = {{"method", method}, {"dataset", "sample"}};
    check(store_.put_cell(cell.cell));
    return cell;
  }
  void refresh(StoredCell& cell) {
    cell.predict = value_of(reader_.results(cell.cell.id)).at(0);
    cell.scores = value_of(reader_.scores(cell.predict->id));
  }

  std::string name_;
  Dataset dataset_ = sample_dataset(20);
  store::Store store_;
  store::Reader reader_ = value_of(store::Reader::open(store_.path()));
  compare::StoreCells source_{reader_};
  std::deque<StoredCell> cells_;
};

class CompareStores : public testing::Test {
 protected:
  Outcome outcome(const Request& request = {}) {
    return value_of(compare::compare_stores(a_.side(), b_.side(), request, NoMetrics(), {}));
  }
  std::vector<std::string> reasons(const Outcome& outcome) {
    std::vector<std::string> list;
    for (const auto& cell : outcome.missing) list.push_back(cell.name + ": " + cell.reason);
    return list;
  }

  TemporaryFolder folder_;
  Stored a_{folder_, "a.sqlite"};
  Stored b_{folder_, "b.sqlite"};
};

TEST_F(CompareStores, CellsWithEqualIdsAreCompared) {
  a_.add("lead", 0.5);
  b_.add("lead", 0.4);
  b_.add("bm25", 0.4);
  const Outcome found = outcome();
  ASSERT_EQ(found.comparisons.size(), 1U);
  EXPECT_NEAR(found.comparisons[0].columns[0].difference.difference, -0.1, 1e-12);
  EXPECT_EQ(found.comparisons[0].a, "lead (a.sqlite)");
  EXPECT_TRUE(found.complete());
  ASSERT_EQ(found.only_b.size(), 1U);
  EXPECT_EQ(found.only_b[0].name, "bm25");
}

TEST_F(CompareStores, ACellWithoutPartnerIsListed) {
  a_.add("lead", 0.5);
  a_.add("bm25", 0.5);
  b_.add("lead", 0.5);
  EXPECT_THAT(reasons(outcome()), ElementsAre("bm25: no such cell in B"));
  EXPECT_FALSE(outcome().complete());
}

TEST_F(CompareStores, ACellWithoutPredictionsIsListedWithTheReason) {
  a_.add("lead", 0.5);
  a_.add("bm25", 0.5);
  b_.add_ended("lead",
               {store::AttemptState::failed, store::FailureKind::method_error, "no answer"});
  b_.add_ended("bm25", {store::AttemptState::cancelled, store::FailureKind::none, "HTTP 501"});
  const Outcome found = outcome();
  EXPECT_THAT(reasons(found), ElementsAre("lead: B: failed (method_error): no answer",
                                          "bm25: B: 0 of 20 predictions: HTTP 501"));
  EXPECT_THAT(found.comparisons, IsEmpty());
  EXPECT_FALSE(found.complete());
}

TEST_F(CompareStores, AScoreByAnotherMetricIsNone) {
  a_.add("lead", 0.5);
  b_.metric = "bleu";
  b_.add("lead", 0.5);
  const Outcome found = outcome();
  ASSERT_EQ(found.missing.size(), 1U);
  EXPECT_THAT(found.missing[0].reason, HasSubstr("no score of both by the same metric"));
  EXPECT_TRUE(found.lost_metric);
  EXPECT_EQ(found.metrics.size(), 2U);
}

TEST_F(CompareStores, AnotherMethodIsAPairOnlyWhenPairedByWhatIsEqual) {
  a_.add("r1", 0.5);
  b_.add("r2", 0.2);
  const Outcome by_id = outcome();
  EXPECT_THAT(by_id.comparisons, IsEmpty());
  EXPECT_EQ(by_id.missing.size(), 1U);
  EXPECT_FALSE(by_id.advice.empty());
  Request request;
  request.pair_by = {"dataset"};
  request.margins["rouge.f"] = {compare::Rule::max_drop, 0.01};
  const Outcome by_dataset = outcome(request);
  EXPECT_TRUE(by_dataset.complete());
  EXPECT_TRUE(by_dataset.any(compare::Verdict::worse));
  EXPECT_EQ(by_dataset.comparisons[0].differences.size(), 1U) << "the method";
}

TEST_F(CompareStores, EmptyOutputsAreCounted) {
  a_.add("lead", 0.5);
  b_.add("lead", 0);
  EXPECT_EQ(outcome().comparisons[0].empty_a, 0);
  EXPECT_EQ(outcome().comparisons[0].empty_b, 20);
}

TEST_F(CompareStores, AColumnThatNoScoreHasIsAnError) {
  a_.add("lead", 0.5);
  b_.add("lead", 0.5);
  Request request;
  request.columns = {"rouge9.f"};
  const auto found = compare::compare_stores(a_.side(), b_.side(), request, NoMetrics(), {});
  EXPECT_EQ(found.error().kind, ErrorKind::not_found);
}

TEST_F(CompareStores, WhatNumericsAloneChangeIsTheLeastMargin) {
  const StoredCell& cell = a_.add("lead", 0.5);  // 0.5095 as a whole
  b_.add("lead", 0.5);
  a_.add_elsewhere(cell, 0.4895);
  Request request;
  request.margins["rouge.f"] = {compare::Rule::max_drop, 0.001};
  const auto margin = [&] { return outcome(request).comparisons[0].columns[0].decision->margin; };
  EXPECT_EQ(margin().size, 0.001);
  request.noise_floor = true;
  EXPECT_NEAR(margin().size, 0.02, 1e-9);
  EXPECT_NEAR(margin().noise, 0.02, 1e-9);
  request.margins["rouge.f"].size = 0.05;
  EXPECT_EQ(margin().size, 0.05) << "a larger margin stays";
}

TEST_F(CompareStores, AScoreWithOtherColumnsUnderItsSignatureIsNotCompared) {
  a_.add("lead", 0.5);
  StoredCell& other = b_.add("lead", 0.5);
  other.scores[0].columns.push_back("more");
  EXPECT_THAT(reasons(outcome()), ElementsAre("lead: the score by 'rouge' has other columns in B"));
}

TEST_F(CompareStores, ExamplesOfBothAreAlignedAndTheOthersAreNamed) {
  const StoredCell& a = a_.add("lead", 0.5);
  const StoredCell& b = b_.add("lead", 0.25, 3);
  const auto paired = paired_statistics(a_.result(a), b_.result(b));
  EXPECT_EQ(paired.ordinals.size(), 17U);
  EXPECT_EQ(paired.ordinals[0], 3);
  EXPECT_EQ(paired.clusters[0], "document-1");
  EXPECT_EQ(paired.first[0], Statistics{0.5});
  EXPECT_EQ(paired.second[0], Statistics{0.25});
  EXPECT_THAT(paired.only_first, ElementsAre("example-0", "example-1", "example-2"));
  EXPECT_THAT(paired.only_second, IsEmpty());
}

}  // namespace
}  // namespace qfs::test

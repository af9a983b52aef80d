// Scoring stored predictions: what is measured, what is kept, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/core/sha256.h"
#include "harness/score/score.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/store/sample_rows.h"

namespace qfs::test {
namespace {

using score::ScoreAction;
using score::Scorer;
using store::Reader;
using store::Store;

/// Bytes of candidate and first reference; fails for a candidate that holds "broken".
class Length : public Metric {
 public:
  std::string_view name() const override { return "length"; }
  std::string_view doc() const override { return "bytes"; }
  std::vector<std::string> columns() const override {
    return {"length.candidate", "length.reference"};
  }
  std::string signature() const override { return signature_; }
  MetricNeeds needs() const override { return needs_; }
  Result<std::vector<Statistics>> measure(std::span<const ScoreItem> items) const override {
    ++measured;
    std::vector<Statistics> rows;
    for (const ScoreItem& item : items) {
      if (item.candidate.find("broken") != std::string::npos) return data_error("cannot be scored");
      const std::string& other = item.document ? *item.document : item.references.at(0);
      rows.push_back(
          {static_cast<double>(item.candidate.size()), static_cast<double>(other.size())});
    }
    if (drop_a_row_) rows.pop_back();
    return rows;
  }

  std::string_view note(const ScoreItem& item) const override {
    return item.id > 0 ? "the length is not meant" : "";
  }

  std::string signature_ = "length@1";
  MetricNeeds needs_;
  bool drop_a_row_ = false;
  mutable int measured = 0;
};

class Scoring : public testing::Test {
 protected:
  explicit Scoring(int64_t examples = 4) : dataset_(sample_dataset(examples)) {}

  void predict(int64_t first, int64_t last) {
    value_of(store_.commit_outputs(open_.result, open_.attempt, sample_outputs(first, last)));
  }

  TemporaryFolder folder_;
  Store store_ = value_of(Store::open(folder_ / "run.sqlite"));
  Dataset dataset_;
  OpenResult open_ = open_sample(store_, dataset_, sample_cell(dataset_));
  Reader reader_ = value_of(Reader::open(store_.path()));
  Scorer scorer_{store_, reader_};
  Length length_;
};

/// Two examples a document, of which an interval needs ten.
class ScoringTenDocuments : public Scoring {
 protected:
  ScoringTenDocuments() : Scoring(20) { predict(0, 19); }
};

TEST_F(ScoringTenDocuments, ACompleteResultGetsStatisticsMeansAndIntervals) {
  const score::BootstrapIntervals bootstrap(100);
  const auto outcome = value_of(scorer_.score(open_.result, length_, {.intervals = &bootstrap}));
  EXPECT_EQ(outcome.action, ScoreAction::scored);
  EXPECT_EQ(outcome.n, 20);
  const auto job = *value_of(reader_.score(outcome.id));
  const auto rows = value_of(reader_.statistics(outcome.id));
  ASSERT_EQ(rows.size(), 20U);
  EXPECT_EQ(rows[2].processed_sha256, "") << "the output itself was scored";

  std::vector<Statistics> statistics;
  std::vector<std::string> documents;
  for (const store::StatisticRow& row : rows) {
    statistics.push_back(row.values);
    documents.push_back(dataset_.examples[static_cast<size_t>(row.ordinal)].document_id);
  }
  const auto intervals = value_of(bootstrap.estimate(length_, statistics, documents));
  // "They talked about item N." is 25 bytes, of items from 10 on 26, and so is the reference.
  EXPECT_EQ(job.scores,
            (std::vector<store::ScoreRow>{{"length.candidate", 25.5, intervals.columns[0]},
                                          {"length.reference", 25.5, intervals.columns[1]}}));
  ASSERT_TRUE(job.scores[0].interval.has_value());
  EXPECT_LT(job.scores[0].interval->low, 25.5);
  EXPECT_GT(job.scores[0].interval->high, 25.5);
  EXPECT_EQ(job.clusters, 10);
  EXPECT_EQ(job.interval_method, bootstrap.method());
  EXPECT_EQ(job.metric, "length");
}

TEST_F(Scoring, OfTooFewDocumentsThereIsNoInterval) {
  predict(0, 3);
  const score::BootstrapIntervals bootstrap(100);
  const auto outcome = value_of(scorer_.score(open_.result, length_, {.intervals = &bootstrap}));
  const auto job = *value_of(reader_.score(outcome.id));
  EXPECT_EQ(job.scores, (std::vector<store::ScoreRow>{{"length.candidate", 25, {}},
                                                      {"length.reference", 25, {}}}));
  EXPECT_EQ(job.clusters, 2);
  EXPECT_EQ(job.interval_method, bootstrap.method());
}

TEST_F(Scoring, AChainMakesAnotherScoreAndKeepsTheRawOutput) {
  predict(0, 3);
  const std::vector<std::string> steps = {"replace:pattern=item 2,with=X"};
  const Postprocess chain = value_of(Postprocess::parse(steps));
  const auto raw = value_of(scorer_.score(open_.result, length_));
  const auto outcome = value_of(scorer_.score(open_.result, length_, {.postprocess = &chain}));
  EXPECT_EQ(outcome.action, ScoreAction::scored);
  EXPECT_NE(outcome.id.hex(), raw.id.hex());
  const auto rows = value_of(reader_.statistics(outcome.id));
  EXPECT_EQ(rows[1].processed_sha256, "") << "this output has no 'item 2'";
  EXPECT_EQ(rows[2].processed_sha256, sha256_hex("They talked about X."));
  EXPECT_EQ(rows[2].values[0], 20) << "bytes of the processed text";
  EXPECT_EQ(rows[2].values[1], 25) << "references are not touched";
  const auto job = *value_of(reader_.score(outcome.id));
  EXPECT_EQ(job.postprocess.text, R"(["replace:pattern=item 2,with=X"])");
  EXPECT_EQ(job.signature, R"(length@1|post:["replace:pattern=item 2,with=X"])");
  EXPECT_EQ(value_of(reader_.outputs(open_.result))[2].prediction.text,
            "They talked about item 2.");
  const Postprocess identity;
  EXPECT_EQ(value_of(scorer_.score(open_.result, length_, {.postprocess = &identity})).action,
            ScoreAction::kept)
      << "an empty chain is no chain";
}

TEST_F(Scoring, NotesAreSaidOnceWithTheNumberOfItems) {
  predict(0, 3);
  auto outcome = value_of(scorer_.score(open_.result, length_));
  EXPECT_THAT(
      outcome.notes.lines(),
      testing::ElementsAre("length: the length is not meant (3 of 4 items, the first is item 1)"));
  outcome.notes.add(score::ScoringNotes(outcome.notes));
  EXPECT_THAT(
      outcome.notes.lines(),
      testing::ElementsAre("length: the length is not meant (6 of 8 items, the first is item 1)"));
}

TEST_F(Scoring, TheSecondTimeNothingIsMeasured) {
  predict(0, 3);
  value_of(scorer_.score(open_.result, length_));
  EXPECT_EQ(value_of(scorer_.score(open_.result, length_)).action, ScoreAction::kept);
  EXPECT_EQ(length_.measured, 1);
}

TEST_F(Scoring, AnotherSignatureIsAnotherJob) {
  predict(0, 3);
  const auto first = value_of(scorer_.score(open_.result, length_));
  length_.signature_ = "length@2";
  const auto second = value_of(scorer_.score(open_.result, length_));
  EXPECT_EQ(second.action, ScoreAction::scored);
  EXPECT_NE(first.id, second.id);
  EXPECT_EQ(value_of(reader_.scores(open_.result)).size(), 2U);
}

TEST_F(Scoring, OtherIntervalsComeFromStoredStatistics) {
  predict(0, 3);
  const score::BootstrapIntervals bootstrap(100);
  const score::BootstrapIntervals other(200);
  const auto first = value_of(scorer_.score(open_.result, length_, {.intervals = &bootstrap}));
  const auto second = value_of(scorer_.score(open_.result, length_, {.intervals = &other}));
  EXPECT_EQ(first.id, second.id);
  EXPECT_EQ(second.action, ScoreAction::scored);
  EXPECT_EQ(length_.measured, 1);
  const auto job = *value_of(reader_.score(first.id));
  EXPECT_EQ(job.interval_method, other.method());
  EXPECT_EQ(job.clusters, 2);
  EXPECT_EQ(value_of(reader_.statistics(first.id)).size(), 4U);
}

TEST_F(Scoring, AnIncompleteResultIsScoredOnlyWhenAskedAndThenMarked) {
  predict(0, 2);
  const auto refused = value_of(scorer_.score(open_.result, length_));
  EXPECT_EQ(refused.action, ScoreAction::incomplete);
  EXPECT_EQ(refused.n, 3);
  EXPECT_EQ(refused.expected, 4);
  EXPECT_TRUE(value_of(reader_.scores(open_.result)).empty());

  const score::ScoreOptions partial{.allow_partial = true};
  EXPECT_EQ(value_of(scorer_.score(open_.result, length_, partial)).action, ScoreAction::scored);
  EXPECT_EQ(value_of(scorer_.score(open_.result, length_, partial)).action, ScoreAction::kept);
  EXPECT_EQ(value_of(reader_.scores(open_.result)).at(0).n, 3);

  predict(3, 3);
  EXPECT_EQ(value_of(scorer_.score(open_.result, length_)).action, ScoreAction::scored);
  EXPECT_EQ(value_of(reader_.scores(open_.result)).at(0).n, 4);
}

TEST_F(Scoring, NothingToScoreIsIncompleteEvenWhenPartsAreAllowed) {
  EXPECT_EQ(value_of(scorer_.score(open_.result, length_, {.allow_partial = true})).action,
            ScoreAction::incomplete);
}

TEST_F(Scoring, AnExampleThatWasSkippedForItsLengthIsNotScoredAsEmpty) {
  predict(0, 2);
  store::OutputRow skipped = sample_output(3);
  skipped.prediction.text.clear();
  skipped.prediction.finish = FinishReason::overlength;
  value_of(store_.commit_outputs(open_.result, open_.attempt, {&skipped, 1}));
  const auto outcome = value_of(scorer_.score(open_.result, length_));
  EXPECT_EQ(outcome.action, ScoreAction::incomplete);
  EXPECT_EQ(outcome.n, 3);
  EXPECT_EQ(outcome.refused, 1);
  EXPECT_EQ(value_of(scorer_.score(open_.result, length_, {.allow_partial = true})).n, 3);
}

TEST_F(Scoring, AFailingMetricIsAnErrorAndStoresNothing) {
  predict(0, 2);
  const store::OutputRow broken = sample_output(3, "broken");
  value_of(store_.commit_outputs(open_.result, open_.attempt, {&broken, 1}));
  const auto failed = scorer_.score(open_.result, length_);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::data);
  EXPECT_THAT(failed.error().message, testing::HasSubstr("metric length on cell"));
  EXPECT_TRUE(value_of(reader_.scores(open_.result)).empty());
}

TEST_F(Scoring, AMetricThatLosesAnExampleIsAnError) {
  predict(0, 3);
  length_.drop_a_row_ = true;
  EXPECT_EQ(scorer_.score(open_.result, length_).error().kind, ErrorKind::internal);
}

TEST_F(Scoring, AMetricGetsTheDocumentOnlyWhenItNeedsIt) {
  predict(0, 3);
  length_.needs_.document = true;
  const auto outcome = value_of(scorer_.score(open_.result, length_));
  const double bytes = static_cast<double>(rendered_document(dataset_.examples[0]).size());
  EXPECT_EQ(value_of(reader_.statistics(outcome.id)).at(0).values.at(1), bytes);
}

TEST_F(Scoring, AMeasureResultIsNotScored) {
  const OpenResult timed =
      open_result(store_, sample_cell(dataset_), store::ResultKind::measure, {.repetitions = 1});
  EXPECT_EQ(scorer_.score(timed.result, length_).error().kind, ErrorKind::invalid_argument);
}

class HashesOnly : public Scoring {
 protected:
  HashesOnly() {
    dataset_ = sample_dataset(4, "closed");
    dataset_.manifest.no_redistribution = true;
    // Texts are stored by content, so the closed ones must not be those of the open data set.
    for (Example& example : dataset_.examples) example.references = {"Closed to " + example.key};
    open_ = open_sample(store_, dataset_, sample_cell(dataset_, "bm25"));
    predict(0, 3);
  }
};

TEST_F(HashesOnly, TheDataSetItselfIsNeeded) {
  EXPECT_EQ(scorer_.score(open_.result, length_).error().kind, ErrorKind::unavailable);
  check(scorer_.use_dataset(std::make_shared<Dataset>(dataset_)));
  EXPECT_EQ(value_of(scorer_.score(open_.result, length_)).n, 4);
}

TEST_F(HashesOnly, ADataSetWithOtherExamplesIsRefused) {
  Dataset other = dataset_;
  other.example_hashes[1] = sha256_hex("other");
  EXPECT_EQ(scorer_.use_dataset(std::make_shared<Dataset>(other)).error().kind, ErrorKind::data);
}

TEST_F(Scoring, TheScoreIdIsPinned) {
  // SHA-256 of "qfs-bench/1/score\n" and the canonical object, computed with Python's hashlib.
  const CellId cell(std::string(64, 'a'));
  const NumericsId numerics(std::string(64, 'b'));
  EXPECT_EQ(score::score_id(cell, numerics, Json{"[]"}, length_).hex(),
            "e2c20e6983cdea2f61d2ecc6356eabcd11376baa7f9734c9a17b1beab6ddcd8a");
}

}  // namespace
}  // namespace qfs::test

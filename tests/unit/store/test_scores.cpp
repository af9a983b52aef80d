// Score jobs: whole or not at all, exact to the last bit, never two truths under one id.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "harness/store/reader.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/store/sample_rows.h"

namespace qfs::test {
namespace {

using store::Reader;
using store::ScoreJob;
using store::Store;

class Scores : public testing::Test {
 protected:
  Scores() { value_of(store_.commit_outputs(open_.result, open_.attempt, sample_outputs(0, 3))); }

  Reader reader() const { return value_of(Reader::open(path_)); }

  ScoreId id_of(std::string_view signature) const {
    return make_score_id(sample_cell(dataset_).id, sample_environment().numerics_id, Json{"[]"},
                         signature);
  }

  /// A job over examples 0…n-1.
  ScoreJob job(int64_t n = 4) const {
    ScoreJob job;
    job.id = id_of("length@1");
    job.result = open_.result;
    job.metric = "length";
    job.signature = "length@1";
    job.columns = {"length.words", "length.third"};
    for (int64_t i = 0; i < n; ++i) {
      job.statistics.push_back({i, {}, {static_cast<double>(i), 1.0 / 3.0}});
    }
    job.scores = {{"length.words", 1.5, {{0.25, 2.75}}}, {"length.third", 1.0 / 3.0, {}}};
    job.clusters = 2;
    job.interval_method = "bootstrap|n:10000";
    return job;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "run.sqlite";
  Store store_ = value_of(Store::open(path_));
  Dataset dataset_ = sample_dataset(4);
  OpenResult open_ = open_sample(store_, dataset_, sample_cell(dataset_));
};

TEST_F(Scores, AJobComesBackToTheLastBit) {
  check(store_.put_scores(job()));
  const auto found = value_of(reader().score(job().id));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->scores, job().scores);
  EXPECT_EQ(found->columns, job().columns);
  EXPECT_EQ(found->signature, "length@1");
  EXPECT_EQ(found->interval_method, "bootstrap|n:10000");
  EXPECT_EQ(found->clusters, 2);
  EXPECT_EQ(found->n, 4);
  EXPECT_EQ(found->expected, 4);
  EXPECT_EQ(value_of(reader().statistics(job().id)), job().statistics);
  EXPECT_TRUE(value_of(store_.has_scores(job().id)));
}

TEST_F(Scores, ProcessedTextsAreStoredBesideTheRawOnes) {
  ScoreJob processed = job(1);
  processed.postprocess = Json{R"(["strip_special"])"};
  processed.processed_texts = {"talked"};
  processed.statistics[0].processed_sha256 = sha256_hex("talked");
  check(store_.put_scores(processed));
  EXPECT_EQ(value_of(reader().text(sha256_hex("talked"))), "talked");
  EXPECT_EQ(value_of(reader().outputs(open_.result)).at(0).prediction, [] {
    auto p = sample_output(0).prediction;
    p.prompt.clear();
    return p;
  }());
}

TEST_F(Scores, AMissingCandidateTextIsRefused) {
  ScoreJob stray = job();
  stray.statistics[2].processed_sha256 = sha256_hex("never stored");
  EXPECT_FALSE(store_.put_scores(stray));
  EXPECT_EQ(value_of(reader().score(stray.id)), std::nullopt);
}

TEST_F(Scores, APartialJobIsMarkedByItsCountAndReplacedByAFullerOne) {
  check(store_.put_scores(job(2)));
  EXPECT_FALSE(value_of(store_.has_scores(job().id)));
  EXPECT_EQ(value_of(reader().score(job().id))->n, 2);
  check(store_.put_scores(job(4)));
  EXPECT_EQ(value_of(reader().score(job().id))->n, 4);
  check(store_.put_scores(job(2)));
  EXPECT_EQ(value_of(reader().score(job().id))->n, 4) << "fewer examples never replace more";
}

TEST_F(Scores, OtherValuesUnderTheSameSignatureAreAnError) {
  check(store_.put_scores(job()));
  ScoreJob other = job();
  other.scores[0].value = 1.5000000000000002;
  const Status status = store_.put_scores(other);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::data);
  EXPECT_THAT(status.error().message, testing::HasSubstr("length@1"));
  EXPECT_EQ(value_of(reader().score(job().id))->scores, job().scores);
}

TEST_F(Scores, IntervalsOfAnotherMethodReplaceTheOldOnes) {
  check(store_.put_scores(job()));
  ScoreJob wider = job();
  wider.interval_method = "bootstrap|n:1000";
  wider.scores[0].interval = {{0.0, 3.0}};
  check(store_.put_scores(wider));
  EXPECT_EQ(value_of(reader().score(job().id))->scores, wider.scores);
}

TEST_F(Scores, AValueThatIsNoNumberIsRefused) {
  ScoreJob broken = job();
  broken.statistics[1].values[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(store_.put_scores(broken).error().kind, ErrorKind::internal);
  broken = job();
  broken.scores[1].value = std::numeric_limits<double>::infinity();
  EXPECT_EQ(store_.put_scores(broken).error().kind, ErrorKind::internal);
}

TEST_F(Scores, AJobWhoseShapeIsWrongIsRefused) {
  ScoreJob broken = job();
  broken.statistics[1].values.pop_back();
  EXPECT_EQ(store_.put_scores(broken).error().kind, ErrorKind::internal);
  broken = job();
  std::swap(broken.statistics[0], broken.statistics[1]);
  EXPECT_EQ(store_.put_scores(broken).error().kind, ErrorKind::internal);
  broken = job();
  broken.scores.pop_back();
  EXPECT_EQ(store_.put_scores(broken).error().kind, ErrorKind::internal);
  EXPECT_EQ(store_.put_scores(job(0)).error().kind, ErrorKind::internal);
}

TEST_F(Scores, JobsOfAResultAreListedByMetric) {
  check(store_.put_scores(job()));
  ScoreJob other = job();
  other.id = id_of("coverage@1");
  other.metric = "coverage";
  other.signature = "coverage@1";
  check(store_.put_scores(other));
  const auto jobs = value_of(reader().scores(open_.result));
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0].metric, "coverage");
  EXPECT_EQ(jobs[1].scores, job().scores);
}

}  // namespace
}  // namespace qfs::test

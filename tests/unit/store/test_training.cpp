// Training in the store: cells that train and cells that rest on them, artifacts by role,
// conflicts, curves and costs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "harness/store/reader.h"
#include "harness/store/sqlite.h"
#include "harness/store/training_rows.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/store/sample_rows.h"

namespace qfs::test {
namespace {

using store::ArtifactRow;
using store::Completeness;
using store::Reader;
using store::ResultKind;
using store::Store;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ArtifactRow artifact(const std::string& role, const std::string& bytes) {
  return {role, sha256_hex(bytes), static_cast<int64_t>(bytes.size()),
          "artifacts/" + role + ".safetensors"};
}

class Training : public testing::Test {
 protected:
  void SetUp() override {
    check(store_.put_dataset(train_, false));
    check(store_.put_dataset(development_, false));
    check(store_.put_cell(cell_));
    open_ = open_result(store_, cell_, ResultKind::train, {.roles = {"locator", "generator"}});
  }
  Reader reader() const { return value_of(Reader::open(path_)); }
  store::ResultRow status() const { return value_of(reader().result(open_.result)); }
  store::ArtifactOutcome commit(const std::vector<ArtifactRow>& artifacts,
                                const TrainingCost& cost = {}) {
    return value_of(store_.commit_artifacts(open_.result, open_.attempt, artifacts, cost));
  }
  store::CellRow resting_cell(const std::vector<store::Dependency>& dependencies) const {
    store::CellRow cell = sample_cell(development_, "predicts");
    cell.dependencies = dependencies;
    return cell;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "run.sqlite";
  Store store_ = value_of(Store::open(path_));
  Dataset train_ = sample_dataset(6, "train");
  Dataset development_ = sample_dataset(2, "development");
  store::CellRow cell_ = sample_training_cell(train_, development_);
  OpenResult open_;
};

TEST_F(Training, ATrainingCellComesBackWithBothDataSets) {
  const store::CellRow row = value_of(reader().cell(cell_.id));
  EXPECT_TRUE(row.training);
  EXPECT_EQ(row.dataset, train_.id);
  EXPECT_EQ(row.development, development_.id);
  EXPECT_EQ(row.ordinals, cell_.ordinals);
  EXPECT_THAT(row.dependencies, IsEmpty());
}

TEST_F(Training, DevelopmentDataOfACellThatTrainsNothingIsRefused) {
  store::CellRow cell = sample_cell(train_);
  cell.development = development_.id;
  EXPECT_THAT(store_.put_cell(cell).error().message, HasSubstr("trains nothing"));
}

TEST_F(Training, ACellComesBackWithWhatItRestsOn) {
  const std::vector<store::Dependency> dependencies = {
      {"generator", cell_.id, ""}, {"locator", CellId(), sha256_hex("imported")}};
  const store::CellRow cell = resting_cell(dependencies);
  check(store_.put_cell(cell));
  EXPECT_EQ(value_of(reader().cell(cell.id)).dependencies, dependencies);
  EXPECT_FALSE(value_of(reader().cell(cell.id)).training);
  EXPECT_EQ(value_of(reader().cells()).size(), 2U);
}

TEST_F(Training, ADependencyIsATrainingCellOrADigestAndNotBoth) {
  for (const store::Dependency& dependency :
       {store::Dependency{"adapter", CellId(), ""},
        store::Dependency{"adapter", cell_.id, sha256_hex("a")}}) {
    EXPECT_EQ(store_.put_cell(resting_cell({dependency})).error().kind, ErrorKind::internal);
  }
  const CellId unknown = make_cell_id(Json{R"({"method":"unknown"})"});
  EXPECT_FALSE(store_.put_cell(resting_cell({{"adapter", unknown, ""}})));
}

TEST_F(Training, ATrainResultIsCompleteWithEveryRole) {
  EXPECT_EQ(status().status, Completeness::incomplete);
  EXPECT_EQ(status().expected, 2);
  EXPECT_EQ(commit({artifact("generator", "g")}).written, 1);
  EXPECT_EQ(status().status, Completeness::incomplete);
  EXPECT_EQ(commit({artifact("locator", "l")}).written, 1);
  EXPECT_EQ(status().status, Completeness::complete);
  EXPECT_THAT(value_of(reader().artifacts(open_.result)),
              ElementsAre(artifact("generator", "g"), artifact("locator", "l")));
}

TEST_F(Training, EqualBytesLieWhereTheyWereFoundLast) {
  commit({artifact("generator", "g"), artifact("locator", "l")});
  ArtifactRow moved = artifact("generator", "g");
  moved.location = "other.artifacts/generator.safetensors";
  const auto again =
      value_of(store_.begin_attempt({.result = open_.result, .environment = open_.environment}));
  EXPECT_EQ(value_of(store_.commit_artifacts(open_.result, again, {&moved, 1}, {})).kept, 1);
  EXPECT_THAT(value_of(reader().artifacts(open_.result)),
              ElementsAre(moved, artifact("locator", "l")));
}

TEST_F(Training, OtherBytesAreEvidenceAndTheFirstStay) {
  commit({artifact("generator", "g"), artifact("locator", "l")}, {.seconds = 1.5});
  const auto again =
      value_of(store_.begin_attempt({.result = open_.result, .environment = open_.environment}));
  for (int repeated = 0; repeated < 2; ++repeated) {
    const auto outcome = value_of(store_.commit_artifacts(
        open_.result, again, std::vector{artifact("generator", "g"), artifact("locator", "x")},
        {.seconds = 9}));
    EXPECT_EQ(outcome.written, 0);
    EXPECT_EQ(outcome.kept, 1);
    EXPECT_THAT(outcome.conflicting_roles, ElementsAre("locator"));
  }
  const auto conflicts = value_of(reader().artifact_conflicts());
  ASSERT_EQ(conflicts.size(), 1U) << "the same difference is one row";
  EXPECT_EQ(conflicts[0].result, open_.result);
  EXPECT_EQ(conflicts[0].role, "locator");
  EXPECT_EQ(conflicts[0].first_attempt, open_.attempt);
  EXPECT_EQ(conflicts[0].second_attempt, again);
  EXPECT_EQ(conflicts[0].first_sha256, sha256_hex("l"));
  EXPECT_EQ(conflicts[0].second_sha256, sha256_hex("x"));
  EXPECT_EQ(value_of(reader().artifacts(open_.result)).at(1), artifact("locator", "l"));
  EXPECT_EQ(value_of(reader().training_cost(open_.result))->seconds, 1.5);
  EXPECT_THAT(value_of(reader().check_integrity()), IsEmpty());
}

TEST_F(Training, AnArtifactNobodyAskedForIsRefusedWithTheOthers) {
  const auto outcome =
      store_.commit_artifacts(open_.result, open_.attempt,
                              std::vector{artifact("generator", "g"), artifact("other", "o")}, {});
  EXPECT_EQ(outcome.error().kind, ErrorKind::internal);
  EXPECT_THAT(outcome.error().message, HasSubstr("'other'"));
  EXPECT_THAT(value_of(reader().artifacts(open_.result)), IsEmpty());
}

TEST_F(Training, AnArtifactOutsideTheStoresFolderIsRefused) {
  for (const char* const location : {"/tmp/a", "../a", "artifacts/../../a", "", "artifacts/"}) {
    ArtifactRow outside = artifact("locator", "l");
    outside.location = location;
    EXPECT_EQ(store_.commit_artifacts(open_.result, open_.attempt, {&outside, 1}, {}).error().kind,
              ErrorKind::internal)
        << location;
  }
  EXPECT_TRUE(store::is_inside("artifacts/../a"));
}

TEST_F(Training, OtherRolesThanBeforeAreRefused) {
  const store::ResultKey key{cell_.id, sample_environment().numerics_id, ResultKind::train};
  EXPECT_EQ(value_of(store_.ensure_result(key, {.roles = {"generator", "locator"}})), open_.result)
      << "the order of roles says nothing";
  EXPECT_EQ(store_.ensure_result(key, {.roles = {"generator"}}).error().kind, ErrorKind::internal);
  EXPECT_EQ(store_.ensure_result(key).error().kind, ErrorKind::internal);
}

TEST_F(Training, OnlyTrainingCellsHaveTrainResults) {
  const store::CellRow predicts = resting_cell({});
  check(store_.put_cell(predicts));
  const NumericsId numerics = sample_environment().numerics_id;
  EXPECT_FALSE(store_.ensure_result({predicts.id, numerics, ResultKind::train}, {.roles = {"a"}}));
  EXPECT_FALSE(store_.ensure_result({cell_.id, numerics, ResultKind::predict}));
  EXPECT_FALSE(store_.ensure_result({cell_.id, numerics, ResultKind::measure}, {.repetitions = 1}));
}

TEST_F(Training, ArtifactsAndCurvesBelongToTrainResultsOnly) {
  const store::CellRow predicts = resting_cell({});
  check(store_.put_cell(predicts));
  const OpenResult other = open_result(store_, predicts);
  const ArtifactRow row = artifact("locator", "l");
  EXPECT_EQ(store_.commit_artifacts(other.result, other.attempt, {&row, 1}, {}).error().kind,
            ErrorKind::internal);
  EXPECT_EQ(store_.put_training_points(other.result, other.attempt, {}).error().kind,
            ErrorKind::internal);
  EXPECT_EQ(store_.commit_outputs(open_.result, open_.attempt, sample_outputs(0, 0)).error().kind,
            ErrorKind::internal);
}

TEST_F(Training, AnAttemptThatEndedCommitsNothing) {
  check(store_.end_attempt(open_.attempt, {}));
  const ArtifactRow row = artifact("locator", "l");
  EXPECT_FALSE(store_.commit_artifacts(open_.result, open_.attempt, {&row, 1}, {}));
  EXPECT_FALSE(store_.put_training_points(open_.result, open_.attempt, {}));
  EXPECT_EQ(status().done, 0);
}

TEST_F(Training, ACostComesBackExactly) {
  EXPECT_EQ(value_of(reader().training_cost(open_.result)), std::nullopt);
  const TrainingCost cost{.seconds = 0.1,
                          .steps = 1200,
                          .tokens = 1'000'003,
                          .flops = 9'007'199'254'740'993,  // 2^53 + 1: no double
                          .trainable_parameters = 460'800,
                          .peak_bytes = 1 << 30};
  commit({artifact("locator", "l")}, cost);
  EXPECT_EQ(value_of(reader().training_cost(open_.result)), cost);
}

TEST_F(Training, ACurveComesBackByStepAndWhatIsSaidLastIsKept) {
  const auto put = [this](const std::vector<TrainingPoint>& points) {
    check(store_.put_training_points(open_.result, open_.attempt, points));
  };
  put({{2, 4, {{"loss", 2.5}}}, {1, 4, {{"learning_rate", 1e-3}, {"loss", 3.0}}}});
  put({{2, 4, {{"development.loss", 2.75}, {"loss", 0.1}}}, {3, 4, {{"loss", 2.0}}}});
  EXPECT_THAT(value_of(reader().training_points(open_.result)),
              ElementsAre(store::TrainingPointRow{1, {{"learning_rate", 1e-3}, {"loss", 3.0}}},
                          store::TrainingPointRow{2, {{"development.loss", 2.75}, {"loss", 0.1}}},
                          store::TrainingPointRow{3, {{"loss", 2.0}}}));
}

TEST_F(Training, APointThatIsNoNumberIsRefusedWithItsStep) {
  const std::vector<TrainingPoint> points = {
      {6, 9, {{"loss", 1.0}}}, {7, 9, {{"loss", std::numeric_limits<double>::quiet_NaN()}}}};
  const Status status = store_.put_training_points(open_.result, open_.attempt, points);
  EXPECT_THAT(status.error().message, HasSubstr("loss of training step 7 is no number"));
  EXPECT_THAT(value_of(reader().training_points(open_.result)), IsEmpty());
}

class TrainingIntegrity : public Training {
 protected:
  /// What check_integrity says after somebody else's SQL.
  std::vector<std::string> problems_after(const std::string& sql) {
    commit({artifact("generator", "g"), artifact("locator", "l")}, {.steps = 3});
    { const Store closed = std::move(store_); }
    store::Connection db =
        value_of(store::Connection::open(path_, store::OpenMode::read_write, 1000));
    EXPECT_TRUE(db.script(sql)) << sql;
    check(db.finish());
    return value_of(reader().check_integrity());
  }
};

TEST_F(TrainingIntegrity, ASoundTrainingHasNoProblems) {
  EXPECT_THAT(problems_after("SELECT 1"), IsEmpty());
}

TEST_F(TrainingIntegrity, AnArtifactThatPointsElsewhereIsFoundAndNotFollowed) {
  EXPECT_THAT(problems_after("UPDATE artifact SET location = '../a' WHERE role = 'locator'"),
              ElementsAre("artifact 'locator' of result 1 is not in the store's folder"));
  EXPECT_THAT(reader().artifacts(open_.result).error().message, HasSubstr("artifact 'locator'"));
}

TEST_F(TrainingIntegrity, AnArtifactThatWasNotAskedForIsFound) {
  EXPECT_THAT(problems_after("UPDATE result SET roles = '[\"generator\"]'"),
              ElementsAre("artifact 'locator' of result 1 was not asked for"));
}

TEST_F(TrainingIntegrity, RolesThatAreNotReadableAreDamage) {
  EXPECT_THAT(problems_after("UPDATE result SET roles = '['"),
              ElementsAre("table result: 1 rows whose roles is not JSON"));
  EXPECT_THAT(reader().result(open_.result).error().message, HasSubstr("is not readable"));
}

TEST_F(TrainingIntegrity, ACostThatNobodyKnowsIsFound) {
  EXPECT_THAT(problems_after("UPDATE training_cost SET name = 'money' WHERE name = 'flops'"),
              ElementsAre("table training_cost: 'money' is no name that this program knows"));
  EXPECT_THAT(reader().training_cost(open_.result).error().message, HasSubstr("not readable"));
}

TEST_F(TrainingIntegrity, ATrainResultOfACellThatPredictsIsFound) {
  EXPECT_THAT(problems_after("UPDATE cell SET training = 0, development_dataset_id = NULL"),
              ElementsAre("result 1 does not say what it is complete with"));
}

}  // namespace
}  // namespace qfs::test

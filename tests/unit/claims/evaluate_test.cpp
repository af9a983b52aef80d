// The state of claims over planted stores, and what stands in a claim's way.
#include "harness/claims/evaluate.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/claims/sweeps.h"
#include "harness/core/files.h"
#include "harness/core/identity.h"
#include "harness/core/sha256.h"
#include "harness/score/score.h"
#include "harness/store/reader.h"
#include "tests/support/plan_fakes.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/store/sample_rows.h"

namespace qfs::claims {
namespace {

using test::check;
using test::value_of;

/// What a planted store holds of the cell that the claim asks for.
struct Planted {
  std::string methods = R"({"method": "lead"})";
  std::string split = "test";
  std::string sample;  ///< of the data set's entry: ", \"sample\": 2"
  std::string rest;    ///< of the sweep
  double value = 0.3352;
  std::optional<store::ScoreInterval> interval;
  int64_t outputs = 3;
  store::FailureKind failure = store::FailureKind::none;
  std::string signature = "fake";
};

/// The fakes' data sets, with hashes that a store takes.
Dataset storable(Dataset dataset) {
  for (std::string& hash : dataset.example_hashes) hash = sha256_hex(hash);
  return dataset;
}

class ClaimStates : public testing::Test {
 protected:
  Claim claim(const std::string& printed = "33.5") {
    Claim claim;
    claim.paper = "demo";
    claim.table = "demo.table1";
    claim.label = "Lead";
    claim.column = "R-1";
    claim.printed = value_of(parse_printed(printed));
    claim.kind = ClaimKind::score;
    claim.metric = "rouge";
    claim.what = "rouge1.f";
    claim.scale = 100;
    claim.method = MethodQuery{"lead", "", "", {}};
    claim.dataset = DatasetQuery{"split", {"test"}, "", "", ""};
    return claim;
  }

  /// A store with one cell; `plant` may be called again for more.
  void plant(const Planted& planted) {
    plan::Plan plan =
        value_of(planning_(test::sweep_text(planted.methods, planted.rest,
                                            R"({"name": "split", "split": ")" + planted.split +
                                                "\"" + planted.sample + "}"),
                           "sweep.json"));
    const plan::Cell& cell = plan.cells.front();
    const plan::PlannedDataset& data = plan.datasets.front();
    if (!store_) store_.emplace(value_of(store::Store::open(folder_ / "claims.sqlite")));
    check(store_->put_dataset(storable(*data.data)));
    store::CellRow row;
    row.id = cell.id;
    row.identity = cell.identity;
    row.method = std::string(cell.spec->name());
    row.dataset = data.data->id;
    row.seed = cell.seed;
    row.ordinals = data.ordinals;
    check(store_->put_cell(row));
    const test::OpenResult open = test::open_result(*store_, row);
    std::vector<store::OutputRow> outputs;
    for (int64_t i = 0; i < planted.outputs; ++i)
      outputs.push_back(test::sample_output(row.ordinals[static_cast<size_t>(i)]));
    if (!outputs.empty()) value_of(store_->commit_outputs(open.result, open.attempt, outputs));
    store::AttemptEnd end;
    if (planted.failure != store::FailureKind::none) {
      end = {store::AttemptState::failed, planted.failure, "planted"};
    } else if (planted.outputs < static_cast<int64_t>(row.ordinals.size())) {
      end = {store::AttemptState::cancelled, {}, "interrupted"};
    }
    check(store_->end_attempt(open.attempt, end));
    if (planted.outputs < static_cast<int64_t>(row.ordinals.size())) return;
    store::ScoreJob job;
    job.id = make_score_id(Json{R"({"cell":")" + row.id.hex() + planted.signature + "\"}"});
    job.result = open.result;
    job.metric = "rouge";
    job.signature = planted.signature;
    job.columns = {"rouge1.f"};
    job.scores = {{"rouge1.f", planted.value, planted.interval}};
    job.clusters = 3;
    for (const int64_t ordinal : row.ordinals) {
      job.statistics.push_back({ordinal, "", {planted.value}});
    }
    check(store_->put_scores(job));
  }

  /// A training of `learner` with `rank` under a device's limit, and how it ended.
  void plant_training(int64_t rank, store::FailureKind failure, int64_t device_memory_mib = 24576) {
    const std::string methods =
        R"({"method": "learner", "backbone": "small", "rank": )" + std::to_string(rank) + "}";
    const plan::Plan plan = value_of(planning_(
        test::sweep_text(methods, "", R"({"name": "split", "split": "test"})"), "sweep.json"));
    const plan::Training& training = plan.trainings.front();
    if (!store_) store_.emplace(value_of(store::Store::open(folder_ / "claims.sqlite")));
    for (const plan::PlannedDataset& data : plan.training_data) {
      check(store_->put_dataset(storable(*data.data)));
    }
    store::CellRow row;
    row.id = training.cell.id;
    row.identity = training.cell.identity;
    row.method = std::string(training.cell.spec->name());
    row.training = true;
    row.dataset = plan.training_data[training.cell.dataset].data->id;
    row.seed = training.cell.seed;
    row.ordinals = plan.training_data[training.cell.dataset].ordinals;
    check(store_->put_cell(row));
    store::EnvironmentRow environment = test::sample_environment("cuda");
    environment.numerics = Json{R"({"device":"cuda","device_memory_bytes":)" +
                                std::to_string(device_memory_mib << 20) + "}"};
    environment.numerics_id = make_numerics_id(environment.numerics);
    const auto id = value_of(store_->put_environment(environment));
    const auto result = value_of(store_->ensure_result(
        {row.id, environment.numerics_id, store::ResultKind::train}, {.roles = {"adapter"}}));
    const auto attempt =
        value_of(store_->begin_attempt({.result = result, .environment = id, .worker = "driver"}));
    if (failure == store::FailureKind::none) {
      const store::ArtifactRow file = {"adapter", sha256_hex("adapter"), 7, "adapter.safetensors"};
      value_of(store_->commit_artifacts(result, attempt, {&file, 1}, {}));
      check(store_->end_attempt(attempt, {}));
    } else {
      check(store_->end_attempt(attempt, {store::AttemptState::failed, failure, "planted"}));
    }
  }

  Finding evaluate(const Claim& claim) {
    Lookups lookups({planning_.methods, planning_.datasets, planning_.metrics, places_});
    std::optional<store::Reader> reader;
    std::optional<StoredResults> results;
    if (store_) {
      reader.emplace(value_of(store::Reader::open(store_->path())));
      results.emplace(value_of(StoredResults::read(*reader)));
    }
    Evaluator evaluator(lookups, results ? &*results : nullptr);
    Finding finding = value_of(evaluator.evaluate(claim));
    finding.claim = nullptr;
    return finding;
  }

  void expect(State state, const std::string& detail, const Claim& claim) {
    const Finding finding = evaluate(claim);
    EXPECT_EQ(to_string(finding.state), to_string(state)) << finding.detail;
    EXPECT_EQ(finding.detail, detail);
  }

  test::TemporaryFolder folder_;
  test::Planning planning_;
  Places places_;
  std::optional<store::Store> store_;
};

TEST_F(ClaimStates, ReproducedWithTheNumbersIds) {
  plant({});
  const Finding finding = evaluate(claim());
  EXPECT_EQ(finding.state, State::reproduced);
  EXPECT_NEAR(finding.measured->value, 33.52, 1e-9);
  EXPECT_EQ(finding.measured->n, 3);
  EXPECT_EQ(finding.measured->cell_id.size(), 64U);
  EXPECT_EQ(finding.measured->score_id.size(), 64U);
}

TEST_F(ClaimStates, WithinTheInterval) {
  plant({.value = 0.36, .interval = store::ScoreInterval{0.33, 0.39}});
  expect(State::within_interval, "", claim());
}

TEST_F(ClaimStates, Differs) {
  plant({.value = 0.36, .interval = store::ScoreInterval{0.34, 0.39}});
  expect(State::differs, "", claim());
}

TEST_F(ClaimStates, NotRunWithoutAStoreOrCell) {
  expect(State::not_run, "no run in the store", claim());
  plant({.methods = R"({"method": "random"})"});
  expect(State::not_run, "no run in the store", claim());
}

TEST_F(ClaimStates, NotRunWhenOutputsAreMissing) {
  plant({.outputs = 2});
  expect(State::not_run, "incomplete (2/3)", claim());
}

TEST_F(ClaimStates, NotRunWhenTheRunFailed) {
  plant({.outputs = 1, .failure = store::FailureKind::oom_host});
  expect(State::not_run, "failed (oom_host)", claim());
}

TEST_F(ClaimStates, AnotherParameterSplitOrPartOfTheDataIsNotTheCell) {
  plant({.methods = R"({"method": "lead", "max_words": 50})"});
  plant({.split = "train"});
  expect(State::not_run, "no run in the store", claim());
  Claim other = claim();
  other.method->params.push_back({"max_words", int64_t{50}, ""});
  expect(State::reproduced, "", other);
}

TEST_F(ClaimStates, ASampleIsNotTheWholeSet) {
  plant({.sample = R"(, "sample": 2)", .outputs = 2});
  expect(State::not_run, "no run in the store", claim());
}

TEST_F(ClaimStates, ScoresOfAnotherMetricAreNotItsNumber) {
  plant({.signature = "fake|stem:off"});
  expect(State::not_run, "not scored by fake", claim());
}

TEST_F(ClaimStates, NotRunnableSaysWhy) {
  Claim one = claim();
  one.method->method = "ideal";
  expect(State::not_runnable, "there is no method 'ideal'", one);
  one = claim();
  one.method->params.push_back({"unit", std::string("turn"), ""});
  expect(State::not_runnable, "the method 'lead' has no parameter 'unit'", one);
  one = claim();
  one.dataset->splits = {"tset"};
  expect(State::not_runnable, "the data set 'split' has no split 'tset' (did you mean 'test'?)",
         one);
  one = claim();
  one.metric = "accuracy";
  expect(State::not_runnable, "there is no metric 'accuracy'", one);
  one = claim();
  one.what = "rouge9.f";
  expect(State::not_runnable, "the metric 'rouge' has no column 'rouge9.f'", one);
  planning_.methods.spec("lead").needed.backbone = true;
  one = claim();
  one.method = MethodQuery{"lead", "llama-2-7b", "", {{"max_words", int64_t{9}, ""}}};
  expect(State::not_run, "no weights of 'llama-2-7b' are known; --with llama-2-7b=PATH names them",
         one);
  one.method->params.push_back({"local_context", int64_t{5}, ""});
  expect(State::not_runnable, "max_words is above local_context", one);
  one.dataset->name = "ami";
  expect(State::not_runnable, "there is no data set 'ami'", one);
  one.kind = ClaimKind::stated;
  one.why = "a setting";
  expect(State::not_runnable, "a setting", one);
}

TEST_F(ClaimStates, WeightsThatCanBeFetchedAreNotRunYet) {
  Claim one = claim();
  one.method = MethodQuery{"zero_shot", "absent", "", {}};
  expect(State::not_run, "the checkpoint of 'absent' is not on this machine", one);
}

TEST_F(ClaimStates, ANameIsGivenAPlace) {
  Claim one = claim();
  one.method = MethodQuery{"zero_shot", "llama-2-7b", "", {}};
  places_["llama-2-7b"] = "small";
  expect(State::not_run, "no run in the store", one);
  plant({.methods = R"({"method": "zero_shot", "backbone": "large"})"});
  expect(State::not_run, "no run in the store", one);
  plant({.methods = R"({"method": "zero_shot", "backbone": "small"})"});
  expect(State::reproduced, "", one);
}

TEST_F(ClaimStates, AFileOfAReleaseIsGivenAPlace) {
  Claim one = claim();
  one.method = MethodQuery{"zero_shot", "small", "", {}};
  one.method->files = {{"cut", "their-rule"}};
  expect(State::not_run,
         "'cut' is a file of the release that does not come with this program; --with "
         "their-rule=FILE names it",
         one);
  places_["their-rule"] = folder_ / "rule.txt";
  check(write_file(places_["their-rule"], "head"));
  expect(State::not_run, "no run in the store", one);
  plant({.methods = R"({"method": "zero_shot", "backbone": "small"})"});
  expect(State::not_run, "no run in the store", one);
  Lookups lookups({planning_.methods, planning_.datasets, planning_.metrics, places_});
  const std::vector<const Claim*> claims = {&one};
  const auto sweeps = value_of(sweeps_of(claims, lookups));
  ASSERT_EQ(sweeps.size(), 1U);
  EXPECT_NE(sweeps[0].text.find(R"("cut": "head")"), std::string::npos) << sweeps[0].text;
  plant({.methods = R"({"method": "zero_shot", "backbone": "small", "cut": "head"})"});
  expect(State::reproduced, "", one);
}

TEST_F(ClaimStates, DocumentsAreCountedAsTheBackboneReadsThem) {
  Claim one = claim();
  one.method = MethodQuery{"zero_shot", "small", "", {}};
  const auto tokenizer = [&](bool counts) {
    planning_.methods.spec("zero_shot").needed.tokenizer = counts;
    Lookups lookups({planning_.methods, planning_.datasets, planning_.metrics, {}});
    const std::vector<const Claim*> claims = {&one};
    const auto sweeps = value_of(sweeps_of(claims, lookups));
    return nlohmann::json::parse(sweeps.at(0).text).at("methods").at(0).value("tokenizer", "");
  };
  EXPECT_EQ(tokenizer(true), "small");
  EXPECT_EQ(tokenizer(false), "") << "a plan would refuse it";
  one.method->tokenizer = "words";
  EXPECT_EQ(tokenizer(true), "words");
}

TEST_F(ClaimStates, PlacesThatWereUsedAreKnownByTheirDigest) {
  Claim one = claim();
  one.method = MethodQuery{"zero_shot", "llama-2-7b", "", {}};
  Lookups lookups({planning_.methods,
                   planning_.datasets,
                   planning_.metrics,
                   {{"llama-2-7b", "small"}, {"unused", "large"}}});
  EXPECT_TRUE(lookups.used_places().empty());
  EXPECT_FALSE(lookups.obstacle(one).has_value());
  EXPECT_EQ(lookups.used_places(), std::vector<std::string>{"llama-2-7b#5555555555555555"});
}

TEST_F(ClaimStates, AMethodThatIsRegisteredMakesItsClaimsRunnable) {
  Claim one = claim();
  one.method = MethodQuery{"ideal", "", "", {{"rank", int64_t{8}, ""}}};
  expect(State::not_runnable, "there is no method 'ideal'", one);
  test::FakeSpec spec = planning_.methods.spec("lead");
  spec.id = "ideal";
  planning_.methods.all.push_back(spec);
  expect(State::not_runnable, "the method 'ideal' has no parameter 'rank'", one);
  ParamSpec rank;
  rank.name = "rank";
  planning_.methods.all.back().declared.push_back(rank);
  expect(State::not_run, "no run in the store", one);
  plant({.methods = R"({"method": "ideal", "rank": 8})"});
  expect(State::reproduced, "", one);
}

TEST_F(ClaimStates, CountsAndStatisticsNeedNoStore) {
  Claim count = claim("12.3");
  count.kind = ClaimKind::count;
  count.what = "trainable_parameters";
  count.scale = 1e-6;
  count.method = MethodQuery{"lora", "llama-2-7b", "", {{"rank", int64_t{8}, ""}}};
  expect(State::reproduced, "", count);
  Claim data = claim("6");
  data.kind = ClaimKind::data;
  data.what = "examples";
  data.scale = 1;
  data.dataset->splits = {"test", "train"};
  expect(State::reproduced, "", data);
  data.printed = value_of(parse_printed("7"));
  expect(State::differs, "", data);
  data.what = "examplse";
  expect(State::not_runnable, "there is no statistic 'examplse' of data sets", data);
}

TEST_F(ClaimStates, RecordsOfFilesAreCounted) {
  Claim records = claim("3");
  records.kind = ClaimKind::data;
  records.what = "examples";
  records.scale = 1;
  records.files = FilesQuery{"their-data", "", "", {"*.tsv"}};
  expect(State::not_run, "--with their-data=FOLDER says where the files are", records);
  places_["their-data"] = folder_ / "";
  EXPECT_EQ(evaluate(records).state, State::not_run);
  EXPECT_NE(evaluate(records).detail.find("matches *.tsv"), std::string::npos);
  check(write_file(folder_ / "a.tsv", "one\ntwo\n"));
  check(write_file(folder_ / "b.tsv", "three"));
  check(write_file(folder_ / "b.txt", "none\n"));
  expect(State::reproduced, "", records);
}

TEST_F(ClaimStates, TokensOfDocumentsAreCountedByTheCellsOfLead) {
  Claim tokens = claim("20");
  tokens.kind = ClaimKind::data;
  tokens.what = "document_tokens";
  tokens.scale = 1;
  tokens.dataset->splits = {"test", "train"};
  tokens.dataset->tokenizer = "small";
  places_["small"] = "words";
  expect(State::not_run, "no run in the store", tokens);
  plant({});
  expect(State::not_run, "no run in the store", tokens);  // the other split is missing
  plant({.split = "train"});
  expect(State::reproduced, "", tokens);  // the outputs that are planted count 20
  places_.clear();
  expect(State::not_run, "no run in the store", tokens);  // by another tokenizer
}

TEST_F(ClaimStates, TheLongestTrainingIsThatBeforeTheOneThatRanOutOfMemory) {
  Claim longest = claim("<16");
  longest.kind = ClaimKind::longest;
  longest.scale = 1;
  longest.method = MethodQuery{"learner", "small", "", {}};
  longest.longest = LengthQuery{"A card", "rank", {4, 16, 32}, 24576};
  using store::FailureKind;
  expect(State::not_run, "no run in the store", longest);
  plant_training(4, FailureKind::none);
  expect(State::not_run, "4 fits, and nothing longer was tried", longest);
  plant_training(16, FailureKind::none, 40960);
  plant_training(32, FailureKind::method_error);
  expect(State::not_run, "4 fits, and nothing longer was tried", longest);
  plant_training(16, FailureKind::none);
  plant_training(32, FailureKind::oom_device, 40960);
  expect(State::not_run, "16 fits, and nothing longer was tried", longest);
  longest.longest->tries = {4, 16};
  expect(State::reproduced, "", longest);  // there is nothing longer
  longest.longest->tries = {4, 16, 32};
  plant_training(32, FailureKind::oom_device);
  EXPECT_EQ(evaluate(longest).measured->value, 16);
  expect(State::reproduced, "", longest);  // a bound says what fits
  longest.printed = value_of(parse_printed("<32"));
  expect(State::differs, "", longest);
  longest.method->params.push_back({"rate", 0.25, ""});
  expect(State::not_run, "no run in the store", longest);
}

TEST_F(ClaimStates, ACardThatHoldsNoneOfTheLengthsIsSaid) {
  Claim longest = claim("<16");
  longest.kind = ClaimKind::longest;
  longest.method = MethodQuery{"learner", "small", "", {}};
  longest.longest = LengthQuery{"A card", "rank", {4, 16}, 24576};
  plant_training(4, store::FailureKind::oom_device);
  expect(State::not_run, "4 did not fit", longest);
}

TEST_F(ClaimStates, WhatIsTriedIsALengthOfATraining) {
  Claim longest = claim("<16");
  longest.kind = ClaimKind::longest;
  longest.method = MethodQuery{"learner", "small", "", {}};
  for (const char* name : {"rnak", "prompt", "max_words"}) {
    longest.longest = LengthQuery{"A card", name, {4, 16}, 24576};
    expect(State::not_runnable,
           std::string("'") + name + "' is no length of a training by the method 'learner'",
           longest);
  }
}

TEST_F(ClaimStates, SweepsTryLengthsOnTheCardTheyAreOf) {
  Claim small = claim("<16");
  small.kind = ClaimKind::longest;
  small.method = MethodQuery{"learner", "small", "", {{"rank", int64_t{1}, ""}}};
  small.longest = LengthQuery{"A card", "rank", {4, 16}, 24576};
  Claim large = small;
  large.longest->device_memory_mib = 40960;
  const Claim score = claim();
  Lookups lookups({planning_.methods, planning_.datasets, planning_.metrics, {}});
  const std::vector<const Claim*> claims = {&small, &score, &large};
  const auto sweeps = value_of(sweeps_of(claims, lookups));
  ASSERT_EQ(sweeps.size(), 3U);
  EXPECT_FALSE(sweeps[0].on_device);
  EXPECT_TRUE(sweeps[1].on_device && sweeps[2].on_device);
  EXPECT_EQ(sweeps[1].name, "claims-split-test-24576mib");
  const plan::Plan plan = value_of(planning_(sweeps[2].text, "sweep.json"));
  EXPECT_EQ(plan.experiment.limits.device_memory_bytes, int64_t{40} << 30);
  ASSERT_EQ(plan.trainings.size(), 2U);
  EXPECT_EQ(plan.trainings[0].cell.params.get<int64_t>("rank"), 4);
  EXPECT_EQ(plan.trainings[1].cell.params.get<int64_t>("rank"), 16);
  EXPECT_EQ(plan.datasets[plan.cells[0].dataset].ordinals.size(), 1U);
}

TEST_F(ClaimStates, OutputsAreScoredAfterWhatTheTableSays) {
  Claim stripped = claim();
  stripped.postprocess = Json{R"(["strip"])"};
  plant({});
  expect(State::not_run, R"(not scored by fake|post:["strip"])", stripped);
  Lookups lookups({planning_.methods, planning_.datasets, planning_.metrics, {}});
  const Claim raw = claim();
  const std::vector<const Claim*> claims = {&raw, &stripped};
  const auto sweeps = value_of(sweeps_of(claims, lookups));
  ASSERT_EQ(sweeps.size(), 2U);
  const auto steps = [&](size_t sweep) {
    return value_of(planning_(sweeps[sweep].text, "sweep.json")).experiment.postprocess.size();
  };
  EXPECT_EQ(steps(0) + steps(1), 1U);
}

TEST_F(ClaimStates, SweepsHoldTheCellsThatCanRunAndNothingElse) {
  const Claim first = claim();
  Claim second = claim();
  second.method->params.push_back({"max_words", int64_t{50}, ""});
  Claim elsewhere = claim();
  elsewhere.dataset->splits = {"train"};
  Claim impossible = claim();
  impossible.method->method = "ideal";
  Lookups lookups({planning_.methods, planning_.datasets, planning_.metrics, {}});
  const std::vector<const Claim*> claims = {&first, &first, &second, &elsewhere, &impossible};
  const auto sweeps = value_of(sweeps_of(claims, lookups));
  ASSERT_EQ(sweeps.size(), 2U);
  EXPECT_EQ(sweeps[0].name, "claims-split-test");
  const plan::Plan plan = value_of(planning_(sweeps[0].text, "sweep.json"));
  ASSERT_EQ(plan.cells.size(), 2U);
  ASSERT_EQ(plan.metrics.size(), 1U);
  EXPECT_EQ(value_of(planning_(sweeps[1].text, "sweep.json")).cells.size(), 1U);
}

}  // namespace
}  // namespace qfs::claims

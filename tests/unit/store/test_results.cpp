// Results: what is committed is there, a status is derived from it, differences become evidence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/core/text/unicode.h"
#include "harness/store/reader.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/store/sample_rows.h"

namespace qfs::test {
namespace {

using store::AttemptState;
using store::Completeness;
using store::FailureKind;
using store::Reader;
using store::ResultKind;
using store::Store;

class Results : public testing::Test {
 protected:
  Reader reader() const { return value_of(Reader::open(path_)); }
  store::ResultRow status() const { return value_of(reader().result(open_.result)); }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "run.sqlite";
  Store store_ = value_of(Store::open(path_));
  Dataset dataset_ = sample_dataset(4);
  store::CellRow cell_ = sample_cell(dataset_);
  OpenResult open_ = open_sample(store_, dataset_, cell_);
};

TEST_F(Results, AnOutputComesBackWithItsLedgerAndPrompt) {
  value_of(store_.commit_outputs(open_.result, open_.attempt, sample_outputs(0, 1)));
  const auto outputs = value_of(reader().outputs(open_.result, true));
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_EQ(outputs[1].prediction, sample_output(1).prediction);
  EXPECT_EQ(value_of(reader().output(open_.result, 1))->prediction, sample_output(1).prediction);
}

TEST_F(Results, PromptsAreLeftOutUnlessAskedFor) {
  value_of(store_.commit_outputs(open_.result, open_.attempt, sample_outputs(0, 0)));
  EXPECT_EQ(value_of(reader().outputs(open_.result)).at(0).prediction.prompt, "");
}

TEST_F(Results, TextsMayHoldZeroBytesAndAnyScript) {
  store::OutputRow output = sample_output(2);
  output.prediction.text = std::string("a\0b", 3) + " 会议 🙂";
  value_of(store_.commit_outputs(open_.result, open_.attempt, {&output, 1}));
  EXPECT_EQ(value_of(reader().output(open_.result, 2))->prediction.text, output.prediction.text);
}

TEST_F(Results, AnOutputIsEmptyWhenItIsNothingOrWhiteSpaceOfAnyScript) {
  const auto empty = [&](std::u32string_view text) {
    TemporaryFolder folder;
    Store store = value_of(Store::open(folder / "run.sqlite"));
    const OpenResult open = open_sample(store, dataset_, cell_);
    store::OutputRow output = sample_output(0);
    output.prediction.text = to_utf8(text);
    value_of(store.commit_outputs(open.result, open.attempt, {&output, 1}));
    return value_of(value_of(Reader::open(store.path())).empty_outputs(open.result)) == 1;
  };
  EXPECT_TRUE(empty(U""));
  std::u32string all;
  for (char32_t c = 1; c < 0x11000; ++c) {
    if (is_python_space(c)) all += c;
  }
  EXPECT_EQ(all.size(), 29U);
  EXPECT_TRUE(empty(all));
  EXPECT_FALSE(empty(all + U"." + all));
  for (const char32_t c : {U'\u200b', U'\ufeff', U'\u180e', U'\x1b', U'\x7f'}) {
    EXPECT_FALSE(empty(std::u32string(1, c))) << static_cast<uint32_t>(c);
  }
  EXPECT_FALSE(empty(std::u32string(U" \0 ", 3)));
}

TEST_F(Results, IllFormedTextIsRefusedAndNothingOfItsUnitIsKept) {
  std::vector<store::OutputRow> unit = sample_outputs(0, 1);
  unit[1].prediction.text = "\xC3(";
  EXPECT_EQ(store_.commit_outputs(open_.result, open_.attempt, unit).error().kind,
            ErrorKind::internal);
  EXPECT_TRUE(value_of(store_.present_ordinals(open_.result)).empty());
  value_of(store_.commit_outputs(open_.result, open_.attempt, sample_outputs(0, 1)));
  EXPECT_THAT(value_of(store_.present_ordinals(open_.result)), testing::ElementsAre(0, 1));
}

TEST_F(Results, AnEqualOutputIsKept) {
  value_of(store_.commit_outputs(open_.result, open_.attempt, sample_outputs(0, 1)));
  const auto outcome =
      value_of(store_.commit_outputs(open_.result, open_.attempt, sample_outputs(1, 2)));
  EXPECT_EQ(outcome.written, 1);
  EXPECT_EQ(outcome.kept, 1);
  EXPECT_TRUE(outcome.conflicting_ordinals.empty());
}

TEST_F(Results, ADifferentOutputIsEvidenceAndTheFirstStays) {
  value_of(store_.commit_outputs(open_.result, open_.attempt, sample_outputs(0, 0)));
  const store::OutputRow other = sample_output(0, "matter");
  for (int repeated = 0; repeated < 2; ++repeated) {
    const auto outcome = value_of(store_.commit_outputs(open_.result, open_.attempt, {&other, 1}));
    EXPECT_THAT(outcome.conflicting_ordinals, testing::ElementsAre(0));
  }
  EXPECT_EQ(value_of(reader().output(open_.result, 0))->prediction, sample_output(0).prediction);
  const auto conflicts = value_of(reader().conflicts());
  ASSERT_EQ(conflicts.size(), 1U) << "the same difference is one row";
  EXPECT_EQ(conflicts[0].first_text, "They talked about item 0.");
  EXPECT_EQ(conflicts[0].second_text, "They talked about matter 0.");
  EXPECT_EQ(conflicts[0].second_sha256, store::output_digest(other.prediction));
}

TEST_F(Results, ADifferenceInTheLedgerAloneIsAConflictToo) {
  value_of(store_.commit_outputs(open_.result, open_.attempt, sample_outputs(0, 0)));
  store::OutputRow other = sample_output(0);
  other.prediction.truncation->kept_tokens = 9;
  EXPECT_THAT(value_of(store_.commit_outputs(open_.result, open_.attempt, {&other, 1}))
                  .conflicting_ordinals,
              testing::ElementsAre(0));
}

TEST_F(Results, AnExampleThatTheCellDoesNotHaveIsRefused) {
  const store::OutputRow stray = sample_output(4);
  EXPECT_EQ(store_.commit_outputs(open_.result, open_.attempt, {&stray, 1}).error().kind,
            ErrorKind::internal);
}

TEST_F(Results, AnAttemptThatEndedCommitsNothing) {
  check(store_.end_attempt(open_.attempt, {}));
  EXPECT_EQ(store_.commit_outputs(open_.result, open_.attempt, sample_outputs(0, 0)).error().kind,
            ErrorKind::internal);
  EXPECT_TRUE(value_of(store_.present_ordinals(open_.result)).empty());
}

TEST_F(Results, AStatusFollowsFromOutputsAndTheLastAttempt) {
  const auto fresh = value_of(store_.ensure_result(
      {cell_.id, make_numerics_id(Json{R"({"device":"cuda"})"}), ResultKind::predict}));
  EXPECT_EQ(value_of(reader().result(fresh)).status, Completeness::not_started);

  value_of(store_.commit_outputs(open_.result, open_.attempt, sample_outputs(0, 2)));
  EXPECT_EQ(status().status, Completeness::incomplete);
  EXPECT_EQ(status().done, 3);
  EXPECT_EQ(status().expected, 4);
  EXPECT_TRUE(status().running);

  check(
      store_.end_attempt(open_.attempt, {AttemptState::failed, FailureKind::oom_host, "too big"}));
  EXPECT_EQ(status().status, Completeness::failed);
  EXPECT_EQ(status().failure, FailureKind::oom_host);
  EXPECT_EQ(status().failure_text, "too big");
  EXPECT_FALSE(status().running);
  EXPECT_EQ(value_of(store_.last_failure(open_.result))->failure, FailureKind::oom_host);

  const auto second =
      value_of(store_.begin_attempt({.result = open_.result, .environment = open_.environment}));
  EXPECT_EQ(value_of(store_.last_failure(open_.result)), std::nullopt) << "it is tried again";
  value_of(store_.commit_outputs(open_.result, second, sample_outputs(3, 3)));
  EXPECT_EQ(status().status, Completeness::complete);
}

TEST_F(Results, AFailureNeedsAKindAndOnlyAFailureHasOne) {
  EXPECT_FALSE(store_.end_attempt(open_.attempt, {AttemptState::failed, FailureKind::none, ""}));
  EXPECT_FALSE(store_.end_attempt(open_.attempt, {AttemptState::done, FailureKind::signal, ""}));
  check(store_.end_attempt(open_.attempt, {AttemptState::cancelled, FailureKind::none, ""}));
  EXPECT_EQ(value_of(reader().attempts(open_.result)).at(0).state, AttemptState::cancelled);
}

TEST_F(Results, AnAttemptNeedsTheNumericsOfItsResult) {
  const auto cuda = value_of(store_.put_environment(sample_environment("cuda")));
  EXPECT_EQ(store_.begin_attempt({.result = open_.result, .environment = cuda}).error().kind,
            ErrorKind::internal);
}

TEST_F(Results, AnEnvironmentExplainsItsNumerics) {
  const auto row = value_of(reader().environment_of(sample_environment().numerics_id));
  ASSERT_TRUE(row);
  EXPECT_EQ(row->numerics, sample_environment().numerics);
  EXPECT_EQ(value_of(reader().environment(open_.environment)).host, sample_environment().host);
}

TEST_F(Results, OneKeyIsOneResult) {
  EXPECT_EQ(value_of(store_.ensure_result(
                {cell_.id, sample_environment().numerics_id, ResultKind::predict})),
            open_.result);
  EXPECT_EQ(value_of(reader().results(cell_.id)).size(), 1U);
}

TEST_F(Results, AMeasureResultIsCompleteWithAllItsRepetitions) {
  const OpenResult timed = open_result(store_, cell_, ResultKind::measure, {.repetitions = 2});
  const std::vector<store::MeasurementRow> rows = {{0, 0, "prefill", 1500, 300},
                                                   {0, 0, "decode", 9000, 64}};
  const std::vector<store::MemoryRow> memory = {{0, "host_peak", 123456789}};
  check(store_.commit_repetition(timed.result, timed.attempt, 0, rows, memory));
  EXPECT_EQ(value_of(reader().result(timed.result)).status, Completeness::incomplete);
  check(store_.commit_repetition(timed.result, timed.attempt, 1, rows, memory));
  EXPECT_EQ(value_of(reader().result(timed.result)).status, Completeness::complete);
  EXPECT_THAT(value_of(store_.present_repetitions(timed.result)), testing::ElementsAre(0, 1));

  const auto measured = value_of(reader().measurements(timed.result));
  ASSERT_EQ(measured.size(), 4U);
  EXPECT_EQ(measured[3].repetition, 1);
  EXPECT_EQ(measured[3].phase, "prefill");
  EXPECT_EQ(measured[3].ns, 1500);
  EXPECT_EQ(measured[3].tokens, 300);
  EXPECT_EQ(value_of(reader().memory(timed.result)).at(0).bytes, 123456789);
}

TEST_F(Results, ARepetitionThatIsThereIsNotMeasuredOver) {
  const OpenResult timed = open_result(store_, cell_, ResultKind::measure, {.repetitions = 1});
  const std::vector<store::MeasurementRow> first = {{0, 0, "decode", 9000, 64}};
  const std::vector<store::MeasurementRow> second = {{0, 0, "decode", 8000, 64}};
  check(store_.commit_repetition(timed.result, timed.attempt, 0, first, {}));
  check(store_.commit_repetition(timed.result, timed.attempt, 0, second, {}));
  EXPECT_EQ(value_of(reader().measurements(timed.result)).at(0).ns, 9000);
}

TEST_F(Results, OutputsBelongToPredictResultsOnly) {
  const OpenResult timed = open_result(store_, cell_, ResultKind::measure, {.repetitions = 1});
  EXPECT_EQ(store_.commit_outputs(timed.result, timed.attempt, sample_outputs(0, 0)).error().kind,
            ErrorKind::internal);
  EXPECT_EQ(store_.commit_repetition(open_.result, open_.attempt, 0, {}, {}).error().kind,
            ErrorKind::internal);
}

TEST_F(Results, ByteEqualityListsEveryOutputByCellAndNumerics) {
  value_of(store_.commit_outputs(open_.result, open_.attempt, sample_outputs(2, 3)));
  value_of(store_.commit_outputs(open_.result, open_.attempt, sample_outputs(0, 0)));
  const auto hashes = value_of(reader().output_hashes());
  ASSERT_EQ(hashes.size(), 1U);
  EXPECT_EQ(hashes[0].cell, cell_.id);
  EXPECT_EQ(hashes[0].outputs, (std::vector<store::OutputHash>{
                                   {0, store::output_digest(sample_output(0).prediction)},
                                   {2, store::output_digest(sample_output(2).prediction)},
                                   {3, store::output_digest(sample_output(3).prediction)}}));
}

TEST_F(Results, EventsAreListedLatestFirst) {
  check(store_.log_event(store::EventLevel::info, "first"));
  check(store_.log_event(store::EventLevel::warning, "second", open_.attempt));
  const auto events = value_of(reader().events());
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].text, "second");
  EXPECT_EQ(events[0].level, store::EventLevel::warning);
  EXPECT_EQ(events[0].attempt, open_.attempt);
  EXPECT_EQ(events[1].attempt, std::nullopt);
}

TEST_F(Results, AReaderSeesEachCommitAtOnce) {
  Reader reader = this->reader();
  EXPECT_TRUE(value_of(reader.outputs(open_.result)).empty());
  value_of(store_.commit_outputs(open_.result, open_.attempt, sample_outputs(0, 0)));
  EXPECT_EQ(value_of(reader.outputs(open_.result)).size(), 1U);
}

TEST_F(Results, AClosedStoreIsOneFile) {
  value_of(store_.commit_outputs(open_.result, open_.attempt, sample_outputs(0, 3)));
  { const Store closed = std::move(store_); }
  EXPECT_FALSE(std::filesystem::exists(path_ + "-wal"));
  EXPECT_EQ(value_of(reader().outputs(open_.result)).size(), 4U);
}

}  // namespace
}  // namespace qfs::test

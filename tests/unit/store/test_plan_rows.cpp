// What is asked: data sets, cells and sweeps come back as they went in, texts once, idempotently.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/store/reader.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/store/sample_rows.h"

namespace qfs::test {
namespace {

using store::Reader;
using store::Store;

class PlanRows : public testing::Test {
 protected:
  Reader reader() const { return value_of(Reader::open(path_)); }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "run.sqlite";
  Store store_ = value_of(Store::open(path_));
  Dataset dataset_ = sample_dataset(4);
};

TEST_F(PlanRows, AnExampleComesBackWithEveryTextSegmentAndSpan) {
  check(store_.put_dataset(dataset_));
  EXPECT_EQ(value_of(reader().example(dataset_.id, 3)), dataset_.examples[3]);
}

TEST_F(PlanRows, AManifestComesBackWhole) {
  dataset_.manifest.licence = "CC BY 4.0";
  dataset_.manifest.source = "written for a test";
  check(store_.put_dataset(dataset_));
  const store::DatasetRow row = value_of(reader().dataset(dataset_.id));
  EXPECT_EQ(row.manifest.licence, "CC BY 4.0");
  EXPECT_EQ(row.manifest.source, "written for a test");
  EXPECT_EQ(row.manifest.reader, "sample@1");
  EXPECT_EQ(row.manifest.files.at(0).bytes, 17);
  EXPECT_EQ(row.examples, 4);
  EXPECT_TRUE(row.documents_stored);
}

TEST_F(PlanRows, ExamplesOfOneDocumentShareItsText) {
  check(store_.put_dataset(dataset_));
  const auto rows = value_of(reader().examples(dataset_.id));
  EXPECT_EQ(rows[0].document_sha256, rows[1].document_sha256);
  EXPECT_NE(rows[0].document_sha256, rows[2].document_sha256);
  EXPECT_EQ(rows[2].sha256, dataset_.example_hashes[2]);
}

TEST_F(PlanRows, WithoutDocumentsReferencesAndQueriesRemain) {
  check(store_.put_dataset(dataset_, false));
  const Example example = value_of(reader().example(dataset_.id, 0));
  EXPECT_TRUE(example.document.empty());
  EXPECT_EQ(example.references, dataset_.examples[0].references);
  EXPECT_EQ(example.query, dataset_.examples[0].query);
}

TEST_F(PlanRows, DocumentsAreAddedWhenALaterSweepStoresThem) {
  check(store_.put_dataset(dataset_, false));
  check(store_.put_dataset(dataset_, true));
  EXPECT_EQ(value_of(reader().example(dataset_.id, 1)), dataset_.examples[1]);
}

TEST_F(PlanRows, ADataSetThatMayNotBePassedOnKeepsHashesOnly) {
  dataset_.manifest.no_redistribution = true;
  check(store_.put_dataset(dataset_));
  Reader reader = this->reader();
  const auto rows = value_of(reader.examples(dataset_.id));
  EXPECT_EQ(rows[0].query_sha256, sha256_hex(dataset_.examples[0].query));
  EXPECT_EQ(value_of(reader.text(rows[0].query_sha256)), std::nullopt);
  EXPECT_EQ(value_of(reader.text(rows[0].reference_sha256s[0])), std::nullopt);
  EXPECT_EQ(reader.example(dataset_.id, 0).error().kind, ErrorKind::unavailable);
}

TEST_F(PlanRows, PromptsAreKeptOnlyWhereDocumentsAre) {
  const store::CellRow cell = sample_cell(dataset_);
  check(store_.put_dataset(dataset_, false));
  check(store_.put_cell(cell));
  const OpenResult open = open_result(store_, cell);
  value_of(store_.commit_outputs(open.result, open.attempt, sample_outputs(0, 0)));
  EXPECT_EQ(value_of(reader().output(open.result, 0))->prediction.prompt, "");
  EXPECT_EQ(value_of(reader().output(open.result, 0))->sha256,
            store::output_digest(sample_output(0).prediction));
}

TEST_F(PlanRows, ACellComesBackWithItsLargestSeedAndItsExamples) {
  check(store_.put_dataset(dataset_));
  store::CellRow cell = sample_cell(dataset_);
  cell.ordinals = {0, 2, 3};
  cell.oracle = true;
  check(store_.put_cell(cell));
  const store::CellRow row = value_of(reader().cell(cell.id));
  EXPECT_EQ(row.identity, cell.identity);
  EXPECT_EQ(row.seed, cell.seed);
  EXPECT_EQ(row.ordinals, cell.ordinals);
  EXPECT_TRUE(row.oracle);
  EXPECT_THAT(value_of(reader().cells_with_prefix(cell.id.short_hex())),
              testing::ElementsAre(cell.id));
}

TEST_F(PlanRows, ACellWhoseIdIsNotItsIdentitysIsRefused) {
  check(store_.put_dataset(dataset_));
  store::CellRow cell = sample_cell(dataset_);
  cell.identity.text = R"({"method":"other"})";
  EXPECT_EQ(store_.put_cell(cell).error().kind, ErrorKind::internal);
}

TEST_F(PlanRows, ACellOverAnUnknownDataSetIsRefused) {
  EXPECT_EQ(store_.put_cell(sample_cell(dataset_)).error().kind, ErrorKind::internal);
}

class Sweeps : public PlanRows {
 protected:
  void SetUp() override {
    check(store_.put_dataset(dataset_));
    check(store_.put_cell(cell_));
  }
  store::SweepRow sweep(const std::string& name, const std::string& label = "Lead") const {
    return {.name = name,
            .config = Json{R"({"name":")" + name + "\"}"},
            .cells = {{cell_.id, label, Json{R"({"max_words":100})"}, {1, 3}}}};
  }

  store::CellRow cell_ = sample_cell(dataset_);
};

TEST_F(Sweeps, ASweepComesBackWithItsPlacesInOrder) {
  const store::CellRow other = sample_cell(dataset_, "random");
  check(store_.put_cell(other));
  store::SweepRow row = sweep("lc");
  row.cells.insert(row.cells.begin(), {other.id, "Random", Json{"{}"}, {}});
  const store::SweepId id = value_of(store_.put_sweep(row));
  const store::SweepRow found = value_of(reader().latest_sweep("lc"));
  EXPECT_EQ(found.id, id);
  EXPECT_EQ(found.config, row.config);
  EXPECT_EQ(found.cells, row.cells);
}

TEST_F(Sweeps, TheLatestSweepIsTheOneThatRanLastNotTheNewest) {
  const store::SweepId first = value_of(store_.put_sweep(sweep("lc", "A")));
  value_of(store_.put_sweep(sweep("lc", "B")));
  EXPECT_NE(value_of(reader().latest_sweep("lc")).id, first);
  EXPECT_EQ(value_of(store_.put_sweep(sweep("lc", "A"))), first);
  EXPECT_EQ(value_of(reader().latest_sweep("lc")).id, first);
  EXPECT_EQ(value_of(reader().sweeps()).size(), 2U);
}

TEST_F(Sweeps, AMistypedNameIsAnsweredWithTheNearest) {
  value_of(store_.put_sweep(sweep("lc_sweep")));
  const auto missing = reader().latest_sweep("lc_swep");
  EXPECT_EQ(missing.error().kind, ErrorKind::not_found);
  EXPECT_THAT(missing.error().message, testing::HasSubstr("did you mean 'lc_sweep'?"));
}

TEST_F(Sweeps, APlaceShowsTheResultThatWasUsedLast) {
  const store::SweepId id = value_of(store_.put_sweep(sweep("lc")));
  EXPECT_TRUE(value_of(reader().results_of_sweep(id)).empty());
  const OpenResult cpu = open_result(store_, cell_);
  check(store_.use_result(id, 0, cpu.result));
  const auto other = value_of(store_.ensure_result(
      {cell_.id, make_numerics_id(Json{R"({"device":"cuda"})"}), store::ResultKind::predict}));
  check(store_.use_result(id, 0, other));
  const auto results = value_of(reader().results_of_sweep(id));
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].position, 0);
  EXPECT_EQ(results[0].result.id, other);
}

TEST_F(Sweeps, AResultOfAnotherCellHasNoPlace) {
  const store::SweepId id = value_of(store_.put_sweep(sweep("lc")));
  const store::CellRow other = sample_cell(dataset_, "random");
  check(store_.put_cell(other));
  const OpenResult open = open_result(store_, other);
  EXPECT_EQ(store_.use_result(id, 0, open.result).error().kind, ErrorKind::internal);
  EXPECT_TRUE(value_of(reader().results_of_sweep(id)).empty());
}

TEST_F(Sweeps, PuttingThePlanAgainWritesNothing) {
  const auto put = [this] {
    check(store_.put_dataset(dataset_));
    check(store_.put_cell(cell_));
    const store::SweepId id = value_of(store_.put_sweep(sweep("lc")));
    value_of(store_.put_environment(sample_environment()));
    check(
        store_.use_result(id, 0,
                          value_of(store_.ensure_result({cell_.id, sample_environment().numerics_id,
                                                         store::ResultKind::predict}))));
  };
  put();
  const auto log_size = std::filesystem::file_size(path_ + "-wal");
  put();
  EXPECT_EQ(std::filesystem::file_size(path_ + "-wal"), log_size);
}

}  // namespace
}  // namespace qfs::test

// The catalog: names, defaults, choices with suggestions, the cache of loaded sets.
#include "datasets/readers/catalog.h"

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"
#include "tests/unit/datasets/requests.h"

namespace qfs::datasets {
namespace {

constexpr std::string_view kMeeting = R"({
  "general_query_list": [{"query": "Summarize.", "answer": "All."}], "specific_query_list": [],
  "meeting_transcripts": [{"speaker": "Ann", "content": "It's DONE {vocalsound} ."}]})";

class CatalogTest : public ::testing::Test {
 protected:
  CatalogTest() {
    folder_.write("program/mini/meetings/splits.json",
                  R"({"train": ["b"], "val": [], "test": ["b", "a"]})");
    folder_.write("program/mini/meetings/a.json", kMeeting);
    folder_.write("program/mini/meetings/b.json", kMeeting);
    catalog_ = make_catalog({folder_ / "program", {folder_ / "first", folder_ / "second"}});
  }

  Error error_of(const DatasetRequest& request) const {
    Result<std::shared_ptr<const Dataset>> loaded = catalog_->load(request);
    EXPECT_FALSE(loaded.ok());
    return loaded ? Error{} : loaded.error();
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<DatasetCatalog> catalog_;
};

TEST_F(CatalogTest, DefaultsAreTheFirstChoicesAndAreRecorded) {
  auto loaded = catalog_->load(named("mini-meetings"));
  ASSERT_TRUE(loaded.ok()) << loaded.error().to_string();
  const DatasetManifest& manifest = (*loaded)->manifest;
  EXPECT_EQ(manifest.split, "test");
  EXPECT_EQ(manifest.view, "whole");
  EXPECT_EQ(manifest.text_form, "raw@1");
  EXPECT_EQ(manifest.reader, "qmsum@1");
  ASSERT_EQ((*loaded)->examples.size(), 2u);
  EXPECT_EQ((*loaded)->examples[0].key, "a/g1") << "meetings come in the order of their ids";
  EXPECT_EQ((*loaded)->example_hashes.size(), 2u);
}

TEST_F(CatalogTest, ASetIsLoadedOnce) {
  auto first = catalog_->load(named("mini-meetings"));
  auto again = catalog_->load(named("mini-meetings", {.split = "test", .view = "whole"}));
  ASSERT_TRUE(first.ok() && again.ok());
  EXPECT_EQ(first->get(), again->get());
}

TEST_F(CatalogTest, TextFormMayBeGivenWithItsVersion) {
  auto loaded = catalog_->load(named("mini-meetings", {.text_form = "ideal@1"}));
  ASSERT_TRUE(loaded.ok()) << loaded.error().to_string();
  EXPECT_EQ((*loaded)->manifest.text_form, "ideal@1");
  EXPECT_EQ((*loaded)->examples[0].document[0], (Segment{"it 's done .", "ann"}));
  EXPECT_EQ(error_of(named("mini-meetings", {.text_form = "ideal@9"})).message,
            "text form 'ideal@9' is not made any more; this is ideal@1");
}

TEST_F(CatalogTest, UnknownNamesSuggestTheNearest) {
  Error name = error_of(named("mini-meeting"));
  EXPECT_EQ(name.kind, ErrorKind::not_found);
  EXPECT_EQ(name.message, "unknown data set 'mini-meeting' (did you mean 'mini-meetings'?)");
  Error split = error_of(named("mini-meetings", {.split = "tset"}));
  EXPECT_EQ(split.kind, ErrorKind::invalid_argument);
  EXPECT_EQ(split.message, "data set 'mini-meetings' has no split 'tset' (did you mean 'test'?)");
  EXPECT_EQ(error_of(named("mini-meetings", {.view = "gold"})).message,
            "data set 'mini-meetings' has no view 'gold' (did you mean 'golden'?)");
  EXPECT_EQ(error_of(named("mini-meetings", {.text_form = "row"})).message,
            "data set 'mini-meetings' has no text form 'row' (did you mean 'raw'?)");
}

TEST_F(CatalogTest, ANameAndAPathOrANameAndFieldsContradict) {
  DatasetRequest both = named("mini-meetings");
  both.path = "x.jsonl";
  EXPECT_EQ(error_of(both).kind, ErrorKind::invalid_argument);
  DatasetRequest mapped = named("mini-meetings");
  mapped.fields = {{"document", "x"}};
  EXPECT_EQ(error_of(mapped).kind, ErrorKind::invalid_argument);
}

TEST_F(CatalogTest, UsersFilesAreReadThroughTheSameDoor) {
  std::string path =
      folder_.write("d.jsonl", R"({"context": "x", "input": "q", "answers": ["r"]})");
  auto loaded = catalog_->load(
      file(path, {{"document", "context"}, {"query", "input"}, {"references", "answers"}}));
  ASSERT_TRUE(loaded.ok()) << loaded.error().to_string();
  EXPECT_EQ((*loaded)->manifest.name, "d.jsonl");
  EXPECT_EQ((*loaded)->examples[0].references, std::vector<std::string>{"r"});
  DatasetRequest with_split = file(path);
  with_split.split = "test";
  EXPECT_EQ(error_of(with_split).message,
            "data set '" + path + "' has no split 'test' (valid: all)");
}

TEST_F(CatalogTest, ADefectInABundledMeetingNamesTheFile) {
  std::string path = folder_.write("program/mini/meetings/a.json", "{\"meeting_transcripts\": 1}");
  EXPECT_EQ(error_of(named("mini-meetings")).where, path + "#/meeting_transcripts");
}

}  // namespace
}  // namespace qfs::datasets

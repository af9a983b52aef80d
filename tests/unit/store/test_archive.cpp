// Archives: equal content gives equal bytes, everything comes back, and an archive that somebody
// changed is refused with the file and line at fault.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/store/archive.h"
#include "harness/store/archive_format.h"
#include "harness/store/reader.h"
#include "harness/store/schema.h"
#include "tests/crash/store/crash_writer.h"
#include "tests/support/golden.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/store/sample_rows.h"

namespace qfs::test {
namespace {

namespace fs = std::filesystem;
using store::export_store;
using store::import_archive;
using store::Reader;
using testing::HasSubstr;
using testing::IsEmpty;

using Files = std::map<std::string, std::string>;

class Archive : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(write_everything(store_, 4), 0);
    value_of(export_store(store_, archive_));
  }
  static Files files_of(const std::string& folder) {
    Files files;
    for (const auto& entry : fs::directory_iterator(folder)) {
      files[entry.path().filename()] = *file_text(entry.path());
    }
    return files;
  }
  Error refused() const {
    const auto outcome = import_archive(archive_, folder_ / "there.sqlite");
    EXPECT_FALSE(fs::exists(folder_ / "there.sqlite"));
    return outcome ? Error{ErrorKind::internal, "nothing was refused", ""} : outcome.error();
  }
  std::string read(const std::string& name) const { return *file_text(archive_ + "/" + name); }
  void write(const std::string& name, const std::string& text) const {
    folder_.write("archive/" + name, text);
  }
  /// Changes a file and lets the manifest say that it is right.
  void forge(const std::string& name, const std::string& from, const std::string& to) const {
    std::string text = read(name);
    const std::string before = sha256_hex(text);
    const std::string bytes = "\"bytes\": " + std::to_string(text.size());
    ASSERT_NE(text.find(from), text.npos) << text;
    text.replace(text.find(from), from.size(), to);
    write(name, text);
    std::string manifest = read("manifest.json");
    const size_t line = manifest.find("\"" + name + "\"");
    manifest.replace(manifest.find(bytes, line), bytes.size(),
                     "\"bytes\": " + std::to_string(text.size()));
    manifest.replace(manifest.find(before), before.size(), sha256_hex(text));
    write("manifest.json", manifest);
  }

  TemporaryFolder folder_;
  std::string store_ = folder_ / "here.sqlite";
  std::string archive_ = folder_ / "archive";
};

TEST_F(Archive, WhatIsImportedIsExportedToTheSameBytes) {
  const std::string there = folder_ / "there.sqlite";
  const auto outcome = value_of(import_archive(archive_, there));
  EXPECT_EQ(outcome.outputs, 8);
  EXPECT_EQ(outcome.scores, 2);
  value_of(export_store(there, folder_ / "again"));
  EXPECT_EQ(files_of(folder_ / "again"), files_of(archive_));
  Reader here = value_of(Reader::open(store_));
  Reader reader = value_of(Reader::open(there));
  EXPECT_THAT(value_of(reader.check_integrity()), IsEmpty());
  EXPECT_EQ(value_of(reader.output_hashes()), value_of(here.output_hashes()));
  const Dataset dataset = sample_dataset(4);
  EXPECT_EQ(value_of(reader.example(dataset.id, 3)).query, dataset.examples[3].query);
}

TEST_F(Archive, ItsBytesDoNotDependOnRowNumbers) {
  // The same results, arrived in another order in another file.
  const std::string other = folder_ / "other.sqlite";
  {
    store::Store store = value_of(store::Store::open(other));
    const Dataset dataset = sample_dataset(4, "unrelated");
    const OpenResult open = open_sample(store, dataset, sample_cell(dataset, "unrelated"));
    check(store.end_attempt(open.attempt, {}));
  }
  value_of(store::merge_store(other, store_));
  value_of(export_store(other, folder_ / "both"));
  const Files files = files_of(folder_ / "both");
  for (const char* const name : {"score.jsonl", "statistic.jsonl"}) {
    EXPECT_EQ(files.at(name), read(name)) << name;
  }
  EXPECT_THAT(files.at("text.jsonl"), HasSubstr(read("text.jsonl").substr(0, 64)));
}

TEST_F(Archive, AnotherExportReplacesIt) {
  folder_.write("archive/NOTES", "mine");
  value_of(export_store(store_, archive_, {.strip_texts = true}));
  EXPECT_EQ(read("NOTES"), "mine");
  EXPECT_THAT(read("manifest.json"), HasSubstr(R"("texts": "stripped")"));
  value_of(import_archive(archive_, folder_ / "there.sqlite"));
}

TEST_F(Archive, StrippedTextsAreHashes) {
  value_of(export_store(store_, archive_, {.strip_texts = true}));
  for (const auto& [name, text] : files_of(archive_)) {
    for (const char* const words : {"We met about", "What was said", "Summarize", "topic"}) {
      EXPECT_THAT(text, testing::Not(HasSubstr(words))) << name;
    }
  }
  const std::string there = folder_ / "there.sqlite";
  value_of(import_archive(archive_, there));
  Reader reader = value_of(Reader::open(there));
  EXPECT_THAT(value_of(reader.check_integrity()), IsEmpty());
  const auto example = reader.example(sample_dataset(4).id, 0);
  ASSERT_FALSE(example);
  EXPECT_EQ(example.error().kind, ErrorKind::unavailable);
  EXPECT_EQ(value_of(reader.output_hashes()),
            value_of(value_of(Reader::open(store_)).output_hashes()));
}

TEST_F(Archive, OneByteMoreOrLessIsRefused) {
  for (const auto& [name, text] : files_of(archive_)) {
    if (name == "manifest.json") continue;
    SCOPED_TRACE(name);
    write(name, text + "\n");
    EXPECT_THAT(refused().message, HasSubstr("the manifest says " + std::to_string(text.size())));
    std::string other = text;
    other[text.size() / 2] ^= 1;
    write(name, other);
    EXPECT_THAT(refused().message, HasSubstr("is not the one that was exported"));
    fs::remove(archive_ + "/" + name);
    EXPECT_THAT(refused().message, HasSubstr("its manifest names it"));
    write(name, text);
  }
  value_of(import_archive(archive_, folder_ / "there.sqlite"));
}

TEST_F(Archive, ARowThatIsNoneIsRefusedWithItsLine) {
  forge("output.jsonl", R"("ordinal":1)", R"("ordinal":"1")");
  const Error error = refused();
  EXPECT_EQ(error.kind, ErrorKind::data);
  EXPECT_TRUE(error.where.ends_with("output.jsonl:2")) << error.where;
  EXPECT_EQ(error.message, "a row of 'output' needs 'ordinal': an integer of 64 bits");
}

TEST_F(Archive, ARowTwiceDoesNotFit) {
  forge("cell.jsonl", "\n", "\n" + read("cell.jsonl").substr(0, read("cell.jsonl").find('\n') + 1));
  std::string manifest = read("manifest.json");
  const std::string rows = "\"cell.jsonl\", \"rows\": 3";
  manifest.replace(manifest.find(rows), rows.size(), "\"cell.jsonl\", \"rows\": 4");
  write("manifest.json", manifest);
  EXPECT_THAT(refused().message, HasSubstr("the row does not fit the others: UNIQUE"));
}

TEST_F(Archive, ForgedTextsAreFoundByTheirDigests) {
  forge("output.jsonl", "They talked about item", "They talked about atom");
  const Error error = refused();
  EXPECT_EQ(error.kind, ErrorKind::store);
  EXPECT_EQ(error.where, archive_);
  EXPECT_THAT(error.message, HasSubstr("does not have its digest"));
}

TEST_F(Archive, WithoutAManifestAFolderIsNone) {
  fs::remove(archive_ + "/manifest.json");
  EXPECT_EQ(refused().kind, ErrorKind::not_found);
}

TEST_F(Archive, AManifestNamesKnownFilesOnly) {
  const std::string manifest = read("manifest.json");
  const std::pair<std::string, std::string> changes[] = {
      {"cell.jsonl", "../cell.jsonl"},
      {"cell.jsonl", "cells.jsonl"},
      {"archive/1", "archive/2"},
      {"\"rows\": 3", "\"rows\": -3"},
      {"\"rows\": 3", "\"rows\": 3.5"},
      {"\"store_schema\": 1", "\"store_schema\": 9"},
      {"\"texts\": \"whole\"", "\"texts\": 1"}};
  for (const auto& [from, to] : changes) {
    std::string text = manifest;
    text.replace(text.find(from), from.size(), to);
    write("manifest.json", text);
    EXPECT_EQ(refused().kind, ErrorKind::data) << to;
  }
  write("manifest.json", std::string(store::kLongestManifestBytes + 1, ' '));
  EXPECT_EQ(refused().kind, ErrorKind::data);
}

TEST_F(Archive, EveryColumnOfTheSchemaIsInIt) {
  auto db = value_of(store::Connection::open("", store::OpenMode::memory, 0));
  db.script(std::string(store::migration_list().front().sql));
  std::vector<std::string> schema;
  {
    store::Query rows = db.query(
        "SELECT m.name || '.' || c.name FROM sqlite_schema m, pragma_table_info(m.name) c"
        " WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' AND m.name <> 'schema_version'"
        " ORDER BY 1");
    while (rows.next()) schema.push_back(rows.text(0));
  }
  std::vector<std::string> archived;
  for (const store::ArchiveTable& table : store::archive_tables()) {
    for (const store::ArchiveColumn& column : table.columns) {
      archived.push_back(std::string(table.name) + "." + column.name);
    }
  }
  std::sort(archived.begin(), archived.end());
  EXPECT_EQ(archived, schema);
}

TEST_F(Archive, AStoreThatCannotBeReadLeavesNoArchive) {
  EXPECT_EQ(export_store(folder_ / "absent.sqlite", folder_ / "none").error().kind,
            ErrorKind::not_found);
  EXPECT_FALSE(fs::exists(folder_ / "none"));
  const auto blocked = export_store(store_, store_);
  ASSERT_FALSE(blocked);
}

}  // namespace
}  // namespace qfs::test

// Fetching a set: from a server with every fault, from a folder, continued after an interruption.
#include "datasets/fetch/fetch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "harness/core/files.h"
#include "harness/core/sha256.h"
#include "tests/support/http_server.h"
#include "tests/support/temporary_folder.h"

namespace qfs::datasets {
namespace {

using test::HttpAnswer;
using test::HttpServer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kFirst(3000, 'a');
const std::string kSecond(500000, 'b');

HttpAnswer page(const std::string& body) { return {200, body, -1, "", false}; }

class FetchTest : public ::testing::Test {
 protected:
  FetchTest() {
    entry_.name = "tiny";
    entry_.base_url = "https://unused.invalid/";
    entry_.files = {{"a.jsonl", sha256_hex(kFirst), 3000},
                    {"sub/b.jsonl", sha256_hex(kSecond), 500000}};
  }

  Result<FetchReport> from(const HttpServer& server) {
    FetchOptions options;
    options.base_url = server.base_url();
    options.stall_timeout = std::chrono::seconds(1);
    return fetch(entry_, folder_ / "sets", options);
  }

  Error error_from(const HttpAnswer& second) {
    HttpServer server({{"/a.jsonl", page(kFirst)}, {"/sub/b.jsonl", second}});
    Result<FetchReport> report = from(server);
    EXPECT_FALSE(report.ok());
    return report ? Error{} : report.error();
  }

  /// Names of all files below the destination.
  std::vector<std::string> files_there() const {
    std::vector<std::string> names;
    if (!std::filesystem::exists(folder_ / "sets")) return names;
    for (const auto& item : std::filesystem::recursive_directory_iterator(folder_ / "sets")) {
      if (item.is_regular_file()) names.push_back(item.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
  }

  test::TemporaryFolder folder_;
  RegistryEntry entry_;
};

TEST_F(FetchTest, EveryFileArrivesUnderItsName) {
  HttpServer server({{"/a.jsonl", page(kFirst)}, {"/sub/b.jsonl", page(kSecond)}});
  Result<FetchReport> report = from(server);
  ASSERT_TRUE(report.ok()) << report.error().to_string();
  EXPECT_EQ(report->files_fetched, 2);
  EXPECT_EQ(report->bytes_fetched, 503000);
  EXPECT_EQ(report->folder, folder_ / "sets/tiny");
  EXPECT_EQ(*read_file(folder_ / "sets/tiny/sub/b.jsonl"), kSecond);
  EXPECT_THAT(files_there(), ElementsAre("a.jsonl", "b.jsonl"));
}

TEST_F(FetchTest, WhatIsThereAndRightIsKeptAndWhatIsWrongIsReplaced) {
  folder_.write("sets/tiny/a.jsonl", kFirst);
  folder_.write("sets/tiny/sub/b.jsonl", std::string(500000, 'x'));
  HttpServer server({{"/sub/b.jsonl", page(kSecond)}});
  Result<FetchReport> report = from(server);
  ASSERT_TRUE(report.ok()) << report.error().to_string();
  EXPECT_EQ(report->files_kept, 1);
  EXPECT_THAT(server.requests(), ElementsAre("/sub/b.jsonl"));
  EXPECT_EQ(*read_file(folder_ / "sets/tiny/sub/b.jsonl"), kSecond);
}

TEST_F(FetchTest, ACompleteSetNeedsNoNetwork) {
  folder_.write("sets/tiny/a.jsonl", kFirst);
  folder_.write("sets/tiny/sub/b.jsonl", kSecond);
  Result<FetchReport> report = fetch(entry_, folder_ / "sets", {});
  ASSERT_TRUE(report.ok()) << report.error().to_string();
  EXPECT_EQ(report->files_kept, 2);
}

TEST_F(FetchTest, AnHttpErrorNamesAddressAndStatusAndKeepsWhatIsComplete) {
  Error error = error_from({404, "none", -1, "", false});
  EXPECT_EQ(error.kind, ErrorKind::unavailable);
  EXPECT_THAT(error.message, HasSubstr("the server answered HTTP 404"));
  EXPECT_THAT(error.message, HasSubstr("the same command continues"));
  EXPECT_THAT(error.where, HasSubstr("/sub/b.jsonl"));
  EXPECT_THAT(files_there(), ElementsAre("a.jsonl"));
}

TEST_F(FetchTest, ATruncatedBodyIsAnErrorAndLeavesNothing) {
  Error error = error_from({200, kSecond.substr(0, 1000), 500000, "", false});
  EXPECT_EQ(error.kind, ErrorKind::unavailable);
  EXPECT_THAT(error.message, HasSubstr("ended early, after 1000 bytes"));
  EXPECT_THAT(files_there(), ElementsAre("a.jsonl"));
}

TEST_F(FetchTest, AShortBodyOfDeclaredLengthIsADataError) {
  Error error = error_from(page(kSecond.substr(0, 1000)));
  EXPECT_EQ(error.kind, ErrorKind::data);
  EXPECT_THAT(error.message, HasSubstr("has 1000 bytes, expected 500000"));
  EXPECT_THAT(files_there(), ElementsAre("a.jsonl"));
}

TEST_F(FetchTest, AWrongHashIsADataErrorAndLeavesNothing) {
  Error error = error_from(page(std::string(500000, 'x')));
  EXPECT_EQ(error.kind, ErrorKind::data);
  EXPECT_THAT(error.message, HasSubstr("expected " + sha256_hex(kSecond)));
  EXPECT_THAT(files_there(), ElementsAre("a.jsonl"));
}

TEST_F(FetchTest, ALongBodyIsCutOffNotStored) {
  Error error = error_from(page(kSecond + "more"));
  EXPECT_EQ(error.kind, ErrorKind::unavailable);
  EXPECT_THAT(error.message, HasSubstr("more than the expected 500000 bytes"));
  EXPECT_THAT(files_there(), ElementsAre("a.jsonl"));
}

TEST_F(FetchTest, AServerThatHangsIsATimeout) {
  Error error = error_from({200, kSecond, -1, "", true});
  EXPECT_EQ(error.kind, ErrorKind::timeout);
  EXPECT_THAT(error.message, HasSubstr("too slow"));
  EXPECT_THAT(files_there(), ElementsAre("a.jsonl"));
}

TEST_F(FetchTest, RedirectsAreFollowedButNotToOtherProtocols) {
  HttpServer server({{"/a.jsonl", {302, "", -1, "/moved", false}},
                     {"/moved", page(kFirst)},
                     {"/sub/b.jsonl", {302, "", -1, "file:///etc/hostname", false}}});
  Result<FetchReport> report = from(server);
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.error().message, HasSubstr("file"));
  EXPECT_THAT(files_there(), ElementsAre("a.jsonl"));
}

TEST_F(FetchTest, ARefusedConnectionIsUnavailable) {
  std::string address;
  {
    HttpServer closed({});
    address = closed.base_url();
  }
  FetchOptions options;
  options.base_url = address;
  Result<FetchReport> report = fetch(entry_, folder_ / "sets", options);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().kind, ErrorKind::unavailable);
  EXPECT_TRUE(files_there().empty());
}

TEST_F(FetchTest, PlainHttpIsRefusedWithoutAMirror) {
  HttpServer server({{"/a.jsonl", page(kFirst)}});
  entry_.base_url = server.base_url();
  Result<FetchReport> report = fetch(entry_, folder_ / "sets", {});
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().kind, ErrorKind::unavailable);
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(FetchTest, AFolderIsCopiedWithTheSameChecks) {
  folder_.write("from/tiny/a.jsonl", kFirst);
  folder_.write("from/tiny/sub/b.jsonl", kSecond);
  FetchOptions options;
  for (const char* from : {"from", "from/tiny"}) {
    options.from_folder = folder_ / from;
    std::string destination =
        folder_ / ("sets" + std::string(from == std::string("from") ? "1" : "2"));
    Result<FetchReport> report = fetch(entry_, destination, options);
    ASSERT_TRUE(report.ok()) << report.error().to_string();
    EXPECT_EQ(*read_file(destination + "/tiny/sub/b.jsonl"), kSecond);
  }
  folder_.write("from/tiny/a.jsonl", std::string(3000, 'x'));
  Result<FetchReport> report = fetch(entry_, folder_ / "sets", options);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().kind, ErrorKind::data);
  EXPECT_EQ(report.error().where, folder_ / "from/tiny/a.jsonl");
  EXPECT_TRUE(files_there().empty());
}

TEST_F(FetchTest, AFolderWithoutAFileNamesIt) {
  FetchOptions options;
  options.from_folder = folder_.path();
  Result<FetchReport> report = fetch(entry_, folder_ / "sets", options);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().kind, ErrorKind::not_found);
  EXPECT_THAT(report.error().to_string(), HasSubstr("a.jsonl"));
}

TEST_F(FetchTest, ProgressGrowsToTheWholeSet) {
  HttpServer server({{"/a.jsonl", page(kFirst)}, {"/sub/b.jsonl", page(kSecond)}});
  FetchOptions options;
  options.base_url = server.base_url();
  std::vector<int64_t> bytes;
  FetchProgress last;
  options.progress = [&](const FetchProgress& progress) {
    bytes.push_back(progress.bytes_done);
    last = progress;
  };
  ASSERT_TRUE(fetch(entry_, folder_ / "sets", options).ok());
  EXPECT_TRUE(std::ranges::is_sorted(bytes));
  EXPECT_GT(bytes.size(), 2u) << "a large file reports while it arrives";
  EXPECT_EQ(last.bytes_done, 503000);
  EXPECT_EQ(last.bytes_total, 503000);
  EXPECT_EQ(last.files_done, 2);
  EXPECT_EQ(last.files_total, 2);
}

}  // namespace
}  // namespace qfs::datasets

// Spans of a locator's file: which line is an example's, and which files are none. With QMSum's own
// file, where it is there, nearly every query of its test split.
#include "methods/retrieve_generate/spans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/core/files.h"
#include "tests/support/shared_data.h"

namespace qfs::retrieve_generate {
namespace {

using ::testing::HasSubstr;

constexpr const char* kLines =
    "<s> summarize the whole meeting . </s> ann : we buy the red hat now . bob : fine\n"
    "<s> summarize the whole meeting . </s> cat : the bill was read a second time today\r\n"
    "\n"
    "<s> what did ann say on a hat ? </s> ann : we buy the red hat\n";

Example example(std::string query, std::vector<Segment> document) {
  Example made;
  made.key = "one";
  made.query = std::move(query);
  made.document = std::move(document);
  return made;
}

const std::vector<Segment> kHats = {{"We buy {vocalsound} the red hat, now.", "Ann"},
                                    {"Fine.", "Bob"}};

TEST(Spans, are_found_by_query_and_then_by_document) {
  const auto spans = Spans::parse(kLines, "spans");
  ASSERT_TRUE(spans.ok()) << spans.error().to_string();
  EXPECT_EQ(spans->size(), 3);
  const std::string whole = "Summarize the whole meeting.";
  EXPECT_EQ(*spans->of(example(whole, kHats)), "ann : we buy the red hat now . bob : fine");
  EXPECT_EQ(*spans->of(example(whole, {{"The bill was read a second time, today.", "Cat"}})),
            "cat : the bill was read a second time today");
  EXPECT_EQ(*spans->of(example("What did Ann say on a hat?", kHats)), "ann : we buy the red hat");
}

TEST(Spans, of_no_line_are_missing) {
  const auto spans = Spans::parse(kLines, "spans");
  const auto unknown = spans->of(example("Why?", kHats));
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().kind, ErrorKind::not_found);
  EXPECT_THAT(unknown.error().message, HasSubstr("has the query of example 'one': 'Why?'"));
  const auto other = spans->of(example("Summarize the whole meeting", {{"Quite another one", ""}}));
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.error().message, HasSubstr("of the 2 lines"));
}

TEST(Spans, bad_lines_are_named) {
  const auto refused = [](const char* text) {
    const auto spans = Spans::parse(text, "f.txt");
    return spans.ok() ? std::string() : spans.error().to_string();
  };
  EXPECT_THAT(refused("<s> why ? </s> so\nwhy ? so\n"), HasSubstr("f.txt:2: expected \"<s> query"));
  EXPECT_THAT(refused("<s> ? </s> so"), HasSubstr("f.txt:1: a query without words"));
  EXPECT_THAT(refused("<s> why ? </s> . "), HasSubstr("f.txt:1: no text behind"));
  EXPECT_THAT(refused("\xff"), HasSubstr("f.txt:1: ill-formed UTF-8"));
  EXPECT_THAT(refused("\n"), HasSubstr("without any"));
}

TEST(Spans, of_qmsums_test_split) {
  const auto lines = test::shared_data("qmsum/extracted_span/test.txt");
  const auto meetings = test::shared_data("qmsum/data/ALL/jsonl/test.jsonl");
  QFS_SKIP_WITHOUT_DATA(lines);
  QFS_SKIP_WITHOUT_DATA(meetings);
  const auto spans = Spans::parse(*read_file(lines.string(), 1 << 24), "test.txt");
  ASSERT_TRUE(spans.ok()) << spans.error().to_string();
  EXPECT_EQ(spans->size(), 279);
  int found = 0;
  int missing = 0;
  std::ifstream file(meetings);
  for (std::string line; std::getline(file, line);) {
    const auto meeting = nlohmann::json::parse(line);
    Example one;
    for (const auto& turn : meeting.at("meeting_transcripts")) {
      one.document.push_back({turn.at("content"), turn.at("speaker")});
    }
    for (const char* list : {"general_query_list", "specific_query_list"}) {
      for (const auto& query : meeting.at(list)) {
        one.query = query.at("query");
        ++(spans->of(one).ok() ? found : missing);
      }
    }
  }
  // Seven queries are not in the file; six of one meeting stand there with another meeting's turns,
  // and so does one request for a summary of the whole.
  EXPECT_EQ(found, 267);
  EXPECT_EQ(missing, 14);
}

}  // namespace
}  // namespace qfs::retrieve_generate

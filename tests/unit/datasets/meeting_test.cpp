// QMSum-format meetings: what is read, how views are made, and how each defect is reported.
#include "datasets/readers/meeting.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace qfs::datasets {
namespace {

using nlohmann::json;

json small_meeting() {
  return json::parse(R"({
    "topic_list": [],
    "general_query_list": [{"query": "Summarize the meeting.", "answer": "All."}],
    "specific_query_list": [
      {"query": "What did A say?", "answer": "One.", "relevant_text_span": [["0", "1"], ["1", "2"]]},
      {"query": "And B?", "answer": "Two.", "relevant_text_span": [["2", "2"]]}],
    "meeting_transcripts": [
      {"speaker": "A", "content": "zero"}, {"speaker": "B", "content": "one"},
      {"speaker": "A", "content": "two"}]})");
}

Error meeting_error(const json& value) {
  Result<Meeting> meeting = decode_meeting(value, "m", {"f.jsonl:7", ""});
  EXPECT_FALSE(meeting.ok());
  return meeting ? Error{} : meeting.error();
}

std::vector<Example> examples_of(MeetingView view) {
  Result<Meeting> meeting = decode_meeting(small_meeting(), "m", {"f", ""});
  std::vector<Example> examples;
  if (meeting) append_examples(*meeting, view, examples);
  return examples;
}

TEST(Meeting, GeneralQueriesComeBeforeSpecificOnes) {
  std::vector<Example> examples = examples_of(MeetingView::whole);
  ASSERT_EQ(examples.size(), 3u);
  EXPECT_EQ(examples[0].key, "m/g1");
  EXPECT_EQ(examples[0].query, "Summarize the meeting.");
  EXPECT_EQ(examples[1].key, "m/s1");
  EXPECT_EQ(examples[2].key, "m/s2");
  EXPECT_EQ(examples[2].references, std::vector<std::string>{"Two."});
  EXPECT_EQ(examples[2].document_id, "m");
  EXPECT_EQ(examples[2].language, "en");
}

TEST(Meeting, WholeViewGivesEveryTurnAndTheSpansAsEvidence) {
  std::vector<Example> examples = examples_of(MeetingView::whole);
  ASSERT_EQ(examples.size(), 3u);
  EXPECT_EQ(examples[1].document.size(), 3u);
  EXPECT_EQ(examples[1].document[1], (Segment{"one", "B"}));
  EXPECT_EQ(examples[1].evidence, (std::vector<SegmentSpan>{{0, 1}, {1, 2}}));
  EXPECT_TRUE(examples[0].evidence.empty());
}

TEST(Meeting, GoldenViewJoinsTheSpansInOrderAndRepeatsOverlaps) {
  std::vector<Example> examples = examples_of(MeetingView::golden);
  ASSERT_EQ(examples.size(), 3u);
  EXPECT_EQ(examples[1].document,
            (std::vector<Segment>{{"zero", "A"}, {"one", "B"}, {"one", "B"}, {"two", "A"}}));
  EXPECT_EQ(examples[1].evidence, (std::vector<SegmentSpan>{{0, 1}, {2, 3}}));
  EXPECT_EQ(examples[2].document, (std::vector<Segment>{{"two", "A"}}));
}

TEST(Meeting, GoldenViewKeepsTheWholeTranscriptForGeneralQueries) {
  std::vector<Example> examples = examples_of(MeetingView::golden);
  ASSERT_EQ(examples.size(), 3u);
  EXPECT_EQ(examples[0].document.size(), 3u);
}

TEST(Meeting, TurnNumbersMayBeNumbers) {
  json value = small_meeting();
  value["specific_query_list"][0]["relevant_text_span"] = {{0, 1}};
  Result<Meeting> meeting = decode_meeting(value, "m", {"f", ""});
  ASSERT_TRUE(meeting.ok());
  EXPECT_EQ(meeting->queries[1].spans, (std::vector<SegmentSpan>{{0, 1}}));
}

TEST(MeetingErrors, MissingFieldNamesPlaceAndTheFieldsThere) {
  json value = small_meeting();
  value["specific_query_list"][1] = {{"querry", "x"}, {"answer", "y"}};
  Error error = meeting_error(value);
  EXPECT_EQ(error.kind, ErrorKind::data);
  EXPECT_EQ(error.where, "f.jsonl:7#/specific_query_list/1");
  EXPECT_EQ(error.message,
            "missing field 'query' (did you mean 'querry'?); the fields there are: answer, querry");
}

TEST(MeetingErrors, SpanBehindTheLastTurnIsOutOfRange) {
  json value = small_meeting();
  value["specific_query_list"][0]["relevant_text_span"][1] = {"1", "3"};
  Error error = meeting_error(value);
  EXPECT_EQ(error.where, "f.jsonl:7#/specific_query_list/0/relevant_text_span/1");
  EXPECT_EQ(error.message, "relevant span 1 to 3 is not inside the meeting's turns 0 to 2");
}

TEST(MeetingErrors, ReversedAndIllFormedSpansAreRejected) {
  for (const char* span : {R"(["2", "1"])", R"(["0"])", R"(["-1", "1"])", R"(["0", "1x"])",
                           R"(["", "1"])", R"(["0", "99999999999999999999"])", R"("0-1")",
                           R"([0.5, 1])", R"([0, 18446744073709551615])"}) {
    json value = small_meeting();
    value["specific_query_list"][0]["relevant_text_span"] = json::array({json::parse(span)});
    EXPECT_EQ(meeting_error(value).where, "f.jsonl:7#/specific_query_list/0/relevant_text_span/0")
        << span;
  }
}

TEST(MeetingErrors, WrongTypesAreNamed) {
  json value = small_meeting();
  value["meeting_transcripts"][2]["content"] = 5;
  Error error = meeting_error(value);
  EXPECT_EQ(error.where, "f.jsonl:7#/meeting_transcripts/2/content");
  EXPECT_EQ(error.message, "field 'content' must be text, found a number");
  value = small_meeting();
  value["general_query_list"] = json::object();
  EXPECT_EQ(meeting_error(value).message,
            "field 'general_query_list' must be a list, found an object");
  EXPECT_EQ(meeting_error(json::array()).message,
            "expected an object with the field 'meeting_transcripts', found a list");
}

}  // namespace
}  // namespace qfs::datasets

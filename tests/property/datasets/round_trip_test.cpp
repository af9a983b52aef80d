// What is written as CSV or JSON lines is read back; documents are cut without losing a byte; the
// golden view holds exactly the turns of the spans.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

#include "datasets/readers/csv.h"
#include "datasets/readers/meeting.h"
#include "datasets/readers/record.h"
#include "datasets/segments.h"
#include "harness/core/text/unicode.h"

namespace qfs::datasets {
namespace {

/// Text of code points that formats must protect: separators, quotes, line ends, wide characters.
rc::Gen<std::string> awkward_text() {
  auto point = rc::gen::element<char32_t>(U'a', U'B', U' ', U',', U'"', U'\n', U'\r', U'\t', U'\\',
                                          U'=', U'\u00e9', U'\u4e2d', U'\U0001F600', U'\u2028');
  return rc::gen::map(rc::gen::container<std::u32string>(point),
                      [](const std::u32string& text) { return to_utf8(text); });
}

std::string csv_cell(const std::string& text) {
  std::string cell = "\"";
  for (char c : text) cell += c == '"' ? std::string("\"\"") : std::string(1, c);
  return cell + '"';
}

RC_GTEST_PROP(Csv, QuotedTablesAreReadBack, ()) {
  auto columns = *rc::gen::inRange<size_t>(1, 5);
  auto rows = *rc::gen::container<std::vector<std::vector<std::string>>>(
      rc::gen::container<std::vector<std::string>>(columns, awkward_text()));
  std::string line_end = *rc::gen::element<std::string>("\n", "\r\n");
  std::string text;
  for (size_t i = 0; i < columns; ++i) text += (i ? ",c" : "c") + std::to_string(i);
  for (const auto& row : rows) {
    text += line_end;
    for (size_t i = 0; i < columns; ++i) text += (i ? "," : "") + csv_cell(row[i]);
  }
  Result<CsvTable> table = parse_csv(text, "t.csv");
  RC_ASSERT(table.ok());
  RC_ASSERT(table->rows.size() == rows.size());
  for (size_t i = 0; i < rows.size(); ++i) RC_ASSERT(table->rows[i].cells == rows[i]);
}

RC_GTEST_PROP(JsonLines, RecordsAreReadBack, ()) {
  auto turns = *rc::gen::container<std::vector<std::pair<std::string, std::string>>>(
      rc::gen::pair(awkward_text(), awkward_text()));
  auto references = *rc::gen::container<std::vector<std::string>>(awkward_text());
  auto query = *awkward_text();
  nlohmann::json record = {{"query", query}, {"references", references}};
  record["document"] = nlohmann::json::array();
  for (const auto& [speaker, text] : turns) {
    record["document"].push_back({{"speaker", speaker}, {"text", text}});
  }
  Result<nlohmann::json> parsed = parse_json_line(record.dump(), "f:1");
  RC_ASSERT(parsed.ok());
  Result<Example> example = decode_record(*parsed, *make_field_map({}), 1, {"f:1", ""});
  RC_ASSERT(example.ok());
  RC_ASSERT(example->query == query);
  RC_ASSERT(example->references == references);
  RC_ASSERT(example->document.size() == turns.size());
  for (size_t i = 0; i < turns.size(); ++i) {
    RC_ASSERT(example->document[i].speaker == turns[i].first);
    RC_ASSERT(example->document[i].text == turns[i].second);
  }
}

RC_GTEST_PROP(SplitDocument, SegmentsJoinedByNewlinesAreTheText, ()) {
  auto points = *rc::gen::container<std::string>(rc::gen::element('a', 'b', ' ', '\n', '\n', '\r'));
  Example example;
  example.document = split_document(points);
  RC_ASSERT(rendered_document(example) == points);
}

RC_GTEST_PROP(GoldenView, HoldsTheTurnsOfTheSpansInOrder, ()) {
  auto turns = *rc::gen::inRange<int64_t>(1, 20);
  Meeting meeting;
  meeting.id = "m";
  for (int64_t i = 0; i < turns; ++i) meeting.turns.push_back({std::to_string(i), "S"});
  MeetingQuery query;
  query.specific = true;
  auto count = *rc::gen::inRange<size_t>(0, 5);
  for (size_t i = 0; i < count; ++i) {
    auto first = *rc::gen::inRange<int64_t>(0, turns);
    query.spans.push_back({first, *rc::gen::inRange<int64_t>(first, turns)});
  }
  meeting.queries = {query};
  std::vector<Example> examples;
  append_examples(meeting, MeetingView::golden, examples);
  std::vector<Segment> expected;
  for (const SegmentSpan& span : query.spans) {
    for (int64_t i = span.first; i <= span.last; ++i) {
      expected.push_back(meeting.turns[static_cast<size_t>(i)]);
    }
  }
  RC_ASSERT(examples.at(0).document == expected);
  RC_ASSERT(examples[0].evidence.size() == query.spans.size());
}

}  // namespace
}  // namespace qfs::datasets

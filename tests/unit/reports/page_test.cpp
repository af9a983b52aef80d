// What the HTML report holds of a store.
#include "reports/page/page.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "reports/page/page_code.h"
#include "reports/page/utf16.h"
#include "reports/report.h"
#include "reports/writers/html.h"
#include "tests/unit/reports/sample_sweep.h"
#include "tests/unit/store/sample_rows.h"

namespace qfs::reports {
namespace {

using nlohmann::json;
using test::SamplePlace;
using test::SampleSweep;
using test::value_of;

/// The first four bytes of both texts are a common word, whatever they are.
Result<std::optional<MarkedTexts>> first_word(std::string_view signature, std::string_view a,
                                              std::string_view b) {
  if (!signature.starts_with("rouge|")) return std::optional<MarkedTexts>();
  if (a.size() < 4) return std::optional(MarkedTexts{});
  return std::optional(MarkedTexts{{{4, 1}, {a.size() - 4, 0}}, {{4, 1}, {b.size() - 4, 0}}});
}

struct Read {
  json head;
  std::map<std::string, json> blocks;
};

Read page_of(const SampleSweep& sweep,
             const PageRequest& request = {.match = first_word, .logs_folder = {}}) {
  store::Reader reader = sweep.reader();
  const SweepFacts facts = value_of(load_sweep_facts(reader, ""));
  std::vector<const PlaceFacts*> places;
  for (const PlaceFacts& place : facts.places) places.push_back(&place);
  const Table table = value_of(build_table(reader, facts, {}));
  const Page page = value_of(make_page(reader, places, table, request));
  Read read{json::parse(page.head), {}};
  for (const auto& [id, text] : page.blocks) read.blocks[id] = json::parse(text);
  return read;
}

SamplePlace scored(const std::string& method, double value) {
  SamplePlace place;
  place.method = method;
  place.scores = {{"rouge1.f", value, std::nullopt, 0.0625}};
  return place;
}

TEST(Page, CellsLeadToTheirPlacesAndScores) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 3);
  sweep.add(scored("lead", 0.25));
  sweep.add(scored("bm25", 0.5));
  sweep.finish("");
  const Read read = page_of(sweep);
  const json& grid = read.head.at("table").at("grids").at(0);
  EXPECT_EQ(grid.at("rows").at(1).at("cells").at(0).at("number"), "50.00");
  EXPECT_EQ(grid.at("rows").at(1).at("cells").at(0).at("places"), json({1}));
  const json& cell = read.head.at("cells").at(1);
  EXPECT_EQ(cell.at("title"), "bm25");
  EXPECT_EQ(cell.at("scores").at("0"), json({0.5625, 0.4375, 0.5625}));
  EXPECT_EQ(read.head.at("datasets").at(0).at("keys").at(2), "demo-2");
}

TEST(Page, OutputsHaveTextScoresAndMarks) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 2);
  SamplePlace place = scored("lead", 0.25);
  place.empty = 1;
  sweep.add(place);
  sweep.finish("");
  const json outputs = page_of(sweep).blocks.at("outputs-0-0");
  EXPECT_EQ(outputs.at(1).at("text"), "lead says turn 1 of 1");
  EXPECT_EQ(outputs.at(1).at("scores"), json::parse("[[0.1875]]"));
  EXPECT_EQ(outputs.at(1).at("marks"), json::parse("[[[4,1,17,0],[4,1,7,0]]]"));
  EXPECT_EQ(outputs.at(0).at("marks"), json::parse("[[[],[]]]"));
}

TEST(Page, MetricsWithoutWordsHaveNoMarks) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 2);
  SamplePlace place = scored("lead", 0.25);
  place.signature = "bertscore|model:x";
  sweep.add(place);
  sweep.finish("");
  const Read read = page_of(sweep);
  EXPECT_FALSE(read.head.at("cells").at(0).contains("marked"));
  EXPECT_FALSE(read.blocks.at("outputs-0-0").at(0).contains("marks"));
}

TEST(Page, TheCutIsInWholeSegmentsAndParts) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 2);
  SamplePlace place = scored("lead", 0.25);
  place.kept = 0.5;
  sweep.add(place);
  sweep.finish("");
  const Read read = page_of(sweep);
  const json& output = read.blocks.at("outputs-0-0").at(0);
  EXPECT_EQ(output.at("kept"), json::parse(R"({"whole":[[0,1]]})"));
  EXPECT_EQ(output.at("kept_tokens"), 50);
  EXPECT_EQ(read.head.at("cells").at(0).at("kept"), json({0.5, 0.5}));
  const json& text = read.blocks.at("texts-0-0").at(1);
  EXPECT_EQ(text.at("evidence"), json({1}));
  EXPECT_EQ(text.at("query"), "What was said in turn 1 of 1?");
  const std::string id = "document-0-" + text.at("document").dump();
  EXPECT_EQ(read.blocks.at(id).at("segments").size(), 4U);
}

TEST(Page, BlocksHaveSixtyFourExamples) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 130);
  sweep.add(scored("lead", 0.25));
  sweep.finish("");
  const Read read = page_of(sweep);
  EXPECT_EQ(read.blocks.at("outputs-0-1").size(), 64U);
  EXPECT_EQ(read.blocks.at("outputs-0-2").size(), 2U);
  EXPECT_EQ(read.blocks.at("texts-0-2").at(1).at("query"), "What was said in turn 1 of 129?");
}

TEST(Page, CellsWithoutANumberSayWhy) {
  SampleSweep sweep;
  sweep.add_dataset("demo", 2);
  SamplePlace place;
  place.method = "zero_shot";
  place.predictions = 1;
  place.failure = store::FailureKind::signal;
  place.failure_text = "the host died of signal 9 (Killed)";
  sweep.add(place);
  sweep.add(scored("lead", 0.5));
  sweep.finish("");
  const json cell = page_of(sweep).head.at("cells").at(0);
  EXPECT_EQ(cell.at("trouble").at(0).at("state"), "failed (signal 9)");
  EXPECT_EQ(cell.at("trouble").at(0).at("text"), place.failure_text);
  EXPECT_EQ(cell.at("missing"), json({1}));
}

TEST(Page, PlacesInTextsAreThoseOfJavaScript) {
  const std::string text = "a\xc3\xa9\xe4\xbc\x9a\xf0\x9f\x98\x80z";  // 1, 2, 3, 4 bytes and one
  Utf16Places places(text);
  EXPECT_EQ(places.at(0), 0U);
  EXPECT_EQ(places.at(1), 1U);
  EXPECT_EQ(places.at(3), 2U);
  EXPECT_EQ(places.at(6), 3U);
  EXPECT_EQ(places.at(10), 5U);
  EXPECT_EQ(places.at(99), 6U);
}

TEST(Html, NothingInTheCodeEndsItsElement) {
  EXPECT_EQ(kPageScript.find("</script"), std::string_view::npos);
  EXPECT_EQ(kPageScript.find("<!--"), std::string_view::npos);
  EXPECT_EQ(kPageStyle.find("</"), std::string_view::npos);
  for (const char* parser : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write",
                             "DOMParser", "eval(", "setHTML", "createContextualFragment"}) {
    EXPECT_EQ(kPageScript.find(parser), std::string_view::npos) << parser;
  }
}

TEST(Html, AllowsItsScriptAndStyleByTheirDigestsAlone) {
  const std::string html = write_html({"{}", {}});
  const size_t begin = html.find("content=\"default-src");
  const std::string policy = html.substr(begin, html.find("\">", begin) - begin);
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
  EXPECT_EQ(policy.find("http"), std::string::npos);
  // 32 bytes are 43 digits and a sign; that they are the right ones is for a browser to say.
  const std::regex digests("script-src 'sha256-[A-Za-z0-9+/]{43}='; style-src 'sha256-[^']{43}=';");
  EXPECT_TRUE(std::regex_search(policy, digests)) << policy;
}

}  // namespace
}  // namespace qfs::reports

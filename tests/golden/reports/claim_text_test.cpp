// A published table in each format, byte for byte, with every verdict; and the nasty corpus through
// all of them.
#include "reports/writers/claim_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/golden.h"
#include "tests/support/nasty_corpus.h"

namespace qfs::reports {
namespace {

using claims::Bounds;
using claims::Claim;
using claims::Finding;
using claims::Measured;
using claims::State;

/// A paper with one table, which a JudgedTable points into.
struct Sample {
  claims::Paper paper;
  JudgedTable judged;

  Sample() {
    paper = {
        "demo", "A demo", "Somebody 2020", {{"odd", "The row is odd."}, {"all", "All are."}}, {}};
    paper.tables.push_back({"demo.table1", "Results", {"R-1"}, {}, {}});
  }

  void add(const std::string& label, const std::string& printed, State state,
           std::optional<Measured> measured, const std::string& detail = "") {
    Claim claim;
    claim.paper = "demo";
    claim.table = "demo.table1";
    claim.row = paper.tables.front().rows.size();
    claim.label = label;
    claim.column = "R-1";
    claim.printed = *claims::parse_printed(printed);
    claim.metric = "rouge";
    claim.errata = {"all"};
    if (state == State::differs) claim.errata.emplace_back("odd");
    if (state == State::not_run) claim.cited = "related work";
    if (state == State::reproduced) claim.given = "local_context=256";
    paper.tables.front().rows.push_back(label);
    paper.tables.front().claims.push_back(claim);
    judged.findings.push_back({nullptr, state, std::move(measured), detail});
  }

  const JudgedTable& finished() {
    claims::ShownPart part{&paper, &paper.tables.front(), {}};
    for (const Claim& claim : paper.tables.front().claims) part.claims.push_back(&claim);
    for (size_t i = 0; i < part.claims.size(); ++i) judged.findings[i].claim = part.claims[i];
    judged.shown = {{"demo.table", "A published table", {}, {}}, {part}};
    judged.program = "qfs-bench v0.1.0";
    judged.store = "claims.sqlite";
    return judged;
  }
};

Measured measured(double value, double low, double high) {
  Measured own;
  own.value = value;
  own.interval = Bounds{low, high};
  own.n = 12;
  own.cell_id = "c0ffee";
  own.numerics_id = "beef";
  own.score_id = "5c07e";
  return own;
}

void add_one_of_each(Sample& sample) {
  sample.add("Lead", "33.5", State::reproduced, measured(33.521, 31.1, 35.9));
  sample.add("BM25", "36.0", State::within_interval, measured(35.5, 34.0, 37.0));
  sample.add("Ours", "44.40", State::differs, measured(41.2, 40.0, 42.0));
  sample.add("Theirs", "20.1", State::not_run, std::nullopt, "no run in the store");
  sample.add("IDEAL", "29.00", State::not_runnable, std::nullopt, "there is no method 'ideal'");
}

TEST(ClaimTextGolden, Formats) {
  Sample sample;
  add_one_of_each(sample);
  JudgedTable judged = sample.finished();
  test::expect_golden("tests/golden/reports/published.md", judged_markdown(judged));
  test::expect_golden("tests/golden/reports/published.json", judged_json(judged));
  test::expect_golden("tests/golden/reports/published.csv", judged_csv(judged));
  test::expect_golden("tests/golden/reports/published.tex", judged_latex(judged));
  judged.statements = {"We recomputed 4.\n- Ours: printed 44.40"};
  EXPECT_NE(
      judged_markdown(judged).find("### For a review form\n\nWe recomputed 4.\n- Ours: printed "
                                   "44.40\n"),
      std::string::npos);
}

TEST(ClaimText, ALongReasonIsAFootnoteOfItsRows) {
  const std::string reason = "the data are not here; " + std::string(100, 'x') + " fetches them";
  Sample sample;
  sample.add("Lead", "33.5", State::not_run, std::nullopt, reason);
  sample.add("BM25", "33.6", State::not_run, std::nullopt, reason);
  const std::string markdown = judged_markdown(sample.finished());
  EXPECT_EQ(markdown.find(reason), markdown.rfind(reason)) << markdown;
  EXPECT_NE(markdown.find("\n[^2]: " + reason), std::string::npos) << markdown;
  size_t marked = 0;
  for (size_t at = 0; (at = markdown.find("not run[^2] |", at)) != markdown.npos; ++at) ++marked;
  EXPECT_EQ(marked, 2U) << markdown;
}

TEST(ClaimText, ALongTableGoesOnInAnotherFloatWithItsRowsInOrder) {
  Sample sample;
  for (int i = 0; i < 40; ++i) {
    sample.add("Row" + std::to_string(i), "33.5", State::not_run, std::nullopt);
  }
  const std::string latex = judged_latex(sample.finished());
  size_t floats = 0;
  for (size_t at = 0; (at = latex.find("\\begin{table}", at)) != latex.npos; ++at) ++floats;
  EXPECT_EQ(floats, 3U);
  size_t before = 0;
  for (int i = 0; i < 40; ++i) {
    const size_t at = latex.find("Row" + std::to_string(i) + " &");
    ASSERT_NE(at, latex.npos) << i;
    EXPECT_LT(before, at) << i;
    before = at;
  }
  EXPECT_EQ(latex.find("\\label{tab:demo.table1}"), latex.rfind("\\label"));
}

TEST(ClaimText, StaysTextWhateverItHolds) {
  for (const std::string& text : test::nasty_corpus()) {
    Sample plain;
    plain.add("Lead", "33.5", State::not_run, std::nullopt, "detail");
    Sample sample;
    sample.add(text, "33.5", State::not_run, std::nullopt, text);
    sample.paper.title = sample.paper.tables.front().title = text;
    sample.paper.errata["all"] = text;
    sample.paper.tables.front().claims.front().given = text;
    const JudgedTable& judged = sample.finished();
    const std::string markdown = judged_markdown(judged);
    const auto lines = [](const std::string& of) { return std::ranges::count(of, '\n'); };
    EXPECT_EQ(lines(markdown), lines(judged_markdown(plain.finished()))) << text.substr(0, 40);
    EXPECT_EQ(std::ranges::count(judged_latex(judged), '\x1b'), 0);
    size_t rows = 0;
    std::istringstream latex(judged_latex(judged));
    for (std::string line; std::getline(latex, line);) rows += line.ends_with(" \\\\") ? 1 : 0;
    EXPECT_EQ(rows, 2U) << "heading and one row for: " << text.substr(0, 40);
    const size_t tag = markdown.find("<script");
    EXPECT_TRUE(tag == std::string::npos || markdown[tag - 1] == '\\');
    EXPECT_EQ(markdown.find('\x1b'), std::string::npos);
    EXPECT_TRUE(nlohmann::json::accept(judged_json(judged))) << text.substr(0, 40);
    const std::string csv = judged_csv(judged);
    EXPECT_EQ(csv.find("\n="), std::string::npos);
    EXPECT_EQ(csv.find(",="), std::string::npos) << text.substr(0, 40);
  }
}

}  // namespace
}  // namespace qfs::reports

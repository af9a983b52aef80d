// What a gate writes: every format as it is read by people and machines, and nothing that a foreign
// name could do to one.
#include "harness/cli/gate_output.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/core/utf8.h"
#include "tests/support/golden.h"
#include "tests/support/nasty_corpus.h"

namespace qfs::cli {
namespace {

using compare::Doubt;
using compare::Rule;
using compare::Verdict;

compare::ComparedColumn column(const std::string& name, double a, double b, Verdict verdict) {
  compare::ComparedColumn column;
  column.name = name;
  column.better = Better::higher;
  column.a = a;
  column.b = b;
  column.difference.difference = b - a;
  column.lower = a == b ? 0 : 20;
  column.equal = a == b ? 24 : 4;
  compare::Decision& decision = column.decision.emplace();
  decision.margin = {Rule::non_inferior, 0.01};
  decision.loss = a - b;
  decision.p_worse = decision.p_worse_holm = verdict == Verdict::worse ? 0.002 : 0.4;
  decision.p_not_worse = decision.p_not_worse_holm = verdict == Verdict::not_worse ? 0.003 : 0.6;
  decision.standard_error = a == b ? 0 : 0.004;
  decision.clusters = 10;
  decision.examples = 24;
  decision.tests = 3;
  decision.verdict = verdict;
  decision.unchanged = a == b;
  if (verdict == Verdict::cannot_decide) {
    decision.doubt = Doubt::may_be_chance;
    decision.clusters_needed = 40;
  }
  return column;
}

compare::Comparison comparison(const std::string& cell,
                               std::vector<compare::ComparedColumn> columns) {
  compare::Comparison comparison;
  comparison.cell = cell;
  comparison.a = cell + " (main.sqlite)";
  comparison.b = cell + " (pr.sqlite)";
  comparison.metric = "rouge";
  comparison.signature = "rouge|v:1";
  comparison.examples = 24;
  comparison.clusters = 10;
  comparison.columns = std::move(columns);
  return comparison;
}

GateReport report_of(const std::string& name) {
  GateReport report;
  report.baseline = name.empty() ? "main.sqlite" : name;
  report.candidate = name.empty() ? "pr.sqlite" : name;
  const std::string cell = name.empty() ? "bm25 local_context=128" : name;
  auto& outcome = report.outcome;
  outcome.power_at = {1, 2};
  outcome.quality.comparisons.push_back(
      comparison(cell, {column("rouge1.f", 0.25, 0.21, Verdict::worse),
                        column("rougeL.f", 0.14, 0.133, Verdict::cannot_decide)}));
  outcome.quality.comparisons.push_back(
      comparison(name.empty() ? "lead" : name, {column("rouge1.f", 0.2, 0.2, Verdict::not_worse)}));
  gate::BandCheck memory =
      gate::judge_band({.value = "peak_memory", .ratio = 1.1}, {100 << 20, 100 << 20, 101 << 20, 3},
                       {104 << 20, 103 << 20, 105 << 20, 3}, true);
  gate::BandCheck speed = gate::judge_band({.value = "tokens_per_second", .ratio = 0.9},
                                           {100, 99, 101, 3}, {50, 49, 51, 3}, false);
  memory.cell = speed.cell = cell;
  outcome.bands = {memory, speed};
  gate::LimitCheck limit = gate::judge_limit({"rouge1.f", 22, true}, 21);
  limit.cell = cell;
  outcome.limits = {limit};
  outcome.quality.missing = {
      {name.empty() ? "oracle" : name, name.empty() ? "B: failed (out_of_memory)" : name}};
  outcome.quality.only_b = {{name.empty() ? "textrank" : name, "no such cell in A"}};
  outcome.quality.advice = {name.empty() ? "with --pair-by method 1 would be paired" : name};
  report.checks = gate_checks(outcome);
  return report;
}

GateReport created_of(const std::string& name) {
  return {name.empty() ? "baselines/main.jsonl" : name,
          name.empty() ? "pr.sqlite" : name,
          {},
          {},
          true};
}

std::string golden(const char* name) { return std::string("tests/golden/gate/") + name; }

TEST(GateOutput, IsAsTheGoldenFilesSay) {
  const GateReport report = report_of("");
  test::expect_golden(golden("gate.txt"), gate_text(report));
  test::expect_golden(golden("gate.json"), gate_json(report));
  test::expect_golden(golden("gate.xml"), gate_junit(report));
  test::expect_golden(golden("gate.md"), gate_markdown(report));
  test::expect_golden(golden("annotations.txt"), gate_annotations(report));
}

TEST(GateOutput, OfAFirstRunIsAsTheGoldenFileSays) {
  const GateReport report = created_of("");
  test::expect_golden(golden("created.txt"), gate_text(report) + gate_json(report) +
                                                 gate_junit(report) + gate_markdown(report) +
                                                 gate_annotations(report));
}

TEST(GateChecks, AreWorstFirst) {
  std::vector<CheckState> states;
  for (const GateCheck& check : report_of("").checks) states.push_back(check.state);
  EXPECT_TRUE(std::ranges::is_sorted(states));
  EXPECT_EQ(states.front(), CheckState::worse);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

bool has_control(const std::string& text) {
  return std::ranges::any_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n') || byte == 0x7f;
  });
}

size_t unescaped(const std::string& line, char wanted) {
  size_t count = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
    } else if (line[i] == wanted) {
      ++count;
    }
  }
  return count;
}

TEST(GateOutput, ForeignNamesStayText) {
  const GateReport plain = report_of("name");
  const size_t markdown_lines = lines_of(gate_markdown(plain)).size();
  const size_t junit_lines = lines_of(gate_junit(plain)).size();
  const size_t text_lines = lines_of(gate_text(plain)).size();
  const size_t annotation_lines = lines_of(gate_annotations(plain)).size();
  const size_t created_lines = lines_of(gate_annotations(created_of("name"))).size();
  for (const std::string& text : test::nasty_corpus()) {
    if (text.empty()) continue;
    const GateReport created = created_of(text);
    for (const std::string& written : {gate_text(created), gate_json(created), gate_junit(created),
                                       gate_markdown(created), gate_annotations(created)}) {
      EXPECT_FALSE(has_control(written)) << text;
    }
    EXPECT_EQ(lines_of(gate_text(created)).size(), 2U) << text;
    EXPECT_TRUE(gate_text(created).starts_with("gate: CREATED")) << text;
    EXPECT_EQ(lines_of(gate_annotations(created)).size(), created_lines) << text;
    EXPECT_EQ(std::ranges::count(gate_junit(created), '<'),
              std::ranges::count(gate_junit(created_of("name")), '<'))
        << text;
    const GateReport report = report_of(text);
    for (const std::string& written : {gate_text(report), gate_json(report), gate_junit(report),
                                       gate_markdown(report), gate_annotations(report)}) {
      EXPECT_FALSE(has_control(written)) << text;
    }
    const std::string markdown = gate_markdown(report);
    EXPECT_EQ(lines_of(markdown).size(), markdown_lines) << text;
    for (const std::string& line : lines_of(markdown)) {
      if (line.starts_with("| ")) {
        EXPECT_EQ(unescaped(line, '|'), 7U) << line;
      }
      for (const char markup : {'`', '<', '['}) EXPECT_EQ(unescaped(line, markup), 0U) << line;
    }
    EXPECT_EQ(lines_of(gate_text(report)).size(), text_lines) << text;
    for (const std::string& line : lines_of(gate_text(report))) {
      EXPECT_FALSE(line.starts_with("::")) << line;
    }
    const std::string annotations = gate_annotations(report);
    EXPECT_EQ(lines_of(annotations).size(), annotation_lines) << text;
    for (const std::string& line : lines_of(annotations)) {
      if (line.empty()) continue;
      // One property: what is in it ends no property, no message and no line.
      const std::string head = line.substr(0, line.find("::", 2));
      EXPECT_EQ(head.find(','), std::string::npos) << line;
      EXPECT_EQ(std::ranges::count(head, ':'), 2) << line;
    }
    const std::string junit = gate_junit(report);
    EXPECT_EQ(lines_of(junit).size(), junit_lines) << text;
    EXPECT_EQ(std::ranges::count(junit, '<'), std::ranges::count(gate_junit(plain), '<')) << text;
    EXPECT_EQ(std::ranges::count(junit, '"'), std::ranges::count(gate_junit(plain), '"')) << text;
    EXPECT_EQ(nlohmann::json::parse(gate_json(report)).at("baseline"), repair_utf8(text).text);
  }
}

TEST(GateOutput, ASummaryAndAnnotationsHaveBounds) {
  GateReport report = report_of("");
  for (int i = 0; i < 5000; ++i) report.checks.push_back(report.checks.front());
  EXPECT_LT(gate_markdown(report).size(), size_t{1} << 20);
  EXPECT_NE(gate_markdown(report).find("… and "), std::string::npos);
  EXPECT_EQ(lines_of(gate_annotations(report)).size(), 12U);  // ten, one of the rest, the end
}

}  // namespace
}  // namespace qfs::cli

#include "reports/writers/claim_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/core/counted.h"
#include "harness/core/json_dom.h"
#include "harness/core/log.h"
#include "reports/escape.h"
#include "reports/writers/markdown_grid.h"

namespace qfs::reports {
namespace {

using claims::Claim;
using claims::Finding;
using nlohmann::json;

/// Bytes of a reason that still fits into a column; a longer one becomes a footnote.
constexpr size_t kLongestInColumn = 100;

/// Errata, and reasons too long for their column, in the order in which the table names them,
/// numbered from 1.
class Footnotes {
 public:
  explicit Footnotes(const JudgedTable& table) {
    for (const std::string& id : table.shown.table.errata) {
      add(id, *table.shown.parts.front().paper);
    }
    for (const claims::ShownPart& part : table.shown.parts) {
      for (const Claim* claim : part.claims) {
        for (const std::string& id : claim->errata) add(id, *part.paper);
      }
    }
  }

  /// "[^1][^3]"
  std::string marks(const std::vector<std::string>& ids) const {
    std::string text;
    for (const std::string& id : ids) text += fmt::format("[^{}]", numbers_.at(id));
    return text;
  }

  /// The mark of a text that is no erratum; equal texts have one footnote.
  std::string mark_of(const std::string& text) {
    auto known = std::ranges::find(texts_, text);
    if (known == texts_.end()) known = texts_.insert(texts_.end(), text);
    return fmt::format("[^{}]", known - texts_.begin() + 1);
  }

  /// "\textsuperscript{1,3}"
  std::string latex_marks(const std::vector<std::string>& ids) const {
    if (ids.empty()) return "";
    std::vector<size_t> numbers;
    for (const std::string& id : ids) numbers.push_back(numbers_.at(id));
    return fmt::format("\\textsuperscript{{{}}}", fmt::join(numbers, ","));
  }

  const std::vector<std::string>& texts() const { return texts_; }

 private:
  void add(const std::string& id, const claims::Paper& paper) {
    if (!numbers_.emplace(id, numbers_.size() + 1).second) return;
    const auto text = paper.errata.find(id);
    texts_.push_back(text == paper.errata.end() ? id : text->second);
  }

  std::map<std::string, size_t> numbers_;
  std::vector<std::string> texts_;
};

/// Errata that every claim of a part has.
std::vector<std::string> common_errata(const claims::ShownPart& part) {
  if (part.claims.empty()) return {};
  std::vector<std::string> common = part.claims.front()->errata;
  for (const Claim* claim : part.claims) {
    std::erase_if(common,
                  [&](const auto& id) { return std::ranges::count(claim->errata, id) == 0; });
  }
  return common;
}

std::vector<std::string> own_errata(const Claim& claim, const std::vector<std::string>& common) {
  std::vector<std::string> own = claim.errata;
  std::erase_if(own, [&](const auto& id) { return std::ranges::count(common, id) > 0; });
  return own;
}

std::string row_name(const Claim& claim) {
  return claim.given.empty() ? claim.label : fmt::format("{} ({})", claim.label, claim.given);
}

std::string interval_text(const Finding& finding) {
  if (!finding.measured || !finding.measured->interval) return "";
  const auto& printed = finding.claim->printed;
  return fmt::format("[{}, {}]", measured_text(printed, finding.measured->interval->low),
                     measured_text(printed, finding.measured->interval->high));
}

std::string verdict_text(const Finding& finding) {
  std::string text(to_string(finding.state));
  if (!finding.detail.empty()) text += ": " + finding.detail;
  return text;
}

std::string markdown_verdict(const Finding& finding, Footnotes& notes) {
  if (finding.detail.size() <= kLongestInColumn) return markdown_text(verdict_text(finding));
  return std::string(to_string(finding.state)) + notes.mark_of(finding.detail);
}

std::string part_text(const claims::ShownPart& part, std::span<const Finding> findings,
                      Footnotes& notes) {
  const std::vector<std::string> common = common_errata(part);
  std::vector<std::vector<std::string>> lines = {
      {"row", "value", "published", "measured", "interval", "verdict"}};
  const Claim* before = nullptr;
  for (const Finding& finding : findings) {
    const Claim& claim = *finding.claim;
    const std::vector<std::string> own = own_errata(claim, common);
    const bool again = before != nullptr && before->row == claim.row;
    before = &claim;
    const std::string cited = claim.cited.empty() ? "" : " (cited)";
    lines.push_back({again ? "" : markdown_text(row_name(claim)) + notes.marks(own),
                     markdown_text(claim.column), markdown_text(claim.printed.text) + cited,
                     finding.measured ? measured_text(claim.printed, finding.measured->value) : "",
                     interval_text(finding), markdown_verdict(finding, notes)});
  }
  return fmt::format("### {}{}\n\n{}\n", markdown_text(part.table->title), notes.marks(common),
                     markdown_grid(lines, 2));
}

/// "31 claims: 9 reproduced, 1 differs"
std::string summary_text(std::span<const Finding> findings) {
  std::map<claims::State, size_t> counts;
  for (const Finding& finding : findings) ++counts[finding.state];
  std::string text;
  for (const auto& [state, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, to_string(state));
  }
  return fmt::format("{}: {}", counted(findings.size(), "published number"), text);
}

/// Text in a column of lines, where long names may break.
std::string latex_lines(std::string_view text) {
  constexpr std::string_view kJoint = "\\_";
  std::string lines = "\\raggedright " + latex_text(text);
  for (size_t at = lines.find(kJoint); at != lines.npos;) {
    lines.insert(at + kJoint.size(), "\\allowbreak{}");
    at = lines.find(kJoint, at + kJoint.size());
  }
  return lines;
}

/// The rows of a part between its rules; a reason why there is no number is said in the notes.
std::string latex_rows(std::span<const Finding> findings, const std::vector<std::string>& common,
                       const Footnotes& notes) {
  std::string text;
  const Claim* before = nullptr;
  for (const Finding& finding : findings) {
    const Claim& claim = *finding.claim;
    const bool again = before != nullptr && before->row == claim.row;
    before = &claim;
    text += fmt::format(
        "{} & {} & {}{} & {} & {} & {} \\\\\n",
        again ? "" : latex_lines(row_name(claim)) + notes.latex_marks(own_errata(claim, common)),
        latex_lines(claim.column), latex_text(claim.printed.text),
        claim.cited.empty() ? "" : " (cited)",
        finding.measured ? latex_text(measured_text(claim.printed, finding.measured->value)) : "",
        latex_text(interval_text(finding)), latex_text(to_string(finding.state)));
  }
  return text;
}

std::string latex_float(const std::string& caption, const std::string& label,
                        const std::string& rows) {
  return "\\begin{table}\n\\centering\n\\caption{" + caption + "}\n" + label +
         "\\footnotesize\\setlength{\\tabcolsep}{3pt}\n"
         "\\begin{tabular}{p{0.26\\linewidth}p{0.15\\linewidth}rrrl}\n\\toprule\n"
         "row & value & published & measured & interval & verdict \\\\\n\\midrule\n" +
         rows + "\\bottomrule\n\\end{tabular}\n\\end{table}\n";
}

/// What stands behind a part's table: errata, why numbers are missing, where all is from.
std::string latex_notes(std::span<const Finding> findings, const Footnotes& notes,
                        const std::string& signature) {
  std::string text;
  for (size_t i = 0; i < notes.texts().size(); ++i) {
    text += fmt::format("\\textsuperscript{{{}}} {}\\par\n", i + 1, latex_text(notes.texts()[i]));
  }
  std::vector<std::string> reasons;
  for (const Finding& finding : findings) {
    if (finding.detail.empty()) continue;
    const std::string reason = verdict_text(finding);
    if (std::ranges::count(reasons, reason) == 0) reasons.push_back(reason);
  }
  for (const std::string& reason : reasons) text += latex_text(reason) + "\\par\n";
  return text + latex_text(summary_text(findings)) + "\\par\n" + latex_text(signature) + "\\par\n";
}

/// Each line of a statement escaped; those that begin with "- " stay items of a list.
std::string prose_markdown(std::string_view statement) {
  std::string text;
  while (true) {
    const size_t end = statement.find('\n');
    std::string_view line = statement.substr(0, end);
    const bool item = line.starts_with("- ");
    if (item) line.remove_prefix(2);
    text += (text.empty() ? "" : "\n") + std::string(item ? "- " : "") + markdown_text(line);
    if (end == std::string_view::npos) return text;
    statement.remove_prefix(end + 1);
  }
}

std::string signature_line(const JudgedTable& table) {
  std::string text = table.program + " | claims " + table.shown.table.id;
  std::vector<std::string> sources;
  const auto add = [](const std::string& name, std::vector<std::string>& names) {
    if (!name.empty() && std::ranges::count(names, name) == 0) names.push_back(name);
  };
  for (const claims::ShownPart& part : table.shown.parts) add(part.paper->source, sources);
  for (const std::string& source : sources) text += " | " + source;
  std::vector<std::string> metrics;
  for (const Claim* claim : table.shown.claims()) add(claim->metric, metrics);
  if (!metrics.empty()) text += fmt::format(" | {}", fmt::join(metrics, " "));
  for (const std::string& place : table.places) text += " | with " + place;
  return text + (table.store.empty() ? "" : " | store " + table.store);
}

}  // namespace

json finding_json(const Finding& finding) {
  const Claim& claim = *finding.claim;
  json object = {{"id", claim.id()},
                 {"paper", claim.paper},
                 {"table", claim.table},
                 {"row", claim.label},
                 {"column", claim.column},
                 {"published", claim.printed.text},
                 {"state", to_string(finding.state)}};
  const auto put = [&](const char* key, const std::string& text) {
    if (!text.empty()) object[key] = text;
  };
  put("given", claim.given);
  put("method", claim.method ? claim.method->method : "");
  put("metric", claim.metric);
  put("cited", claim.cited);
  put("detail", finding.detail);
  if (claim.tolerance > 0) object["tolerance"] = claim.tolerance;
  if (!claim.errata.empty()) object["errata"] = claim.errata;
  if (finding.measured) {
    object["measured"] = finding.measured->value;
    if (finding.measured->n > 0) object["n"] = finding.measured->n;
    if (finding.measured->missing > 0) object["missing"] = finding.measured->missing;
    if (finding.measured->interval) {
      object["low"] = finding.measured->interval->low;
      object["high"] = finding.measured->interval->high;
    }
    put("cell_id", finding.measured->cell_id);
    put("numerics_id", finding.measured->numerics_id);
    put("score_id", finding.measured->score_id);
  }
  return object;
}

std::string judged_markdown(const JudgedTable& table) {
  Footnotes notes(table);
  std::string text =
      fmt::format("## {}: {}{}\n\n", markdown_text(table.shown.table.id),
                  markdown_text(table.shown.table.title), notes.marks(table.shown.table.errata));
  std::span<const Finding> rest = table.findings;
  for (const claims::ShownPart& part : table.shown.parts) {
    text += part_text(part, rest.first(part.claims.size()), notes);
    rest = rest.subspan(part.claims.size());
  }
  text += summary_text(table.findings) + "\n\n";
  if (!table.statements.empty()) {
    text += "### For a review form\n\n";
    for (const std::string& statement : table.statements) {
      text += prose_markdown(statement) + "\n\n";
    }
  }
  for (size_t i = 0; i < notes.texts().size(); ++i) {
    text += fmt::format("[^{}]: {}\n", i + 1, markdown_text(notes.texts()[i]));
  }
  if (!notes.texts().empty()) text += "\n";
  return text + markdown_code(signature_line(table)) + "\n";
}

std::string judged_latex(const JudgedTable& table) {
  constexpr size_t kRowsOfAPage = 18;  // of up to three lines each
  const Footnotes notes(table);
  std::string text;
  std::span<const Finding> rest = table.findings;
  for (size_t i = 0; i < table.shown.parts.size(); ++i) {
    const claims::ShownPart& part = table.shown.parts[i];
    const std::span<const Finding> findings = rest.first(part.claims.size());
    rest = rest.subspan(part.claims.size());
    const std::vector<std::string> common = common_errata(part);
    const std::string caption = latex_text(part.table->title) + notes.latex_marks(common);
    const std::string label =
        latex_label(part.table->id) + (i == 0 ? "" : fmt::format(".{}", i + 1));
    for (size_t first = 0; first < findings.size(); first += kRowsOfAPage) {
      const size_t count = std::min(kRowsOfAPage, findings.size() - first);
      text += latex_float(caption + (first == 0 ? "" : ", continued"),
                          first == 0 ? "\\label{tab:" + label + "}\n" : "",
                          latex_rows(findings.subspan(first, count), common, notes));
    }
    // Not in the float, so that they may go on over pages.
    text += "{\\footnotesize\\raggedright\\noindent Notes on Table~\\ref{tab:" + label +
            "}.\\par\n" + latex_notes(findings, notes, signature_line(table)) + "}\n";
  }
  for (const std::string& statement : table.statements) {
    text += "\\paragraph{For a review form}\n";
    std::string_view rest_of = statement;
    for (size_t end = 0; end != rest_of.npos;) {
      end = rest_of.find('\n');
      text += latex_text(rest_of.substr(0, end)) + "\\par\n";
      if (end != rest_of.npos) rest_of.remove_prefix(end + 1);
    }
  }
  return "% needs \\usepackage{booktabs}\n" + with_latex_preamble(text);
}

std::string judged_json(const JudgedTable& table) {
  json list = json::array();
  for (const Finding& finding : table.findings) list.push_back(finding_json(finding));
  json errata = json::object();
  for (const claims::ShownPart& part : table.shown.parts) {
    for (const Claim* claim : part.claims) {
      for (const std::string& id : claim->errata) errata[id] = part.paper->errata.at(id);
    }
    for (const std::string& id : table.shown.table.errata) {
      if (part.paper->errata.contains(id)) errata[id] = part.paper->errata.at(id);
    }
  }
  json document = {{"schema", "qfs-bench/published-table/1"},
                   {"table", table.shown.table.id},
                   {"title", table.shown.table.title},
                   {"claims", std::move(list)},
                   {"errata", std::move(errata)},
                   {"signature", signature_line(table)}};
  if (!table.statements.empty()) document["statements"] = table.statements;
  return terminal_safe_json(document.dump(2, ' ', false, json::error_handler_t::replace)) + "\n";
}

std::string judged_csv(const JudgedTable& table) {
  std::string text =
      "claim,row,given,column,published,measured,low,high,n,state,detail,errata,cell_id,"
      "numerics_id,score_id\r\n";
  for (const Finding& finding : table.findings) {
    const Claim& claim = *finding.claim;
    std::vector<std::string> fields = {csv_text(claim.id()), csv_text(claim.label),
                                       csv_text(claim.given), csv_text(claim.column),
                                       csv_text(claim.printed.text)};
    const claims::Measured none;
    const claims::Measured& own = finding.measured ? *finding.measured : none;
    fields.push_back(finding.measured ? shortest_decimal(own.value) : "");
    fields.push_back(own.interval ? shortest_decimal(own.interval->low) : "");
    fields.push_back(own.interval ? shortest_decimal(own.interval->high) : "");
    fields.push_back(own.n > 0 ? std::to_string(own.n) : "");
    fields.emplace_back(to_string(finding.state));
    fields.push_back(csv_text(finding.detail));
    fields.push_back(csv_text(fmt::format("{}", fmt::join(claim.errata, " "))));
    fields.insert(fields.end(), {own.cell_id, own.numerics_id, own.score_id});
    text += fmt::format("{}\r\n", fmt::join(fields, ","));
  }
  return text;
}

Result<std::string> judged_text(const JudgedTable& table, std::string_view format) {
  if (format == "markdown") return judged_markdown(table);
  if (format == "latex") return judged_latex(table);
  if (format == "json") return judged_json(table);
  if (format == "csv") return judged_csv(table);
  return invalid_argument(fmt::format(
      "a published table has no format '{}' (valid: markdown, latex, json, csv)", format));
}

}  // namespace qfs::reports

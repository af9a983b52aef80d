#include "harness/claims/verify_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "datasets/readers/csv.h"
#include "harness/api/metric_columns.h"
#include "harness/core/counted.h"
#include "harness/core/suggest.h"
#include "harness/core/whole_number.h"

namespace qfs::claims {
namespace {

constexpr std::array<std::string_view, 9> kColumns = {"row",         "column",     "printed",
                                                      "predictions", "references", "metric",
                                                      "value",       "tolerance",  "cell"};
constexpr size_t kRequired = 7;

/// Positions of the columns in the file; those that it lacks have none.
Result<std::map<std::string_view, size_t>> positions_of(const datasets::CsvTable& csv,
                                                        const std::string& path) {
  std::map<std::string_view, size_t> positions;
  const std::vector<std::string> known(kColumns.begin(), kColumns.end());
  for (size_t i = 0; i < csv.header.size(); ++i) {
    const auto column = std::ranges::find(kColumns, csv.header[i]);
    if (column == kColumns.end()) {
      return data_error(fmt::format("unknown column '{}'{}; known are {}", csv.header[i],
                                    suggestion(csv.header[i], known), fmt::join(kColumns, ", ")),
                        path + ":1");
    }
    if (!positions.emplace(*column, i).second) {
      return data_error("the column '" + csv.header[i] + "' is there twice", path + ":1");
    }
  }
  for (size_t i = 0; i < kRequired; ++i) {
    if (positions.contains(kColumns[i])) continue;
    const auto split = kColumns.begin() + kRequired;
    return data_error(fmt::format("the column '{}' is missing; expected {} and, if you like, {}",
                                  kColumns[i], fmt::join(kColumns.begin(), split, ", "),
                                  fmt::join(split, kColumns.end(), ", ")),
                      path + ":1");
  }
  return positions;
}

Result<double> tolerance_of(const std::string& text) {
  if (text.empty()) return 0.0;
  const auto value = whole_number<double>(text);
  if (value && *value >= 0) return *value;
  return data_error("expected a tolerance in printed units, such as 0.1; found '" + text + "'");
}

/// A stranger's table reads nothing outside the folder of predictions.
bool stays_inside(const std::filesystem::path& path) {
  return path.is_relative() && std::ranges::find(path, "..") == path.end();
}

std::string number_name(const Claim& claim) { return claim.label + ", " + claim.column; }

/// Whether a number is reproduced by what its line allows, and not by its digits.
bool by_allowance(const Finding& finding) {
  if (finding.state != State::reproduced || !finding.measured) return false;
  const Printed& printed = finding.claim->printed;
  return printed.bound || compare(printed, 0, *finding.measured) != State::reproduced;
}

/// What a number that differs may be in: a table of fractions beside metrics in percent.
std::string unit_hint(const Finding& finding) {
  if (finding.state != State::differs || finding.claim->printed.bound ||
      finding.claim->printed.value == 0) {
    return "";
  }
  Measured measured = *finding.measured;
  measured.interval.reset();
  for (const auto& [factor, unit] : {std::pair{100.0, "fractions"}, {0.01, "percent"}}) {
    Printed scaled = finding.claim->printed;
    scaled.value *= factor;
    scaled.half_unit *= factor;
    if (compare(scaled, finding.claim->tolerance * factor, measured) == State::differs) {
      continue;
    }
    return fmt::format(" ({:g} times the printed number would not; does the table print {}?)",
                       factor, unit);
  }
  return "";
}

std::string verdict_of(const Finding& finding) {
  if (!by_allowance(finding)) return std::string(to_string(finding.state));
  if (finding.claim->printed.bound) return "within the bound that the table states";
  return fmt::format("within the tolerance of {} that the table states", finding.claim->tolerance);
}

}  // namespace

ShownTable VerifyTable::shown() const {
  const ClaimTable& own = paper.tables.front();
  ShownTable table{{own.id, own.title, {{own.id, {}}}, {}}, {}};
  ShownPart& part = table.parts.emplace_back();
  part.paper = &paper;
  part.table = &own;
  for (const Claim& claim : own.claims) part.claims.push_back(&claim);
  return table;
}

Result<VerifyTable> read_verify_table(std::string_view text, const std::string& path) {
  const Result<datasets::CsvTable> csv = datasets::parse_csv(text, path);
  if (!csv) return csv.error();
  const auto positions = positions_of(*csv, path);
  if (!positions) return positions.error();
  if (csv->rows.empty()) return data_error("the table has no line", path);
  VerifyTable table;
  table.paper.id = std::filesystem::path(path).stem().string();
  table.paper.title = "verified table";
  table.paper.source = std::filesystem::path(path).filename().string();
  ClaimTable& own = table.paper.tables.emplace_back();
  own.id = table.paper.id;
  own.title = "printed and recomputed";
  for (const datasets::CsvRow& row : csv->rows) {
    const std::string where = fmt::format("{}:{}", path, row.line);
    const auto cell = [&](std::string_view name) -> std::string {
      const auto at = positions->find(name);
      return at == positions->end() ? "" : row.cells[at->second];
    };
    const Result<Printed> printed = parse_printed(cell("printed"));
    if (!printed) return data_error(printed.error().message, where);
    if (!printed->number) {
      return data_error("expected a printed number, found '" + printed->text + "'", where);
    }
    const Result<double> tolerance = tolerance_of(cell("tolerance"));
    if (!tolerance) return data_error(tolerance.error().message, where);
    for (const std::string_view name : {"row", "column", "predictions", "metric", "value"}) {
      if (cell(name).empty()) return data_error(fmt::format("'{}' is empty", name), where);
    }
    for (const std::string_view name : {"predictions", "references"}) {
      if (stays_inside(cell(name))) continue;
      return data_error(fmt::format("'{}' is a path below the folder of predictions, found '{}'",
                                    name, cell(name)),
                        where);
    }
    Claim claim;
    claim.paper = table.paper.id;
    claim.table = own.id;
    claim.label = cell("row");
    claim.column = cell("column");
    const auto known = std::ranges::find(own.rows, claim.label);
    claim.row = static_cast<size_t>(known - own.rows.begin());
    if (known == own.rows.end()) own.rows.push_back(claim.label);
    if (std::ranges::count(own.columns, claim.column) == 0) own.columns.push_back(claim.column);
    claim.printed = *printed;
    claim.kind = ClaimKind::score;
    claim.metric = cell("metric");
    claim.what = cell("value");
    claim.scale = table_scale(claim.what);
    claim.tolerance = *tolerance;
    claim.files = FilesQuery{kPredictions, cell("predictions"), cell("references")};
    own.claims.push_back(std::move(claim));
    table.lines.push_back({cell("cell"), row.line});
  }
  return table;
}

std::string review_text(const VerifyTable& table, const std::vector<Finding>& findings,
                        score::MissingPolicy missing) {
  const auto of_state = [&](State state) {
    return static_cast<size_t>(std::ranges::count(findings, state, &Finding::state));
  };
  const size_t recomputed =
      findings.size() - of_state(State::not_run) - of_state(State::not_runnable);
  const auto allowed = static_cast<size_t>(std::ranges::count_if(findings, by_allowance));
  std::string text = fmt::format(
      "We recomputed {} of {} of the table ({}) from the authors' output files. {} printed as "
      "published, {}{} from the published value.",
      recomputed, counted(findings.size(), "number"), table.paper.source,
      counted(of_state(State::reproduced) - allowed, "is", "are"),
      allowed == 0 ? ""
                   : fmt::format("{} not but within the tolerance or bound that the table states, ",
                                 counted(allowed, "is", "are")),
      counted(of_state(State::differs), "differs", "differ"));
  for (const Finding& finding : findings) {
    const Claim& claim = *finding.claim;
    if (finding.state == State::reproduced && !by_allowance(finding)) continue;
    if (!finding.measured) {
      text += fmt::format("\n- {}: not recomputed, {}", number_name(claim), finding.detail);
      continue;
    }
    const std::string value = measured_text(claim.printed, finding.measured->value);
    text += fmt::format("\n- {}: printed {}, recomputed {}", number_name(claim), claim.printed.text,
                        value);
    if (finding.measured->interval) {
      text +=
          fmt::format(" [{}, {}]", measured_text(claim.printed, finding.measured->interval->low),
                      measured_text(claim.printed, finding.measured->interval->high));
    }
    text +=
        fmt::format(" by {} over {}: {}{}", claim.metric, counted(finding.measured->n, "output"),
                    verdict_of(finding), unit_hint(finding));
  }
  std::set<std::string> named;
  for (const Finding& finding : findings) {
    if (!finding.measured || finding.measured->missing == 0) continue;
    const std::string& file = finding.claim->files->predictions;
    if (!named.insert(file).second) continue;
    text += fmt::format("\n- {}: {} no output: {}", file,
                        counted(finding.measured->missing, "example has", "examples have"),
                        missing == score::MissingPolicy::zero ? "counted as empty texts"
                                                              : "left out of the numbers");
  }
  return text;
}

}  // namespace qfs::claims

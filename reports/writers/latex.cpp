#include "reports/writers/latex.h"

#include <fmt/format.h>

#include <vector>

#include "reports/escape.h"
#include "reports/format.h"
#include "reports/grid.h"

namespace qfs::reports {
namespace {

std::string joined(const std::vector<std::string>& parts, const char* separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::vector<std::string> escaped(const std::vector<std::string>& texts) {
  std::vector<std::string> result;
  for (const std::string& text : texts) result.push_back(latex_text(text));
  return result;
}

std::string row_text(const std::vector<std::string>& fields) {
  return joined(fields, " & ") + " \\\\\n";
}

std::string number_latex(const std::string& number) {
  return number.starts_with('-') ? "$-$" + number.substr(1) : number;
}

std::string cell_latex(const TableValue& value, const TableCell& cell) {
  const CellText shown = shown_text(value, cell);
  if (cell.status != CellStatus::ok) return latex_text(shown.behind);
  std::string text = number_latex(shown.number);
  if (cell.best) text = "\\textbf{" + text + "}";
  if (cell.tested && cell.tested->significant) text += fmt::format("$^{{{}}}$", kSignificantMark);
  const std::string& behind = shown.behind;
  if (behind.empty()) return text;
  // Escaped behind a digit, where it stands: at a row's beginning a bracket would be protected.
  return text + " {\\scriptsize" + latex_text("0" + behind).substr(1) + "}";
}

/// Labels of one level of the heading but the last: neighbours that agree on it and on all above
/// share one, with a rule below.
std::string spanning_level(const Grid& grid, size_t level, size_t stub) {
  std::string fields;
  for (size_t i = 0; i < stub; ++i) fields += "& ";
  std::vector<std::string> spans;
  std::string rules;
  const auto above = [&](size_t column) {
    const std::vector<std::string>& heading = grid.columns[column].heading;
    return std::vector(heading.begin(), heading.begin() + static_cast<std::ptrdiff_t>(level) + 1);
  };
  for (size_t begin = 0; begin < grid.columns.size();) {
    size_t end = begin + 1;
    while (end < grid.columns.size() && above(end) == above(begin)) ++end;
    spans.push_back(fmt::format("\\multicolumn{{{}}}{{c}}{{{}}}", end - begin,
                                latex_text(grid.columns[begin].heading[level])));
    rules += fmt::format("\\cmidrule(lr){{{}-{}}}", stub + begin + 1, stub + end);
    begin = end;
  }
  return fields + row_text(spans) + rules + "\n";
}

/// A long heading in two lines, so that it does not make its column wide.
std::string heading(const std::string& text) {
  constexpr size_t kLong = 16;
  const size_t middle = text.size() / 2;
  const size_t before = text.rfind(' ', middle);
  const size_t after = text.find(' ', middle);
  const size_t at = before == text.npos || (after != text.npos && after - middle < middle - before)
                        ? after
                        : before;
  if (text.size() < kLong || at == text.npos) return latex_text(text);
  return "\\begin{tabular}[b]{@{}r@{}}" + latex_text(text.substr(0, at)) + "\\\\" +
         latex_text(text.substr(at + 1)) + "\\end{tabular}";
}

std::string tabular(const Table& table, const Grid& grid) {
  const size_t stub = table.row_axes.size();
  std::string text = fmt::format("\\begin{{tabular}}{{{}{}}}\n\\toprule\n", std::string(stub, 'l'),
                                 std::string(grid.columns.size(), 'r'));
  for (size_t level = 0; level + 1 < grid.levels.size(); ++level) {
    text += spanning_level(grid, level, stub);
  }
  std::vector<std::string> head = escaped(table.row_axes);
  for (const GridColumn& column : grid.columns) {
    head.push_back(column.heading.empty() ? "" : heading(column.heading.back()));
  }
  text += row_text(head) + "\\midrule\n";
  for (size_t row = 0; row < table.rows.size(); ++row) {
    std::vector<std::string> fields = escaped(shown_labels(table.row_axes, table.rows[row]));
    for (const GridColumn& at : grid.columns) {
      fields.push_back(cell_latex(table.values[at.value], table.cell(row, at.column, at.value)));
    }
    text += row_text(fields);
  }
  return text + "\\bottomrule\n\\end{tabular}\n";
}

std::string caption(const Table& table, const Grid& grid) {
  std::string text = table.description.empty() ? table.name : table.description;
  if (grid.value) text += ": " + table.values[*grid.value].title;
  if (grid.value || grid.levels.size() > 1) text += " by " + joined(grid.levels, ", ");
  return latex_text(text);
}

std::string label(const Table& table, const Grid& grid) {
  std::string name = table.name;
  if (grid.value) name += "." + table.values[*grid.value].name;
  return latex_label(name);
}

std::string notes(const Table& table) {
  std::string text;
  const auto add = [&](const std::string& note) { text += latex_text(note) + "\\par\n"; };
  for (const std::string& note : table.mark_notes) add(note);
  for (const std::string& note : table.notes) add(note);
  add(table.signature + (table.store.empty() ? "" : " | store " + table.store));
  return text;
}

}  // namespace

std::string write_latex(const Table& table) {
  std::string text;
  for (const Grid& grid : grids_of(table)) {
    text += fmt::format(
        "\\begin{{table}}\n\\centering\n\\caption{{{}}}\n\\label{{tab:{}}}\n{}\n\\medskip\n"
        "\\begin{{minipage}}{{\\linewidth}}\n\\footnotesize\\raggedright\n{}\\end{{minipage}}\n"
        "\\end{{table}}\n",
        caption(table, grid), label(table, grid), tabular(table, grid), notes(table));
  }
  return "% needs \\usepackage{booktabs}\n" + with_latex_preamble(text);
}

}  // namespace qfs::reports

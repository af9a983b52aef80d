#include "reports/writers/markdown.h"

#include <fmt/format.h>

#include <vector>

#include "reports/escape.h"
#include "reports/format.h"
#include "reports/grid.h"
#include "reports/writers/markdown_grid.h"

namespace qfs::reports {
namespace {

using Line = std::vector<std::string>;

Line escaped(const Line& line) {
  Line result;
  for (const std::string& text : line) result.push_back(markdown_text(text));
  return result;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : " · ") + markdown_text(part);
  return text;
}

/// Bold is the best, and the mark of significance is text, not markup.
std::string cell_markdown(const TableValue& value, const TableCell& cell) {
  CellText text = shown_text(value, cell);
  if (cell.status != CellStatus::ok) return text.behind;
  if (cell.best) text.number = "**" + text.number + "**";
  if (cell.tested && cell.tested->significant) text.number += markdown_text(kSignificantMark);
  return text.number + text.behind;
}

/// What a table shows, where its columns do not say it.
std::string caption(const Table& table, const Grid& shown) {
  if (shown.value) {
    return "**" + markdown_text(table.values[*shown.value].title) + "** by " +
           joined(shown.levels) + "\n\n";
  }
  return shown.levels.size() == 1 ? "" : "by " + joined(shown.levels) + "\n\n";
}

std::string grid_text(const Table& table, const Grid& shown) {
  Line head = escaped(table.row_axes);
  for (const GridColumn& column : shown.columns) head.push_back(joined(column.heading));
  std::vector<Line> lines = {head};
  for (size_t row = 0; row < table.rows.size(); ++row) {
    Line line = escaped(shown_labels(table.row_axes, table.rows[row]));
    for (const GridColumn& at : shown.columns) {
      line.push_back(cell_markdown(table.values[at.value], table.cell(row, at.column, at.value)));
    }
    lines.push_back(std::move(line));
  }
  return markdown_grid(lines, table.row_axes.size());
}

}  // namespace

std::string markdown_body(const Table& table) {
  std::string text;
  for (const Grid& shown : grids_of(table)) {
    text += caption(table, shown) + grid_text(table, shown) + "\n";
  }
  for (const std::string& note : table.mark_notes) text += markdown_text(note) + "\n\n";
  for (const std::string& note : table.notes) text += markdown_text(note) + "\n\n";
  const std::string store = table.store.empty() ? "" : " | store " + table.store;
  return text + markdown_code(table.signature + store) + "\n";
}

std::string write_markdown(const Table& table) {
  std::string text = "## " + markdown_text(table.name) + "\n\n";
  if (!table.description.empty()) text += markdown_text(table.description) + "\n\n";
  return text + markdown_body(table);
}

}  // namespace qfs::reports

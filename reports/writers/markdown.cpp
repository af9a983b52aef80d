#include "reports/writers/markdown.h"

#include <fmt/format.h>

#include <vector>

#include "reports/escape.h"
#include "reports/format.h"
#include "reports/writers/markdown_grid.h"

namespace qfs::reports {
namespace {

using Line = std::vector<std::string>;

Line escaped(const Line& line) {
  Line result;
  for (const std::string& text : line) result.push_back(markdown_text(text));
  return result;
}

/// The cells of one value, columns by column axes.
std::string value_table(const Table& table, size_t value) {
  Line head = escaped(table.row_axes);
  for (size_t column = 0; column < table.columns.size(); ++column) {
    head.push_back(markdown_text(column_heading(table, column)));
  }
  std::vector<Line> lines = {head};
  for (size_t row = 0; row < table.rows.size(); ++row) {
    Line line = escaped(row_labels(table, row));
    for (size_t column = 0; column < table.columns.size(); ++column) {
      line.push_back(cell_text(table.values[value], table.cell(row, column, value)));
    }
    lines.push_back(std::move(line));
  }
  return markdown_grid(lines, table.row_axes.size());
}

/// All values as columns, for tables without column axes.
std::string flat_table(const Table& table) {
  Line head = escaped(table.row_axes);
  for (const TableValue& value : table.values) head.push_back(markdown_text(value.title));
  std::vector<Line> lines = {head};
  for (size_t row = 0; row < table.rows.size(); ++row) {
    Line line = escaped(row_labels(table, row));
    for (size_t value = 0; value < table.values.size(); ++value) {
      line.push_back(cell_text(table.values[value], table.cell(row, 0, value)));
    }
    lines.push_back(std::move(line));
  }
  return markdown_grid(lines, table.row_axes.size());
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : " · ") + markdown_text(part);
  return text;
}

}  // namespace

std::string write_markdown(const Table& table) {
  std::string text = "## " + markdown_text(table.name) + "\n\n";
  if (!table.description.empty()) text += markdown_text(table.description) + "\n\n";
  if (table.column_axes.empty()) {
    text += flat_table(table) + "\n";
  } else {
    for (size_t value = 0; value < table.values.size(); ++value) {
      text += "**" + markdown_text(table.values[value].title) + "** by " +
              joined(table.column_axes) + "\n\n" + value_table(table, value) + "\n";
    }
  }
  for (const std::string& note : table.notes) text += markdown_text(note) + "\n\n";
  const std::string store = table.store.empty() ? "" : " | store " + table.store;
  return text + markdown_code(table.signature + store) + "\n";
}

}  // namespace qfs::reports

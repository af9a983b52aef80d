#include "reports/writers/markdown_grid.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/utf8.h"

namespace qfs::reports {
namespace {

using Line = std::vector<std::string>;

size_t width(const std::string& text) { return static_cast<size_t>(count_code_points(text)); }

}  // namespace

std::string markdown_grid(const std::vector<Line>& lines, size_t labels) {
  constexpr size_t kNarrowest = 3;
  std::vector<size_t> widths(lines.front().size(), kNarrowest);
  for (const Line& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width(line[i]));
  }
  std::string text;
  const auto append = [&](const Line& line) {
    for (size_t i = 0; i < line.size(); ++i) {
      const std::string padding(widths[i] - width(line[i]), ' ');
      text +=
          fmt::format("| {}{} ", i < labels ? line[i] : padding, i < labels ? padding : line[i]);
    }
    text += "|\n";
  };
  append(lines.front());
  for (size_t i = 0; i < widths.size(); ++i) {
    text += fmt::format("|{:-<{}}", "", widths[i] + 1);
    text += i < labels ? '-' : ':';
  }
  text += "|\n";
  for (size_t i = 1; i < lines.size(); ++i) append(lines[i]);
  return text;
}

}  // namespace qfs::reports

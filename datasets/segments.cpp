#include "datasets/segments.h"

#include <algorithm>

namespace qfs::datasets {
namespace {

bool is_blank(std::string_view line) {
  return std::ranges::all_of(line, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace

std::vector<Segment> split_document(std::string_view text) {
  std::vector<Segment> segments;
  if (text.empty()) return segments;
  std::vector<std::string_view> lines = lines_of(text);
  auto first = std::ranges::find_if_not(lines, is_blank);
  auto last = std::find_if_not(lines.rbegin(), lines.rend(), is_blank).base();
  bool paragraphs = first < last && std::any_of(first, last, is_blank);

  bool seen_text = false;  // in the open segment
  for (size_t i = 0; i < lines.size(); ++i) {
    bool blank = is_blank(lines[i]);
    bool after_blank = i > 0 && is_blank(lines[i - 1]);
    if (segments.empty()) {
      segments.push_back({std::string(lines[i]), ""});
    } else if (!blank && seen_text && (!paragraphs || after_blank)) {
      segments.push_back({std::string(lines[i]), ""});
    } else {
      segments.back().text.append("\n").append(lines[i]);
    }
    seen_text = seen_text || !blank;
  }
  return segments;
}

}  // namespace qfs::datasets

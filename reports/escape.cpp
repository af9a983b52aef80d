#include "reports/escape.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "harness/core/log.h"
#include "harness/core/utf8.h"

namespace qfs::reports {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80;
}

/// Whether the character at `i` could begin or end markup where it stands.
bool is_markup(std::string_view text, size_t i) {
  const char c = text[i];
  const auto inside_word = [&] {
    return i > 0 && i + 1 < text.size() && is_word(text[i - 1]) && is_word(text[i + 1]);
  };
  switch (c) {
    case '\\':
    case '`':
    case '*':
    case '[':
    case ']':
    case '<':
    case '>':
    case '&':
    case '|':
    case '~':
    case '$':
    case '@':
      return true;
    case '_':  // between letters and digits it is an underscore
      return !inside_word();
    case '!':
      return i + 1 < text.size() && text[i + 1] == '[';
    case ':':  // bare addresses become links
      return text.substr(i + 1, 2) == "//";
    case '.':
      return i >= 3 && std::ranges::all_of(text.substr(i - 3, 3),
                                           [](char c) { return c == 'w' || c == 'W'; });
    case '#':
    case '+':
    case '-':
    case '=':  // headings, lists and rules begin a line
      return i == 0;
    default:
      return false;
  }
}

std::string one_line(std::string_view text) {
  std::string line = terminal_safe(text);
  std::ranges::replace_if(
      line, [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
  return line;
}

}  // namespace

std::string markdown_text(std::string_view text) {
  const std::string line = one_line(text);
  std::string escaped;
  for (size_t i = 0; i < line.size(); ++i) {
    if (is_markup(line, i)) escaped += '\\';
    escaped += line[i];
  }
  return escaped;
}

std::string markdown_code(std::string_view text) {
  const std::string line = one_line(text);
  size_t longest = 0;
  size_t run = 0;
  for (char c : line) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  const char* const space = longest > 0 ? " " : "";  // else a backtick at an end joins the fence
  return fence + space + line + space + fence;
}

std::string csv_field(std::string_view text) {
  constexpr std::string_view kFormula = "=+-@\t\r";
  std::string field;
  if (!text.empty() && kFormula.find(text.front()) != std::string_view::npos) field = "'";
  field += text;
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string quoted = "\"";
  for (char c : field) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace qfs::reports

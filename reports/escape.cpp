#include "reports/escape.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
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

std::string xml_text(std::string_view text) {
  std::string escaped;
  for (const char c : one_line(repair_utf8(text).text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&apos;";
        break;
      default:
        escaped += c;
    }
  }
  // U+FFFE and U+FFFF are no characters of XML.
  for (const std::string_view outside : {"\xef\xbf\xbe", "\xef\xbf\xbf"}) {
    for (size_t at = escaped.find(outside); at != escaped.npos; at = escaped.find(outside, at)) {
      escaped.replace(at, outside.size(), "\xef\xbf\xbd");
    }
  }
  return escaped;
}

std::string workflow_message(std::string_view text) {
  std::string escaped;
  for (const char c : one_line(text)) escaped += c == '%' ? "%25" : std::string(1, c);
  return escaped;
}

std::string workflow_property(std::string_view text) {
  std::string escaped;
  for (const char c : workflow_message(text)) {
    escaped += c == ':' ? "%3A" : c == ',' ? "%2C" : std::string(1, c);
  }
  return escaped;
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

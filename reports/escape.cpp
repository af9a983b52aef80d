#include "reports/escape.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <optional>

#include "harness/core/log.h"
#include "harness/core/text/unicode.h"
#include "harness/core/utf8.h"
#include "harness/core/whole_number.h"

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
  const auto numbers_a_line = [&] {  // "1. ", an item of a list
    return i > 0 && text.find_first_not_of("0123456789") == i &&
           (i + 1 == text.size() || text[i + 1] == ' ');
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
    case ')':
      return numbers_a_line();
    case '.':
      return numbers_a_line() || (i >= 3 && std::ranges::all_of(text.substr(i - 3, 3), [](char c) {
                                    return c == 'w' || c == 'W';
                                  }));
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

struct LatexSign {
  char32_t character;
  std::string_view command;
};

constexpr std::array kLatexSigns = {LatexSign{U'\\', "\\textbackslash{}"},
                                    LatexSign{U'{', "\\{"},
                                    LatexSign{U'}', "\\}"},
                                    LatexSign{U'$', "\\$"},
                                    LatexSign{U'&', "\\&"},
                                    LatexSign{U'#', "\\#"},
                                    LatexSign{U'%', "\\%"},
                                    LatexSign{U'_', "\\_"},
                                    LatexSign{U'^', "\\textasciicircum{}"},
                                    LatexSign{U'~', "\\textasciitilde{}"},
                                    LatexSign{U'<', "\\textless{}"},
                                    LatexSign{U'>', "\\textgreater{}"},
                                    LatexSign{U'|', "\\textbar\\allowbreak{}"},
                                    LatexSign{U'"', "\\char34{}"},
                                    LatexSign{U'`', "\\textasciigrave{}"},
                                    LatexSign{U'\u2013', "--"},
                                    LatexSign{U'\u2014', "---"},
                                    LatexSign{U'\u2018', "`"},
                                    LatexSign{U'\u2019', "'"},
                                    LatexSign{U'\u201c', "``"},
                                    LatexSign{U'\u201d', "''"},
                                    LatexSign{U'\u2020', "$^{\\dagger}$"},
                                    LatexSign{U'\u2026', "\\ldots{}"},
                                    LatexSign{U'\u2212', "$-$"},
                                    LatexSign{U'\u00a0', "~"},
                                    LatexSign{U'\u00b1', "$\\pm$"},
                                    LatexSign{U'\u00b7', "$\\cdot$"},
                                    LatexSign{U'\u00d7', "$\\times$"}};

/// Letters that LaTeX builds in its oldest font encoding too: A to Z with an accent, Æ, Ø, ß …
bool is_latex_letter(char32_t c) {
  constexpr std::u32string_view kNot = U"ÐÞðþ×÷";
  return c >= 0xC0 && c <= 0xFF && kNot.find(c) == kNot.npos;
}

}  // namespace

std::string markdown_text(std::string_view text) {
  std::string line = one_line(text);
  line.erase(0, line.find_first_not_of(' '));  // indented lines are code
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

std::string with_latex_preamble(const std::string& latex) {
  // \Umathchar is a primitive of XeTeX and LuaTeX alone, whose fonts may have any character.
  constexpr std::string_view kPreamble =
      "\\ifdefined\\qfsunicode\\else"
      "\\protected\\def\\qfsunicode#1#2{\\ifdefined\\Umathchar#1\\else[U+#2]\\fi}\\fi\n";
  return latex.find("\\qfsunicode") == latex.npos ? latex : std::string(kPreamble) + latex;
}

std::string latex_label(std::string_view name) {
  std::string label;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.') label += c;
  }
  return label;
}

std::string latex_text(std::string_view text) {
  const std::string line = one_line(text);
  std::string escaped;
  for (size_t i = 0; i < line.size();) {
    const CodePoint c = code_point_at(line, i);
    const std::string_view own = std::string_view(line).substr(i, c.bytes);
    // A bracket or star would be an argument of the \\ that ended the row before.
    const bool first = std::string_view(line).substr(0, i).find_first_not_of(' ') == line.npos;
    if (first && (c.value == U'[' || c.value == U'*')) {
      escaped += fmt::format("{{{}}}", own);
    } else if (line.substr(i, 2) == "--") {  // would be a dash
      escaped += "-{}";
    } else if (const auto sign = std::ranges::find(kLatexSigns, c.value, &LatexSign::character);
               sign != kLatexSigns.end()) {
      escaped += sign->command;
    } else if (c.value < 0x80 || is_latex_letter(c.value)) {
      escaped += own;
    } else {
      escaped += fmt::format("\\qfsunicode{{{}}}{{{:04X}}}", own, static_cast<uint32_t>(c.value));
    }
    i += c.bytes;
  }
  return escaped;
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

std::string html_json(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";  // JSON has it in strings only
    } else {
      text += c;
    }
  }
  return text;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string csv_text(std::string_view text) {
  constexpr std::string_view kFormula = "=+-@\t\r";
  if (whole_number<double>(text) || text.empty() ||
      kFormula.find(text.front()) == std::string_view::npos) {
    return csv_field(text);
  }
  return csv_field("'" + std::string(text));
}

}  // namespace qfs::reports

// Whatever a label holds, it stays one cell, one field, one line: the nasty corpus through every
// sink.
#include "reports/escape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>

#include "harness/core/log.h"
#include "harness/core/utf8.h"
#include "reports/figures/figure.h"
#include "reports/methods_text.h"
#include "reports/page/page.h"
#include "reports/writers/csv.h"
#include "reports/writers/html.h"
#include "reports/writers/json.h"
#include "reports/writers/latex.h"
#include "reports/writers/markdown.h"
#include "reports/writers/svg.h"
#include "tests/support/nasty_corpus.h"

namespace qfs::reports {
namespace {

/// A table of one cell with foreign text in every place that can hold some.
Table table_with(const std::string& text) {
  Table table;
  table.name = text;
  table.description = text;
  table.row_axes = {text};
  table.column_axes = {text};
  table.rows = {{{text}, true}};
  table.columns = {{{text}, false}};
  table.values = {{text, text, ValueGroup::quality, 100, 2, 1}};
  table.cells.resize(1);
  table.cells[0].status = CellStatus::ok;
  table.cells[0].value = 0.5;
  table.notes = {text};
  table.signature = text;
  table.store = text;
  return table;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

size_t unescaped(const std::string& line, char wanted) {
  size_t count = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
    } else if (line[i] == wanted) {
      ++count;
    }
  }
  return count;
}

bool has_control(const std::string& text) {
  return std::ranges::any_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n') || byte == 0x7f;
  });
}

TEST(MarkdownText, HasNoLineBreakNoControlAndNoUnescapedMarkup) {
  for (const std::string& text : test::nasty_corpus()) {
    const std::string escaped = markdown_text(text);
    EXPECT_EQ(escaped.find('\n'), std::string::npos) << text;
    EXPECT_FALSE(has_control(escaped)) << text;
    for (char markup : {'|', '*', '`', '[', ']', '<', '>', '&', '~', '$'}) {
      EXPECT_EQ(unescaped(escaped, markup), 0U) << markup << " in: " << escaped;
    }
  }
}

TEST(MarkdownText, LeavesSnakeCaseReadable) {
  EXPECT_EQ(markdown_text("local_context"), "local_context");
  EXPECT_EQ(markdown_text("_x_"), "\\_x\\_");
}

TEST(MarkdownText, BeginsNeitherAListNorCode) {
  EXPECT_EQ(markdown_text("1. first"), "1\\. first");
  EXPECT_EQ(markdown_text("12) x"), "12\\) x");
  EXPECT_EQ(markdown_text("    - x"), "\\- x");
  EXPECT_EQ(markdown_text("1.5 points (or 2)"), "1.5 points (or 2)");
}

TEST(MarkdownText, KeepsBareAddressesFromBecomingLinks) {
  EXPECT_EQ(markdown_text("http://a"), "http\\://a");
  EXPECT_EQ(markdown_text("www.a.org"), "www\\.a.org");
}

TEST(MarkdownCode, OutlastsEveryRunOfBackticks) {
  EXPECT_EQ(markdown_code("plain | text"), "`plain | text`");
  EXPECT_EQ(markdown_code("a ``b`` c"), "``` a ``b`` c ```");
}

TEST(XmlText, HasNoMarkupNoQuoteAndNoControl) {
  for (const std::string& text : test::nasty_corpus()) {
    const std::string escaped = xml_text(text);
    EXPECT_FALSE(has_control(escaped)) << text;
    EXPECT_EQ(escaped.find_first_of("<>\"'\n"), std::string::npos) << escaped;
    EXPECT_EQ(first_ill_formed_utf8(escaped), std::nullopt) << text;
  }
  EXPECT_EQ(xml_text("a & <b>"), "a &amp; &lt;b&gt;");
  EXPECT_EQ(xml_text("\xef\xbf\xbe|\xef\xbf\xbf"), "\xef\xbf\xbd|\xef\xbf\xbd");
}

TEST(WorkflowCommand, EndsNeitherLineNorProperty) {
  for (const std::string& text : test::nasty_corpus()) {
    EXPECT_EQ(workflow_message(text).find_first_of("\r\n"), std::string::npos) << text;
    EXPECT_EQ(workflow_property(text).find_first_of("\r\n:,"), std::string::npos) << text;
  }
  EXPECT_EQ(workflow_message("50 %, a:b"), "50 %25, a:b");
  EXPECT_EQ(workflow_property("50 %, a:b"), "50 %25%2C a%3Ab");
}

TEST(MarkdownWriter, OneTableRowStaysOneRowWithTwoCells) {
  for (const std::string& text : test::nasty_corpus()) {
    const std::vector<std::string> lines = lines_of(write_markdown(table_with(text)));
    size_t rows = 0;
    for (const std::string& line : lines) {
      EXPECT_FALSE(has_control(line)) << line;
      if (!line.starts_with("|")) continue;
      ++rows;
      EXPECT_EQ(unescaped(line, '|'), 3U) << line;
    }
    EXPECT_EQ(rows, 3U) << "heading, rule and one row for: " << text;
  }
}

/// Splits RFC 4180 text into records and fields.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> records = {{""}};
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      records.back().back() += text[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      records.back().emplace_back();
    } else if (!quoted && c == '\r' && i + 1 < text.size() && text[i + 1] == '\n') {
      records.push_back({""});
      ++i;
    } else {
      records.back().back() += c;
    }
  }
  records.pop_back();
  return records;
}

/// What a reader of the compiled LaTeX sees.
std::string read_latex(std::string text) {
  const std::vector<std::pair<std::string, std::string>> commands = {
      {"\\textbackslash{}", "\x01"},
      {"\\textasciicircum{}", "^"},
      {"\\textasciitilde{}", "~"},
      {"\\textless{}", "<"},
      {"\\textgreater{}", ">"},
      {"\\textbar\\allowbreak{}", "|"},
      {"\\char34{}", "\""},
      {"\\textasciigrave{}", "`"},
      {"-{}", "-"},
      {"{[}", "["},
      {"{*}", "*"},
      {"\\$", "$"},
      {"\\&", "&"},
      {"\\#", "#"},
      {"\\%", "%"},
      {"\\_", "_"},
      {"\\{", "{"},
      {"\\}", "}"},
      {"\x01", "\\"}};
  text = std::regex_replace(text, std::regex(R"(\\qfsunicode\{([^}]*)\}\{[0-9A-F]+\})"), "$1");
  for (const auto& [command, meaning] : commands) {
    for (size_t at = 0; (at = text.find(command, at)) != std::string::npos;) {
      text.replace(at, command.size(), meaning);
      at += meaning.size();
    }
  }
  return text;
}

TEST(LatexText, ReadsAsTheTextThatWasWritten) {
  for (const std::string& text : test::nasty_corpus()) {
    std::string line = terminal_safe(text);
    std::ranges::replace_if(
        line, [](char c) { return c == '\n' || c == '\t'; }, ' ');
    EXPECT_EQ(read_latex(latex_text(text)), line);
  }
}

TEST(LatexText, HasNoCommandOfTheTextsOwn) {
  EXPECT_EQ(latex_text("\\input{x} $a_b^2$ 50% #1 ~ \"q\""),
            "\\textbackslash{}input\\{x\\} \\$a\\_b\\textasciicircum{}2\\$ 50\\% \\#1 "
            "\\textasciitilde{} \\char34{}q\\char34{}");
  EXPECT_EQ(latex_text("a-b --set"), "a-b -{}-set");
  EXPECT_EQ(latex_text("[optional]"), "{[}optional]");
  EXPECT_EQ(latex_text("33.52 ± 0.41 – é 会"), "33.52 $\\pm$ 0.41 -- é \\qfsunicode{会}{4F1A}");
}

TEST(LatexWriter, OneRowStaysOneRow) {
  for (const std::string& text : test::nasty_corpus()) {
    const std::string written = write_latex(table_with(text));
    EXPECT_FALSE(has_control(written)) << text;
    size_t rows = 0;
    for (const std::string& line : lines_of(written)) rows += line.ends_with(" \\\\") ? 1 : 0;
    EXPECT_EQ(rows, 2U) << "heading and one row for: " << text;
  }
}

TEST(MethodsText, EveryFactStaysInItsLine) {
  for (const std::string& text : test::nasty_corpus()) {
    const MethodsText methods = {{text, text}, {{text, text}, {text, text}}};
    const std::string markdown = write_methods_markdown(methods);
    EXPECT_FALSE(has_control(markdown)) << text;
    EXPECT_EQ(lines_of(markdown).size(), 7U) << markdown;
    EXPECT_EQ(unescaped(markdown, '`') + unescaped(markdown, '<') + unescaped(markdown, '['), 0U);
    EXPECT_FALSE(has_control(write_methods_latex(methods))) << text;
    EXPECT_EQ(lines_of(write_methods_latex(methods)).back(), "");
    const auto json = nlohmann::json::parse(write_methods_json(methods));
    EXPECT_EQ(json.at("checklist").at(1).at("answer"), repair_utf8(text).text);
  }
}

TEST(CsvWriter, FieldsComeBackAndNoneIsAFormula) {
  for (const std::string& text : test::nasty_corpus()) {
    const auto records = parse_csv(write_csv(table_with(text)));
    ASSERT_EQ(records.size(), 2U) << text;
    ASSERT_EQ(records[0].size(), records[1].size()) << text;
    for (const std::string& field : {records[1][0], records[1][1], records[1][3]}) {
      const bool formula =
          !text.empty() && std::string("=+-@\t\r").find(text[0]) != std::string::npos;
      EXPECT_EQ(field, formula ? "'" + text : text);
    }
  }
}

TEST(JsonWriter, TextsComeBack) {
  for (const std::string& text : test::nasty_corpus()) {
    const std::string written = write_json(table_with(text));
    const nlohmann::json report = nlohmann::json::parse(written);
    EXPECT_FALSE(has_control(written)) << text;
    // Ill-formed UTF-8 cannot be in JSON; it is replaced as everywhere else.
    EXPECT_EQ(report.at("sweep").at("name"), repair_utf8(text).text);
  }
}

/// Names of the tags of a document without comments, in order.
std::vector<std::string> tags_of(const std::string& xml) {
  std::vector<std::string> names;
  const std::regex tag("<[^>]*>");
  for (std::sregex_iterator i(xml.begin(), xml.end(), tag), end; i != end; ++i) {
    names.push_back(i->str().substr(0, i->str().find_first_of(" >")));
  }
  return names;
}

TEST(SvgWriter, TextMakesNoElementAndNoAttribute) {
  const auto svg = [](const std::string& text) {
    Figure figure{.title = text,
                  .axis = text,
                  .xs = {1, 2},
                  .series = {{text, true}},
                  .notes = {text},
                  .signature = text};
    figure.panels = {{text, {{0, {{1, 0.5, std::nullopt, ""}, {2, std::nullopt, {}, text}}, {}}}}};
    return write_svg(figure);
  };
  const std::vector<std::string> plain = tags_of(svg("plain"));
  for (const std::string& text : test::nasty_corpus()) {
    const std::string written = svg(text);
    EXPECT_EQ(tags_of(written), plain) << text;
    EXPECT_FALSE(has_control(written)) << text;
    EXPECT_EQ(first_ill_formed_utf8(written), std::nullopt) << text;
  }
}

TEST(HtmlWriter, TextOfOthersIsDataOfTheScriptAndNothingElse) {
  const auto page = [](const std::string& text) {
    const auto json = [&](const char* name) {
      return nlohmann::json({{name, text}})
          .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    };
    return Page{json("name"), {{"texts-0-0", json("query")}}};
  };
  const auto signs = [](const std::string& html) { return std::ranges::count(html, '<'); };
  const auto plain = signs(write_html(page("plain")));
  for (const std::string& text : test::nasty_corpus()) {
    const std::string html = write_html(page(text));
    EXPECT_EQ(signs(html), plain) << text;
    const std::string begin = "id=\"texts-0-0\">";
    const size_t at = html.find(begin) + begin.size();
    const auto data = nlohmann::json::parse(html.substr(at, html.find("</script>", at) - at));
    EXPECT_EQ(data.at("query"), repair_utf8(text).text);
  }
}

TEST(TerminalSafe, LeavesNothingThatATerminalObeys) {
  for (const std::string& text : test::nasty_corpus()) {
    const std::string safe = terminal_safe(text);
    for (char c : safe) {
      EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t') << text;
    }
    EXPECT_EQ(safe.find("\xc2\x9b"), std::string::npos) << text;
    EXPECT_EQ(safe.find("\xe2\x80\xae"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace qfs::reports

// The escaping functions of the report's sinks, one a format: whatever a label, name or note holds,
// it stays text. (The terminal's is qfs::terminal_safe.) Pure functions; thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace qfs::reports {

/// Text as it may stand in a cell of a Markdown table or in a line of prose: one line, no markup,
/// no HTML, no links, control characters visible. GitHub flavoured Markdown, section 2.4 and 6.9.
std::string markdown_text(std::string_view text);

/// Text as a Markdown code span: shown as it is, whatever it holds. Not for cells of tables.
std::string markdown_code(std::string_view text);

/// Text as it may stand anywhere in a LaTeX document, captions and cells of tables included: one
/// line, no command, no active character; lines may break behind '|'. Accented Latin letters and
/// common signs compile everywhere; what else is beyond ASCII is shown by XeLaTeX and LuaLaTeX, and
/// by pdfLaTeX as "[U+4F1A]". Needs with_latex_preamble.
std::string latex_text(std::string_view text);

/// LaTeX with what its latex_text uses defined in front, unless the document has done so; may stand
/// anywhere in one.
std::string with_latex_preamble(const std::string& latex);

/// What of a name may be the name of a \label: letters, digits, '_', '.'.
std::string latex_label(std::string_view name);

/// Text as it may stand in an element or a quoted attribute of XML 1.0: one line, no markup, no
/// character that XML cannot hold.
std::string xml_text(std::string_view text);

/// The message of a GitHub workflow command ("::error ::…"), and a property of one: one line, no
/// command of its own.
std::string workflow_message(std::string_view text);
std::string workflow_property(std::string_view text);

/// JSON as it may stand in a <script type="application/json"> of HTML: no '<', so that nothing in
/// it ends the element or begins a comment; the same JSON.
std::string html_json(std::string_view json);

/// A field of a CSV file (RFC 4180), as it is: for programs.
std::string csv_field(std::string_view text);

/// The same for people: text that a spreadsheet would take for a formula (beginning with = + - @, a
/// tab or a carriage return, and no number) is preceded by an apostrophe.
std::string csv_text(std::string_view text);

}  // namespace qfs::reports

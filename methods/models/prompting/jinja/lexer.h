// Cuts a template into text and the tokens of its blocks.
//
// Called by the parser. White space is controlled as in the environment of transformers:
// trim_blocks and lstrip_blocks are on, the template's last line end is dropped; '-' and '+' beside
// the delimiters do what they do in Jinja2. Throws TemplateError. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace qfs::prompting::jinja {

enum class TokenKind {
  data,            ///< text of the template
  block_begin,     ///< {%
  block_end,       ///< %}
  variable_begin,  ///< {{
  variable_end,    ///< }}
  name,
  text,     ///< a literal, unescaped
  integer,  ///< without underscores
  real,
  symbol,  ///< an operator or bracket
  end,
};

struct TemplateToken {
  TokenKind kind = TokenKind::end;
  std::string text;
  int line = 1;
  int column = 1;

  bool is(std::string_view symbol) const { return kind == TokenKind::symbol && text == symbol; }
  bool is_name(std::string_view name) const { return kind == TokenKind::name && text == name; }
};

std::vector<TemplateToken> tokenize_template(std::string_view source);

}  // namespace qfs::prompting::jinja

// The syntax tree of a template: plain data between parser and interpreter.
//
// Made by parse_template, read by Interpreter. Owned by one program; not changed after parsing.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "methods/models/prompting/jinja/value.h"

namespace qfs::prompting::jinja {

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

enum class ExpressionKind {
  literal,      ///< value
  name,         ///< text
  list,         ///< items
  tuple,        ///< items
  dict,         ///< items: key, value, key, value, …
  attribute,    ///< items[0].text
  subscript,    ///< items[0][items[1]]
  slice,        ///< items[0][items[1]:items[2]:items[3]], absent ones null
  call,         ///< items[0](items[1…], named)
  filter,       ///< items[0] | text(items[1…], named)
  test,         ///< items[0] is text(items[1…]); negated by `flag`
  unary,        ///< text: "-", "+", "not"
  binary,       ///< text: operator
  comparison,   ///< items[0] operators[0] items[1] operators[1] …, as Python chains them
  conditional,  ///< items[1] ? items[0] : items[2] (may be null)
};

struct Expression {
  ExpressionKind kind = ExpressionKind::literal;
  int line = 0;
  int column = 0;
  std::string text;
  Value value;
  bool flag = false;
  std::vector<std::string> operators;
  std::vector<ExpressionPtr> items;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
};

struct Statement;
using StatementPtr = std::unique_ptr<Statement>;
using Block = std::vector<StatementPtr>;

enum class StatementKind {
  data,    ///< text
  output,  ///< expression
  branch,  ///< conditions[i] ? blocks[i]; one block more: else
  loop,    ///< for names in expression if conditions[0] (may be absent): blocks[0] else blocks[1]
  set,     ///< names = expression
  set_attribute,  ///< names[0].names[1] = expression
  set_block,      ///< names[0] = blocks[0] as text
  macro,          ///< text(names = conditions…): blocks[0]
  break_loop,
  continue_loop,
};

struct Statement {
  StatementKind kind = StatementKind::data;
  int line = 0;
  int column = 0;
  std::string text;
  std::vector<std::string> names;
  ExpressionPtr expression;
  std::vector<ExpressionPtr> conditions;
  std::vector<Block> blocks;
};

}  // namespace qfs::prompting::jinja

#include <charconv>
#include <utility>

#include "methods/models/prompting/jinja/parser.h"

namespace qfs::prompting::jinja {

namespace {

constexpr int kMostNested = 64;
constexpr int kMostNodes = 2000;

}  // namespace

ExpressionParser::Depth::Depth(ExpressionParser& parser) : parser_(parser) {
  if (++parser_.depth_ > kMostNested) {
    --parser_.depth_;
    parser_.fail("nested deeper than 64 levels");
  }
}

void ExpressionParser::fail(const std::string& message, bool unsupported) const {
  TemplateError error(message, unsupported);
  error.line = current().line;
  error.column = current().column;
  throw error;
}

bool ExpressionParser::accept(std::string_view symbol) {
  if (!current().is(symbol)) return false;
  take();
  return true;
}

bool ExpressionParser::accept_name(std::string_view name) {
  if (!current().is_name(name)) return false;
  take();
  return true;
}

void ExpressionParser::expect(std::string_view symbol) {
  if (!accept(symbol)) fail("expected '" + std::string(symbol) + "'");
}

std::string ExpressionParser::expect_name(std::string_view what) {
  if (current().kind != TokenKind::name) fail("expected " + std::string(what));
  return take().text;
}

ExpressionPtr ExpressionParser::make(ExpressionKind kind) {
  if (++nodes_ > kMostNodes) fail("an expression of more than 2000 parts");
  auto expression = std::make_unique<Expression>();
  expression->kind = kind;
  expression->line = current().line;
  expression->column = current().column;
  return expression;
}

ExpressionPtr ExpressionParser::expression(bool tuples, bool with_condition) {
  const auto one = [&] { return with_condition ? conditional() : binary(0); };
  ExpressionPtr first = one();
  if (!tuples || !current().is(",")) return first;
  ExpressionPtr tuple = make(ExpressionKind::tuple);
  tuple->items.push_back(std::move(first));
  while (accept(",")) {
    if (current().kind == TokenKind::block_end || current().kind == TokenKind::variable_end ||
        current().is(")")) {
      break;
    }
    tuple->items.push_back(one());
  }
  return tuple;
}

ExpressionPtr ExpressionParser::conditional() {
  const Depth depth(*this);
  ExpressionPtr value = binary(0);
  while (current().is_name("if")) {
    ExpressionPtr choice = make(ExpressionKind::conditional);
    take();
    choice->items.push_back(std::move(value));
    choice->items.push_back(binary(0));
    choice->items.push_back(accept_name("else") ? conditional() : nullptr);
    value = std::move(choice);
  }
  return value;
}

/// Left-associative operators, weakest first; 'not' and comparisons lie between 'and' and '+'.
ExpressionPtr ExpressionParser::binary(size_t level) {
  constexpr std::string_view kLevels[5][4] = {
      {"or"}, {"and"}, {"+", "-"}, {"~"}, {"*", "/", "//", "%"}};
  const auto next = [&] {
    return level == 1 ? negation() : level == 4 ? power() : binary(level + 1);
  };
  ExpressionPtr left = next();
  while (true) {
    const TemplateToken& token = current();
    const bool word = level < 2;
    bool found = false;
    for (const std::string_view symbol : kLevels[level]) {
      found = found || (!symbol.empty() && (word ? token.is_name(symbol) : token.is(symbol)));
    }
    if (!found) return left;
    ExpressionPtr operation = make(ExpressionKind::binary);
    operation->text = take().text;
    operation->items.push_back(std::move(left));
    operation->items.push_back(next());
    left = std::move(operation);
  }
}

ExpressionPtr ExpressionParser::negation() {
  if (!current().is_name("not")) return comparison();
  const Depth depth(*this);
  ExpressionPtr expression = make(ExpressionKind::unary);
  expression->text = take().text;
  expression->items.push_back(negation());
  return expression;
}

/// a < b < c means a < b and b < c, as in Python.
ExpressionPtr ExpressionParser::comparison() {
  ExpressionPtr left = binary(2);
  ExpressionPtr chain = make(ExpressionKind::comparison);
  chain->items.push_back(std::move(left));
  while (true) {
    const TemplateToken token = current();
    std::string symbol;
    for (const std::string_view known : {"==", "!=", "<", "<=", ">", ">="}) {
      if (token.is(known)) symbol = known;
    }
    if (token.is_name("in")) symbol = "in";
    if (token.is_name("not")) symbol = "not in";
    if (symbol.empty()) break;
    take();
    if (symbol == "not in" && !accept_name("in")) fail("expected 'in'");
    chain->operators.push_back(symbol);
    chain->items.push_back(binary(2));
  }
  if (chain->operators.empty()) return std::move(chain->items.front());
  return chain;
}

ExpressionPtr ExpressionParser::power() {
  ExpressionPtr left = unary(true);
  while (current().is("**")) {
    ExpressionPtr operation = make(ExpressionKind::binary);
    operation->text = take().text;
    operation->items.push_back(std::move(left));
    operation->items.push_back(unary(true));
    left = std::move(operation);
  }
  return left;
}

ExpressionPtr ExpressionParser::unary(bool with_filters) {
  const Depth depth(*this);
  ExpressionPtr value;
  if (current().is("-") || current().is("+")) {
    value = make(ExpressionKind::unary);
    value->text = take().text;
    value->items.push_back(unary(false));
  } else {
    value = primary();
  }
  value = postfix(std::move(value));
  return with_filters ? filters(std::move(value)) : std::move(value);
}

ExpressionPtr ExpressionParser::primary() {
  ExpressionPtr literal = make(ExpressionKind::literal);
  const TemplateToken token = current();
  switch (token.kind) {
    case TokenKind::name:
      take();
      if (token.text == "true" || token.text == "True") {
        literal->value = Value::boolean(true);
      } else if (token.text == "false" || token.text == "False") {
        literal->value = Value::boolean(false);
      } else if (token.text == "none" || token.text == "None") {
        literal->value = Value(None{});
      } else {
        literal->kind = ExpressionKind::name;
        literal->text = token.text;
      }
      return literal;
    case TokenKind::text: {
      std::string text;
      while (current().kind == TokenKind::text) text += take().text;
      literal->value = Value::text(std::move(text));
      return literal;
    }
    case TokenKind::integer:
    case TokenKind::real: {
      const char* end = token.text.data() + token.text.size();
      int64_t integer = 0;
      double real = 0;
      const bool whole = token.kind == TokenKind::integer;
      const auto parsed = whole ? std::from_chars(token.text.data(), end, integer)
                                : std::from_chars(token.text.data(), end, real);
      if (parsed.ec != std::errc() || parsed.ptr != end) fail("the number is too large");
      literal->value = whole ? Value::integer(integer) : Value(real);
      take();
      return literal;
    }
    default:
      return brackets();
  }
}

ExpressionPtr ExpressionParser::brackets() {
  const Depth depth(*this);
  if (current().is("(")) {
    ExpressionPtr tuple = make(ExpressionKind::tuple);
    take();
    if (accept(")")) return tuple;
    ExpressionPtr inside = expression(true);
    expect(")");
    return inside;
  }
  const bool list = current().is("[");
  if (!list && !current().is("{")) fail("expected an expression");
  ExpressionPtr value = make(list ? ExpressionKind::list : ExpressionKind::dict);
  take();
  const std::string_view closing = list ? "]" : "}";
  while (!accept(closing)) {
    if (!value->items.empty()) {
      expect(",");
      if (accept(closing)) break;
    }
    value->items.push_back(expression());
    if (list) continue;
    expect(":");
    value->items.push_back(expression());
  }
  return value;
}

ExpressionPtr ExpressionParser::postfix(ExpressionPtr value) {
  while (true) {
    if (current().is(".")) {
      ExpressionPtr attribute = make(ExpressionKind::attribute);
      take();
      if (current().kind == TokenKind::integer) {
        attribute->kind = ExpressionKind::subscript;
        attribute->items.push_back(std::move(value));
        attribute->items.push_back(primary());
      } else {
        attribute->text = expect_name("a name after '.'");
        attribute->items.push_back(std::move(value));
      }
      value = std::move(attribute);
    } else if (current().is("[")) {
      value = subscript(std::move(value));
    } else if (current().is("(")) {
      ExpressionPtr call = make(ExpressionKind::call);
      call->items.push_back(std::move(value));
      arguments(*call);
      value = std::move(call);
    } else {
      return value;
    }
  }
}

ExpressionPtr ExpressionParser::subscript(ExpressionPtr value) {
  const Depth depth(*this);
  ExpressionPtr result = make(ExpressionKind::subscript);
  take();
  result->items.push_back(std::move(value));
  const auto bound = [&]() -> ExpressionPtr {
    return current().is(":") || current().is("]") ? nullptr : expression();
  };
  result->items.push_back(bound());
  if (current().is(":")) {
    result->kind = ExpressionKind::slice;
    for (int i = 0; i < 2; ++i) result->items.push_back(accept(":") ? bound() : nullptr);
  } else if (result->items.back() == nullptr) {
    fail("expected an index");
  }
  expect("]");
  return result;
}

void ExpressionParser::arguments(Expression& call) {
  const Depth depth(*this);
  expect("(");
  for (bool first = true; !accept(")"); first = false) {
    if (!first) {
      expect(",");
      if (accept(")")) return;
    }
    if (current().is("*") || current().is("**")) fail("unpacked arguments", true);
    ExpressionPtr argument = expression();
    if (argument->kind == ExpressionKind::name && accept("=")) {
      call.named.emplace_back(argument->text, expression());
    } else if (!call.named.empty()) {
      fail("an argument without a name after one with a name");
    } else {
      call.items.push_back(std::move(argument));
    }
  }
}

ExpressionPtr ExpressionParser::filters(ExpressionPtr value) {
  while (true) {
    if (current().is("|")) {
      take();
      ExpressionPtr filter = make(ExpressionKind::filter);
      filter->text = expect_name("the name of a filter");
      filter->items.push_back(std::move(value));
      if (current().is("(")) arguments(*filter);
      value = std::move(filter);
    } else if (current().is_name("is")) {
      value = test(std::move(value));
    } else if (current().is("(")) {
      value = postfix(std::move(value));
    } else {
      return value;
    }
  }
}

ExpressionPtr ExpressionParser::test(ExpressionPtr value) {
  ExpressionPtr result = make(ExpressionKind::test);
  take();
  result->flag = accept_name("not");
  result->items.push_back(std::move(value));
  // Constants and operators are names of tests too.
  result->text =
      current().is("==") || current().is("!=") ? take().text : expect_name("the name of a test");
  const TemplateToken& next = current();
  const bool keyword = next.is_name("else") || next.is_name("or") || next.is_name("and") ||
                       next.is_name("is") || next.is_name("if") || next.is_name("not") ||
                       next.is_name("in");
  const bool argument = next.kind == TokenKind::name
                            ? !keyword
                            : next.kind == TokenKind::text || next.kind == TokenKind::integer ||
                                  next.kind == TokenKind::real || next.is("[") || next.is("{");
  if (next.is("(")) {
    arguments(*result);
  } else if (argument) {
    result->items.push_back(postfix(primary()));
  }
  return result;
}

}  // namespace qfs::prompting::jinja

#include <array>
#include <utility>

#include "methods/models/prompting/jinja/parser.h"

namespace qfs::prompting::jinja {

namespace {

class StatementParser : public ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;

  Block parse() {
    Block block = statements({});
    if (current().kind != TokenKind::end) fail("'" + current().text + "' ends nothing");
    return block;
  }

 private:
  StatementPtr make(StatementKind kind) const {
    auto statement = std::make_unique<Statement>();
    statement->kind = kind;
    statement->line = current().line;
    statement->column = current().column;
    return statement;
  }

  /// Statements up to a block that begins with one of `ends`, whose name is then the current token.
  Block statements(std::initializer_list<std::string_view> ends) {
    const Depth depth(*this);
    Block block;
    while (true) {
      begin_expressions();
      switch (current().kind) {
        case TokenKind::data: {
          StatementPtr data = make(StatementKind::data);
          data->text = take().text;
          block.push_back(std::move(data));
          break;
        }
        case TokenKind::variable_begin: {
          StatementPtr output = make(StatementKind::output);
          take();
          output->expression = expression(true);
          if (current().kind != TokenKind::variable_end) fail("expected '}}'");
          take();
          block.push_back(std::move(output));
          break;
        }
        case TokenKind::block_begin: {
          take();
          for (const std::string_view end : ends) {
            if (current().is_name(end)) return block;
          }
          statement(block);
          break;
        }
        default:
          if (ends.size() > 0) fail("a block is not ended");
          return block;
      }
    }
  }

  void end_block() {
    if (current().kind != TokenKind::block_end) fail("expected '%}'");
    take();
  }

  void statement(Block& block) {
    const std::string name = current().text;
    if (current().kind != TokenKind::name) fail("expected the name of a statement");
    if (name == "if") {
      block.push_back(branch());
    } else if (name == "for") {
      block.push_back(loop());
    } else if (name == "set") {
      block.push_back(set());
    } else if (name == "macro") {
      block.push_back(macro());
    } else if (name == "break" || name == "continue") {
      if (loops_ == 0) fail("'" + name + "' outside a loop");
      block.push_back(
          make(name == "break" ? StatementKind::break_loop : StatementKind::continue_loop));
      take();
      end_block();
    } else if (name == "generation") {
      // Marks what the assistant said, for training; its text is text.
      take();
      end_block();
      Block inside = statements({"endgeneration"});
      take();
      end_block();
      for (StatementPtr& item : inside) block.push_back(std::move(item));
    } else if (name.starts_with("end") || name == "else" || name == "elif") {
      fail("'" + name + "' without its beginning");
    } else {
      fail("the statement '" + name + "'", true);
    }
  }

  StatementPtr branch() {
    StatementPtr result = make(StatementKind::branch);
    bool more = true;
    while (more) {
      take();  // if, elif
      result->conditions.push_back(expression());
      end_block();
      result->blocks.push_back(statements({"elif", "else", "endif"}));
      more = current().is_name("elif");
    }
    if (accept_name("else")) {
      end_block();
      result->blocks.push_back(statements({"endif"}));
    }
    take();
    end_block();
    return result;
  }

  std::vector<std::string> targets() {
    const bool brackets = accept("(");
    std::vector<std::string> names = {expect_name("the name of a variable")};
    while (accept(",")) names.push_back(expect_name("the name of a variable"));
    if (brackets) expect(")");
    return names;
  }

  StatementPtr loop() {
    StatementPtr result = make(StatementKind::loop);
    take();
    result->names = targets();
    if (!accept_name("in")) fail("expected 'in'");
    result->expression = expression(true, false);
    if (accept_name("if")) result->conditions.push_back(expression());
    if (current().is_name("recursive")) fail("recursive loops", true);
    end_block();
    ++loops_;
    result->blocks.push_back(statements({"else", "endfor"}));
    --loops_;
    if (accept_name("else")) {
      end_block();
      result->blocks.push_back(statements({"endfor"}));
    }
    take();
    end_block();
    return result;
  }

  StatementPtr set() {
    StatementPtr result = make(StatementKind::set);
    take();
    result->names = targets();
    if (result->names.size() == 1 && accept(".")) {
      result->kind = StatementKind::set_attribute;
      result->names.push_back(expect_name("the name of an attribute"));
    }
    if (accept("=")) {
      result->expression = expression(true);
      end_block();
      return result;
    }
    if (result->kind != StatementKind::set || result->names.size() != 1) fail("expected '='");
    if (current().is("|")) fail("filters of a set block", true);
    result->kind = StatementKind::set_block;
    end_block();
    result->blocks.push_back(statements({"endset"}));
    take();
    end_block();
    return result;
  }

  StatementPtr macro() {
    StatementPtr result = make(StatementKind::macro);
    take();
    result->text = expect_name("the name of a macro");
    expect("(");
    for (bool first = true; !accept(")"); first = false) {
      if (!first) expect(",");
      result->names.push_back(expect_name("the name of a parameter"));
      result->conditions.push_back(accept("=") ? expression() : nullptr);
    }
    end_block();
    const int loops = std::exchange(loops_, 0);
    result->blocks.push_back(statements({"endmacro"}));
    loops_ = loops;
    take();
    if (current().kind == TokenKind::name) take();  // its name again
    end_block();
    return result;
  }

  int loops_ = 0;
};

}  // namespace

Block parse_template(std::string_view source) {
  return StatementParser(tokenize_template(source)).parse();
}

}  // namespace qfs::prompting::jinja

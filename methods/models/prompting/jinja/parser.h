// Parses a template.
//
// Called by ChatProgram. Throws TemplateError with line and column: for what is no template, and
// (`unsupported`) for statements that this program does not have. Nesting is bounded. Pure.
#pragma once

#include <string_view>

#include "methods/models/prompting/jinja/lexer.h"
#include "methods/models/prompting/jinja/syntax.h"

namespace qfs::prompting::jinja {

Block parse_template(std::string_view source);

/// Reads expressions from a list of tokens; shared by the two halves of the parser.
class ExpressionParser {
 public:
  explicit ExpressionParser(std::vector<TemplateToken> tokens) : tokens_(std::move(tokens)) {}

 protected:
  const TemplateToken& current() const { return tokens_[position_]; }
  TemplateToken take() { return tokens_[position_ + 1 < tokens_.size() ? position_++ : position_]; }
  bool accept(std::string_view symbol);
  bool accept_name(std::string_view name);
  void expect(std::string_view symbol);
  std::string expect_name(std::string_view what);
  [[noreturn]] void fail(const std::string& message, bool unsupported = false) const;

  /// An expression; with `tuples`, items separated by commas are one.
  ExpressionPtr expression(bool tuples = false, bool conditional = true);

  /// A statement begins: its expressions may have as many parts as any.
  void begin_expressions() { nodes_ = 0; }

  /// Counts nesting as long as it lives.
  class Depth {
   public:
    explicit Depth(ExpressionParser& parser);
    ~Depth() { --parser_.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

   private:
    ExpressionParser& parser_;
  };

 private:
  ExpressionPtr conditional();
  ExpressionPtr binary(size_t level);
  ExpressionPtr negation();
  ExpressionPtr comparison();
  ExpressionPtr power();
  ExpressionPtr unary(bool filters);
  ExpressionPtr primary();
  ExpressionPtr postfix(ExpressionPtr value);
  ExpressionPtr filters(ExpressionPtr value);
  ExpressionPtr subscript(ExpressionPtr value);
  ExpressionPtr brackets();
  ExpressionPtr test(ExpressionPtr value);
  void arguments(Expression& call);
  ExpressionPtr make(ExpressionKind kind);

  std::vector<TemplateToken> tokens_;
  size_t position_ = 0;
  int depth_ = 0;
  int nodes_ = 0;  ///< of the expression that is being read
};

}  // namespace qfs::prompting::jinja

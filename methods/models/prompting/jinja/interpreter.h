// Runs a parsed template.
//
// Called by ChatProgram. Throws TemplateError. One instance a rendering; not thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "methods/models/prompting/jinja/syntax.h"

namespace qfs::prompting::jinja {

/// Variables of one block; looked up from the inside outwards.
struct Scope {
  std::shared_ptr<Scope> outer;
  std::map<std::string, Value, std::less<>> names;
};

struct RenderLimits {
  int64_t steps = 1'000'000;
  size_t output_bytes = kLongestText;
};

class Interpreter {
 public:
  Interpreter(Dict globals, const RenderLimits& limits);

  Text run(const Block& block);

 private:
  enum class Flow { next, leave, again };  ///< what a statement says to the loop around it

  Flow run_block(const Block& block);
  Flow run_statement(const Statement& statement);
  Flow run_loop(const Statement& statement);
  void run_set(const Statement& statement);
  void define_macro(const Statement& statement);
  Value call_macro(const Statement& statement, const std::shared_ptr<Scope>& home,
                   const Arguments& arguments);
  Value loop_object(const List& items, size_t index, const std::shared_ptr<List>& changed);
  void assign(const std::vector<std::string>& names, const Value& value);
  void write(const Text& text);

  Value evaluate(const Expression& expression);
  Value evaluate_kind(const Expression& expression);
  Value evaluate_optional(const ExpressionPtr& expression);
  Value evaluate_binary(const Expression& expression);
  Value evaluate_unary(const Expression& expression);
  Value look_up(const std::string& name) const;
  Value call(const Expression& expression);
  Arguments arguments_of(const Expression& expression);

  RenderLimits limits_;
  std::shared_ptr<Scope> scope_;
  Text output_;
  int depth_ = 0;             ///< of macros and loops
  int expression_depth_ = 0;  ///< of expressions inside one another
};

}  // namespace qfs::prompting::jinja

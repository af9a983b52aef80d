#include "methods/models/prompting/jinja/interpreter.h"

#include <algorithm>
#include <utility>

#include "methods/models/prompting/jinja/library.h"

namespace qfs::prompting::jinja {

namespace {

constexpr int kDeepestBlock = 50;
constexpr int kDeepestExpression = 500;

/// Puts a value back at the end of a block, however it ends.
template <class T>
class Restore {
 public:
  Restore(T& place, T value) : place_(place), old_(std::exchange(place, std::move(value))) {}
  ~Restore() { place_ = std::move(old_); }
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;

 private:
  T& place_;
  T old_;
};

template <class Node>
[[noreturn]] void rethrow_at(TemplateError& error, const Node& node) {
  if (error.line == 0) {
    error.line = node.line;
    error.column = node.column;
  }
  throw error;
}

}  // namespace

Interpreter::Interpreter(Dict globals, const RenderLimits& limits)
    : limits_(limits), scope_(std::make_shared<Scope>()) {
  for (auto& [name, value] : globals) scope_->names.insert_or_assign(name, std::move(value));
  scope_ = std::make_shared<Scope>(Scope{scope_, {}});
  set_work_limit(limits.steps);
}

Text Interpreter::run(const Block& block) {
  run_block(block);
  return std::move(output_);
}

void Interpreter::write(const Text& text) {
  output_.append(text);
  if (output_.size() > limits_.output_bytes) throw TemplateError("the output is too long");
}

Interpreter::Flow Interpreter::run_block(const Block& block) {
  for (const StatementPtr& statement : block) {
    if (const Flow flow = run_statement(*statement); flow != Flow::next) return flow;
  }
  return Flow::next;
}

Interpreter::Flow Interpreter::run_statement(const Statement& statement) {
  try {
    spend(1);
    switch (statement.kind) {
      case StatementKind::data:
        write(Text(statement.text));
        return Flow::next;
      case StatementKind::output:
        write(to_text(evaluate(*statement.expression)));
        return Flow::next;
      case StatementKind::branch:
        for (size_t i = 0; i < statement.conditions.size(); ++i) {
          if (evaluate(*statement.conditions[i]).truth()) return run_block(statement.blocks[i]);
        }
        if (statement.blocks.size() > statement.conditions.size()) {
          return run_block(statement.blocks.back());
        }
        return Flow::next;
      case StatementKind::loop:
        return run_loop(statement);
      case StatementKind::set:
      case StatementKind::set_attribute:
      case StatementKind::set_block:
        run_set(statement);
        return Flow::next;
      case StatementKind::macro:
        define_macro(statement);
        return Flow::next;
      case StatementKind::break_loop:
        return Flow::leave;
      case StatementKind::continue_loop:
        return Flow::again;
    }
  } catch (TemplateError& error) {
    rethrow_at(error, statement);
  }
  return Flow::next;
}

void Interpreter::assign(const std::vector<std::string>& names, const Value& value) {
  if (names.size() == 1) {
    scope_->names.insert_or_assign(names.front(), value);
    return;
  }
  const List items = items_of(value);
  if (items.size() != names.size()) {
    throw TemplateError("cannot unpack " + std::to_string(items.size()) + " items into " +
                        std::to_string(names.size()) + " names");
  }
  for (size_t i = 0; i < names.size(); ++i) scope_->names.insert_or_assign(names[i], items[i]);
}

void Interpreter::run_set(const Statement& statement) {
  if (statement.kind == StatementKind::set_block) {
    Text text;
    {
      const Restore<Text> outside(output_, Text());
      const Restore<std::shared_ptr<Scope>> inside(scope_,
                                                   std::make_shared<Scope>(Scope{scope_, {}}));
      run_block(statement.blocks.front());
      text = output_;
    }
    return assign(statement.names, Value(Value::Data(std::move(text))));
  }
  Value value = evaluate(*statement.expression);
  if (statement.kind == StatementKind::set) return assign(statement.names, value);
  const Value target = look_up(statement.names[0]);
  if (!target.is_namespace()) {
    throw TemplateError("only attributes of a namespace can be set, and '" + statement.names[0] +
                        "' is none");
  }
  if (holds_reference(value)) {
    throw TemplateError("a namespace or function inside a namespace", true);
  }
  for (auto& [name, old] : *target.dict()) {
    if (name == statement.names[1]) {
      old = std::move(value);
      return;
    }
  }
  target.dict()->emplace_back(statement.names[1], std::move(value));
}

Value Interpreter::loop_object(const List& items, size_t index,
                               const std::shared_ptr<List>& changed) {
  const auto number = [](size_t value) { return Value::integer(static_cast<int64_t>(value)); };
  const size_t count = items.size();
  Dict members = {{"index", number(index + 1)},
                  {"index0", number(index)},
                  {"revindex", number(count - index)},
                  {"revindex0", number(count - index - 1)},
                  {"first", Value::boolean(index == 0)},
                  {"last", Value::boolean(index + 1 == count)},
                  {"length", number(count)},
                  {"depth", Value::integer(1)},
                  {"depth0", Value::integer(0)}};
  members.emplace_back("previtem", index == 0 ? Value(Undefined{"previtem"}) : items[index - 1]);
  members.emplace_back("nextitem",
                       index + 1 == count ? Value(Undefined{"nextitem"}) : items[index + 1]);
  members.emplace_back("cycle", Value::function([index](const Arguments& arguments) {
                         if (arguments.positional.empty())
                           throw TemplateError("cycle() needs items");
                         return arguments.positional[index % arguments.positional.size()];
                       }));
  members.emplace_back("changed", Value::function([changed](const Arguments& arguments) {
                         const bool same =
                             !changed->empty() &&
                             equal(changed->front(), Value::list(arguments.positional));
                         changed->assign(1, Value::list(arguments.positional));
                         return Value::boolean(!same);
                       }));
  return Value::name_space(std::move(members));
}

Interpreter::Flow Interpreter::run_loop(const Statement& statement) {
  if (depth_ >= kDeepestBlock) throw TemplateError("loops and macros nested deeper than 50 levels");
  const Restore<int> deeper(depth_, depth_ + 1);
  List items = items_of(evaluate(*statement.expression));
  const std::shared_ptr<Scope> outside = scope_;
  const Restore<std::shared_ptr<Scope>> inside(scope_, scope_);
  if (!statement.conditions.empty()) {
    std::erase_if(items, [&](const Value& item) {
      scope_ = std::make_shared<Scope>(Scope{outside, {}});
      assign(statement.names, item);
      return !evaluate(*statement.conditions.front()).truth();
    });
  }
  // What changed() compared may hold the loop, which holds this: emptied, however the loop ends.
  const auto changed = std::make_shared<List>();
  const Restore<List> forgotten(*changed, List());
  for (size_t i = 0; i < items.size(); ++i) {
    spend(1);
    scope_ = std::make_shared<Scope>(Scope{outside, {}});
    assign(statement.names, items[i]);
    scope_->names.insert_or_assign("loop", loop_object(items, i, changed));
    if (run_block(statement.blocks.front()) == Flow::leave) return Flow::next;
  }
  if (items.empty() && statement.blocks.size() > 1) {
    scope_ = std::make_shared<Scope>(Scope{outside, {}});
    return run_block(statement.blocks[1]);
  }
  return Flow::next;
}

void Interpreter::define_macro(const Statement& statement) {
  // Held weakly: the scope holds the macro.
  const std::weak_ptr<Scope> home = scope_;
  scope_->names.insert_or_assign(
      statement.text, Value::function([this, &statement, home](const Arguments& arguments) {
        return call_macro(statement, home.lock(), arguments);
      }));
}

Value Interpreter::call_macro(const Statement& statement, const std::shared_ptr<Scope>& home,
                              const Arguments& arguments) {
  if (depth_ >= kDeepestBlock) throw TemplateError("loops and macros nested deeper than 50 levels");
  if (arguments.positional.size() > statement.names.size()) {
    throw TemplateError("the macro '" + statement.text + "' takes at most " +
                        std::to_string(statement.names.size()) + " arguments");
  }
  for (const auto& [name, value] : arguments.named) {
    if (std::find(statement.names.begin(), statement.names.end(), name) == statement.names.end()) {
      throw TemplateError("the macro '" + statement.text + "' has no parameter '" + name + "'");
    }
  }
  const Restore<int> deeper(depth_, depth_ + 1);
  const Restore<std::shared_ptr<Scope>> inside(scope_, std::make_shared<Scope>(Scope{home, {}}));
  for (size_t i = 0; i < statement.names.size(); ++i) {
    const Value* given = arguments.find(i, statement.names[i]);
    Value value = given != nullptr ? *given : evaluate_optional(statement.conditions[i]);
    if (value.is_undefined()) value = Value(Undefined{statement.names[i]});
    scope_->names.insert_or_assign(statement.names[i], std::move(value));
  }
  const Restore<Text> outside(output_, Text());
  run_block(statement.blocks.front());
  return Value(Value::Data(output_));
}

Value Interpreter::look_up(const std::string& name) const {
  for (const Scope* scope = scope_.get(); scope != nullptr; scope = scope->outer.get()) {
    const auto it = scope->names.find(name);
    if (it != scope->names.end()) return it->second;
  }
  return Value(Undefined{name});
}

Value Interpreter::evaluate(const Expression& expression) {
  const Restore<int> deeper(expression_depth_, expression_depth_ + 1);
  try {
    if (expression_depth_ > kDeepestExpression)
      throw TemplateError("an expression is nested too deep");
    spend(1);
    return evaluate_kind(expression);
  } catch (TemplateError& error) {
    rethrow_at(error, expression);
  }
}

Value Interpreter::evaluate_optional(const ExpressionPtr& expression) {
  return expression == nullptr ? Value() : evaluate(*expression);
}

Arguments Interpreter::arguments_of(const Expression& expression) {
  Arguments arguments;
  for (size_t i = 1; i < expression.items.size(); ++i) {
    arguments.positional.push_back(evaluate(*expression.items[i]));
  }
  for (const auto& [name, value] : expression.named)
    arguments.named.emplace_back(name, evaluate(*value));
  return arguments;
}

Value Interpreter::evaluate_binary(const Expression& expression) {
  const Value left = evaluate(*expression.items[0]);
  if (expression.text == "and") return left.truth() ? evaluate(*expression.items[1]) : left;
  if (expression.text == "or") return left.truth() ? left : evaluate(*expression.items[1]);
  return apply_binary(expression.text, left, evaluate(*expression.items[1]));
}

Value Interpreter::evaluate_unary(const Expression& expression) {
  const Value value = evaluate(*expression.items[0]);
  if (expression.text == "not") return Value::boolean(!value.truth());
  if (const auto* real = value.get<double>()) return Value(expression.text == "-" ? -*real : *real);
  return apply_binary(expression.text, Value::integer(0),
                      Value::integer(value.as_integer("the operand of a sign")));
}

Value Interpreter::call(const Expression& expression) {
  const Value callee = evaluate(*expression.items[0]);
  const auto* function = callee.get<std::shared_ptr<const Function>>();
  if (function == nullptr) {
    const auto* undefined = callee.get<Undefined>();
    throw TemplateError(undefined != nullptr
                            ? "'" + undefined->name + "' is undefined"
                            : "a value of type " + std::string(callee.type_name()) +
                                  " cannot be called");
  }
  return (**function)(arguments_of(expression));
}

Value Interpreter::evaluate_kind(const Expression& expression) {
  const auto item = [&](size_t i) { return evaluate(*expression.items[i]); };
  switch (expression.kind) {
    case ExpressionKind::literal:
      return expression.value;
    case ExpressionKind::name:
      return look_up(expression.text);
    case ExpressionKind::list:
    case ExpressionKind::tuple: {
      List items;
      for (const ExpressionPtr& part : expression.items) items.push_back(evaluate(*part));
      return expression.kind == ExpressionKind::list ? Value::list(std::move(items))
                                                     : Value::tuple(std::move(items));
    }
    case ExpressionKind::dict: {
      Dict members;
      for (size_t i = 0; i + 1 < expression.items.size(); i += 2) {
        const Value key = item(i);
        if (key.text() == nullptr) throw TemplateError("keys that are no texts", true);
        Value value = item(i + 1);
        const auto same = [&](const auto& member) { return member.first == key.text()->bytes(); };
        const auto old = std::find_if(members.begin(), members.end(), same);
        if (old != members.end()) {
          old->second = std::move(value);
        } else {
          members.emplace_back(key.text()->bytes(), std::move(value));
        }
      }
      return Value::dict(std::move(members));
    }
    case ExpressionKind::attribute:
      return get_attribute(item(0), expression.text);
    case ExpressionKind::subscript:
      return get_item(item(0), item(1));
    case ExpressionKind::slice:
      return get_slice(item(0), evaluate_optional(expression.items[1]),
                       evaluate_optional(expression.items[2]),
                       evaluate_optional(expression.items[3]));
    case ExpressionKind::call:
      return call(expression);
    case ExpressionKind::filter:
      return apply_filter(expression.text, item(0), arguments_of(expression));
    case ExpressionKind::test:
      return Value::boolean(apply_test(expression.text, item(0), arguments_of(expression)) !=
                            expression.flag);
    case ExpressionKind::unary:
      return evaluate_unary(expression);
    case ExpressionKind::binary:
      return evaluate_binary(expression);
    case ExpressionKind::comparison: {
      Value left = item(0);
      for (size_t i = 0; i < expression.operators.size(); ++i) {
        Value right = item(i + 1);
        Value holds = apply_binary(expression.operators[i], left, right);
        if (!holds.truth() || i + 1 == expression.operators.size()) return holds;
        left = std::move(right);
      }
      return left;
    }
    case ExpressionKind::conditional:
      return item(1).truth() ? item(0) : evaluate_optional(expression.items[2]);
  }
  return Value();
}

}  // namespace qfs::prompting::jinja

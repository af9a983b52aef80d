#include "methods/models/prompting/jinja/letter_case.h"
#include "methods/models/prompting/jinja/library.h"

namespace qfs::prompting::jinja {

namespace {

const Value& argument(const Arguments& arguments, std::string_view test) {
  if (arguments.positional.empty()) {
    throw TemplateError("the test '" + std::string(test) + "' needs an argument");
  }
  return arguments.positional.front();
}

bool is_integer(const Value& value) { return value.get<int64_t>() != nullptr; }

/// The operator behind the name of a comparing test; empty when it is none.
std::string_view comparison(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"==", "=="}, {"eq", "=="},         {"equalto", "=="}, {"!=", "!="},
      {"ne", "!="}, {"lessthan", "<"},    {"lt", "<"},       {"le", "<="},
      {"gt", ">"},  {"greaterthan", ">"}, {"ge", ">="},      {"in", "in"},
  };
  for (const auto& [test, symbol] : kNames) {
    if (test == name) return symbol;
  }
  return {};
}

bool same_object(const Value& a, const Value& b) {
  if (a.list() != nullptr || a.dict() != nullptr) {
    return a.list() == b.list() && a.dict() == b.dict();
  }
  return a.data().index() == b.data().index() && equal(a, b);
}

}  // namespace

bool apply_test(std::string_view name, const Value& value, const Arguments& arguments) {
  spend(1);
  if (!arguments.named.empty() || arguments.positional.size() > 1) {
    throw TemplateError("these arguments of the test '" + std::string(name) + "'", true);
  }
  if (const std::string_view symbol = comparison(name); !symbol.empty()) {
    return apply_binary(symbol, value, argument(arguments, name)).truth();
  }
  const auto* flag = value.get<bool>();
  if (name == "defined") return !value.is_undefined();
  if (name == "undefined") return value.is_undefined();
  if (name == "none") return value.is_none();
  if (name == "string") return value.text() != nullptr;
  if (name == "mapping") return value.dict() != nullptr && !value.is_namespace();
  if (name == "boolean") return flag != nullptr;
  if (name == "true") return flag != nullptr && *flag;
  if (name == "false") return flag != nullptr && !*flag;
  if (name == "integer") return is_integer(value);
  if (name == "float") return value.get<double>() != nullptr;
  if (name == "number")
    return flag != nullptr || is_integer(value) || value.get<double>() != nullptr;
  if (name == "iterable" || name == "sequence") {
    if (name == "iterable" && value.is_undefined()) return true;
    if (name == "sequence" && (value.is_generator() || value.is_undefined()))
      return value.is_undefined();
    return value.text() != nullptr || value.list() != nullptr ||
           (value.dict() != nullptr && !value.is_namespace());
  }
  if (name == "callable") return value.get<std::shared_ptr<const Function>>() != nullptr;
  if (name == "odd" || name == "even") {
    return (value.as_integer("the subject of odd and even") % 2 != 0) == (name == "odd");
  }
  if (name == "divisibleby") {
    const int64_t divisor = argument(arguments, name).as_integer("a divisor");
    if (divisor == 0) throw TemplateError("division by zero");
    return divisor == -1 || value.as_integer("a number") % divisor == 0;
  }
  if (name == "upper" || name == "lower") {
    const std::string text = to_text(value).bytes();
    const std::string up = with_case(text, LetterCase::upper);
    const std::string down = with_case(text, LetterCase::lower);
    return up != down && text == (name == "upper" ? up : down);
  }
  if (name == "sameas") return same_object(value, argument(arguments, name));
  throw TemplateError("the test '" + std::string(name) + "'", true);
}

}  // namespace qfs::prompting::jinja

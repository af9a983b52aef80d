#include <cmath>
#include <limits>

#include "methods/models/prompting/jinja/library.h"
#include "methods/models/tokenizers/pipeline/code_points.h"

namespace qfs::prompting::jinja {

namespace {

[[noreturn]] void unsupported_operands(std::string_view symbol, const Value& left,
                                       const Value& right) {
  for (const Value* value : {&left, &right}) {
    if (const auto* undefined = value->get<Undefined>()) {
      throw TemplateError("'" + undefined->name + "' is undefined");
    }
  }
  throw TemplateError("'" + std::string(symbol) + "' is not defined for " +
                      std::string(left.type_name()) + " and " + std::string(right.type_name()));
}

bool is_number(const Value& value) {
  return value.get<bool>() != nullptr || value.get<int64_t>() != nullptr ||
         value.get<double>() != nullptr;
}

double as_real(const Value& value) {
  const auto* real = value.get<double>();
  return real != nullptr ? *real : static_cast<double>(value.as_integer("a number"));
}

Value integer_operation(std::string_view symbol, int64_t a, int64_t b) {
  int64_t result = 0;
  bool overflow = false;
  if (symbol == "+") {
    overflow = __builtin_add_overflow(a, b, &result);
  } else if (symbol == "-") {
    overflow = __builtin_sub_overflow(a, b, &result);
  } else if (symbol == "*") {
    overflow = __builtin_mul_overflow(a, b, &result);
  } else if (symbol == "//" || symbol == "%") {
    if (b == 0) throw TemplateError("division by zero");
    if (b == -1) {
      overflow = symbol == "//" && __builtin_sub_overflow(int64_t{0}, a, &result);
    } else {
      // Python rounds down and gives the remainder the divisor's sign.
      const int64_t rest = a % b != 0 && (a % b < 0) != (b < 0) ? a % b + b : a % b;
      result = symbol == "%" ? rest : (a - rest) / b;
    }
  } else {  // **
    if (b < 0) return Value(std::pow(static_cast<double>(a), static_cast<double>(b)));
    result = 1;
    for (int64_t i = 0; i < b && !overflow; ++i) {
      overflow = __builtin_mul_overflow(result, a, &result);
      if (a == 0 || a == 1) break;
      if (a == -1) {
        result = b % 2 == 0 ? 1 : -1;
        break;
      }
    }
  }
  if (overflow) throw TemplateError("an integer does not fit into 64 bits");
  return Value::integer(result);
}

Value real_operation(std::string_view symbol, double a, double b) {
  if (symbol == "+") return Value(a + b);
  if (symbol == "-") return Value(a - b);
  if (symbol == "*") return Value(a * b);
  if (symbol == "**") return Value(std::pow(a, b));
  if (b == 0) throw TemplateError("division by zero");
  if (symbol == "/") return Value(a / b);
  const double quotient = std::floor(a / b);
  return symbol == "//" ? Value(quotient) : Value(a - quotient * b);
}

Value repeat(const Text& text, int64_t count) {
  const auto times = static_cast<size_t>(std::max<int64_t>(count, 0));
  if (text.size() > 0 && times > kLongestText / text.size()) {
    throw TemplateError("a text grows beyond 16 MiB");
  }
  Text result;
  for (size_t i = 0; i < times && text.size() > 0; ++i) result.append(text);
  return Value(Value::Data(std::move(result)));
}

Value add(const Value& left, const Value& right) {
  if (left.text() != nullptr && right.text() != nullptr) {
    Text text = *left.text();
    text.append(*right.text());
    if (text.size() > kLongestText) throw TemplateError("a text grows beyond 16 MiB");
    spend(static_cast<int64_t>(text.size() / 1024));
    return Value(Value::Data(std::move(text)));
  }
  if (left.list() != nullptr && right.list() != nullptr && left.is_tuple() == right.is_tuple()) {
    List items = *left.list();
    spend(static_cast<int64_t>(items.size() + right.list()->size()));
    items.insert(items.end(), right.list()->begin(), right.list()->end());
    return left.is_tuple() ? Value::tuple(std::move(items)) : Value::list(std::move(items));
  }
  unsupported_operands("+", left, right);
}

/// Index from the end when negative; -1 when outside.
int64_t from_end(int64_t index, size_t size) {
  const auto count = static_cast<int64_t>(size);
  if (index < 0) index += count;
  return index < 0 || index >= count ? -1 : index;
}

}  // namespace

Value apply_binary(std::string_view symbol, const Value& left, const Value& right) {
  if (symbol == "==") return Value::boolean(equal(left, right));
  if (symbol == "!=") return Value::boolean(!equal(left, right));
  if (symbol == "<") return Value::boolean(compare(left, right) < 0);
  if (symbol == "<=") return Value::boolean(compare(left, right) <= 0);
  if (symbol == ">") return Value::boolean(compare(left, right) > 0);
  if (symbol == ">=") return Value::boolean(compare(left, right) >= 0);
  if (symbol == "in") return Value::boolean(contains(right, left));
  if (symbol == "not in") return Value::boolean(!contains(right, left));
  if (symbol == "~") {
    Text text = to_text(left);
    text.append(to_text(right));
    if (text.size() > kLongestText) throw TemplateError("a text grows beyond 16 MiB");
    spend(static_cast<int64_t>(text.size() / 1024));
    return Value(Value::Data(std::move(text)));
  }
  if (is_number(left) && is_number(right)) {
    const bool real = left.get<double>() != nullptr || right.get<double>() != nullptr;
    if (real || symbol == "/") return real_operation(symbol, as_real(left), as_real(right));
    return integer_operation(symbol, left.as_integer("a number"), right.as_integer("a number"));
  }
  if (symbol == "+") return add(left, right);
  if (symbol == "*" && left.text() != nullptr && right.get<int64_t>() != nullptr) {
    return repeat(*left.text(), *right.get<int64_t>());
  }
  if (symbol == "*" && right.text() != nullptr && left.get<int64_t>() != nullptr) {
    return repeat(*right.text(), *left.get<int64_t>());
  }
  if (symbol == "%" && left.text() != nullptr) {
    throw TemplateError("formatting with '%'", true);
  }
  unsupported_operands(symbol, left, right);
}

Value get_attribute(const Value& value, std::string_view name) {
  if (const auto* undefined = value.get<Undefined>()) {
    throw TemplateError("'" + undefined->name + "' is undefined");
  }
  if (!value.is_namespace()) {
    if (std::optional<Value> method = find_method(value, name)) return *method;
  }
  if (const Dict* dict = value.dict()) {
    if (const Value* member = find(*dict, name)) return *member;
  }
  return Value(Undefined{std::string(name)});
}

Value get_item(const Value& value, const Value& index) {
  if (const auto* undefined = value.get<Undefined>()) {
    throw TemplateError("'" + undefined->name + "' is undefined");
  }
  if (const Text* key = index.text()) {
    if (const Dict* dict = value.dict()) {
      if (const Value* member = find(*dict, key->bytes())) return *member;
    }
    if (!value.is_namespace()) {
      if (std::optional<Value> method = find_method(value, key->bytes())) return *method;
    }
    return Value(Undefined{key->bytes()});
  }
  if (index.get<int64_t>() == nullptr && index.get<bool>() == nullptr) {
    return Value(Undefined{repr(index)});
  }
  if (value.is_generator()) throw TemplateError("a generator has no index");
  if (value.list() == nullptr && value.text() == nullptr) return Value(Undefined{repr(index)});
  const List items = items_of(value);
  const int64_t at = from_end(index.as_integer("an index"), items.size());
  return at < 0 ? Value(Undefined{repr(index)}) : items[static_cast<size_t>(at)];
}

Value get_slice(const Value& value, const Value& begin, const Value& end, const Value& step) {
  if (value.list() == nullptr && value.text() == nullptr) {
    throw TemplateError("a value of type " + std::string(value.type_name()) + " has no slices");
  }
  const List items = items_of(value);
  const auto count = static_cast<int64_t>(items.size());
  const auto absent = [](const Value& bound) { return bound.is_undefined() || bound.is_none(); };
  const int64_t stride = absent(step) ? 1 : step.as_integer("a step");
  if (stride == 0) throw TemplateError("a slice's step is zero");
  const auto bound = [&](const Value& wanted, int64_t fallback) {
    if (absent(wanted)) return fallback;
    int64_t index = wanted.as_integer("a bound");
    if (index < 0) index = index < -count ? -1 : index + count;
    return stride > 0 ? std::min(std::max<int64_t>(index, 0), count)
                      : std::min(std::max<int64_t>(index, -1), count - 1);
  };
  const int64_t first = bound(begin, stride > 0 ? 0 : count - 1);
  const int64_t last = bound(end, stride > 0 ? count : -1);
  List picked;
  for (int64_t i = first; stride > 0 ? i < last : i > last;) {
    picked.push_back(items[static_cast<size_t>(i)]);
    if (__builtin_add_overflow(i, stride, &i)) break;
  }
  if (value.text() == nullptr) {
    return value.is_tuple() ? Value::tuple(std::move(picked)) : Value::list(std::move(picked));
  }
  Text text;
  for (const Value& item : picked) text.append(*item.text());
  return Value(Value::Data(std::move(text)));
}

}  // namespace qfs::prompting::jinja

#include <algorithm>
#include <charconv>
#include <cmath>

#include "methods/models/prompting/jinja/letter_case.h"
#include "methods/models/prompting/jinja/library.h"

namespace qfs::prompting::jinja {

namespace {

bool truth_argument(const Arguments& arguments, size_t index, std::string_view name,
                    bool fallback) {
  const Value* value = arguments.find(index, name);
  return value == nullptr ? fallback : value->truth();
}

/// item.a.b, with integers as indices.
Value attribute_path(const Value& item, const std::string& path) {
  Value value = item;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    int64_t index = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), index);
    const bool number = !name.empty() && parsed.ptr == name.data() + name.size();
    value = get_item(value, number ? Value::integer(index) : Value::text(name));
    begin = end + 1;
  }
  return value;
}

std::string attribute_argument(const Arguments& arguments, std::string_view filter) {
  const Value* name = arguments.find(0, "attribute");
  if (name == nullptr || name->text() == nullptr) {
    throw TemplateError(std::string(filter) + " needs the name of an attribute");
  }
  return name->text()->bytes();
}

Value length(const Value& value) {
  if (value.is_undefined()) return Value::integer(0);
  if (value.is_generator()) throw TemplateError("a generator has no length");
  return Value::integer(static_cast<int64_t>(items_of(value).size()));
}

Value join(const Value& value, const Arguments& arguments) {
  const Value* separator = arguments.find(0, "d");
  const Value* attribute = arguments.find(1, "attribute");
  Text text;
  bool first = true;
  for (const Value& item : items_of(value)) {
    if (!first && separator != nullptr) text.append(to_text(*separator));
    first = false;
    text.append(
        to_text(attribute == nullptr ? item : attribute_path(item, to_text(*attribute).bytes())));
    if (text.size() > kLongestText) throw TemplateError("a text grows beyond 16 MiB");
  }
  return Value::text(std::move(text));
}

Value replace(const Value& value, const Arguments& arguments) {
  const Text text = to_text(value);
  const Value* from = arguments.find(0, "old");
  const Value* to = arguments.find(1, "new");
  const Value* count = arguments.find(2, "count");
  if (from == nullptr || to == nullptr || from->text() == nullptr || to->text() == nullptr) {
    throw TemplateError("replace needs two texts");
  }
  int64_t left = count == nullptr || count->is_none() ? -1 : count->as_integer("count");
  const std::string& old = from->text()->bytes();
  if (old.empty()) throw TemplateError("replacing the empty text", true);
  Text result;
  size_t begin = 0;
  for (size_t at = text.bytes().find(old); at != std::string::npos && left != 0;
       at = text.bytes().find(old, begin)) {
    result.append(text.part(begin, at));
    result.append(*to->text());
    begin = at + old.size();
    --left;
    if (result.size() > kLongestText) throw TemplateError("a text grows beyond 16 MiB");
  }
  result.append(text.part(begin, text.size()));
  return Value::text(std::move(result));
}

/// select, reject, selectattr, rejectattr.
Value select(const Value& value, const Arguments& arguments, bool by_attribute, bool wanted) {
  if (!arguments.named.empty()) throw TemplateError("named arguments of select", true);
  const size_t shift = by_attribute ? 1 : 0;
  const std::string path = by_attribute ? attribute_argument(arguments, "selectattr") : "";
  const Value* test = arguments.find(shift, "test");
  Arguments rest;
  for (size_t i = shift + 1; i < arguments.positional.size(); ++i) {
    rest.positional.push_back(arguments.positional[i]);
  }
  List items;
  for (const Value& item : items_of(value)) {
    const Value subject = by_attribute ? attribute_path(item, path) : item;
    const bool passes =
        test == nullptr ? subject.truth() : apply_test(to_text(*test).bytes(), subject, rest);
    if (passes == wanted) items.push_back(item);
  }
  return Value::generator(std::move(items));
}

Value map(const Value& value, const Arguments& arguments) {
  List items;
  const Value* attribute = arguments.find(99, "attribute");
  const Value* fallback = arguments.find(99, "default");
  for (const auto& [name, argument] : arguments.named) {
    if (name != "attribute" && name != "default") {
      throw TemplateError("the argument '" + name + "' of the filter 'map'", true);
    }
  }
  if (attribute != nullptr && arguments.positional.empty()) {
    for (const Value& item : items_of(value)) {
      Value member = attribute_path(item, to_text(*attribute).bytes());
      items.push_back(member.is_undefined() && fallback != nullptr ? *fallback : member);
    }
    return Value::generator(std::move(items));
  }
  if (arguments.positional.empty()) throw TemplateError("map needs a filter or an attribute");
  Arguments rest;
  rest.positional.assign(arguments.positional.begin() + 1, arguments.positional.end());
  const std::string filter = to_text(arguments.positional.front()).bytes();
  for (const Value& item : items_of(value)) items.push_back(apply_filter(filter, item, rest));
  return Value::generator(std::move(items));
}

/// The value that sorting compares: texts in lower case unless case matters.
Value sort_key(const Value& item, const Value* attribute, bool case_sensitive) {
  Value key = attribute == nullptr ? item : attribute_path(item, to_text(*attribute).bytes());
  if (key.text() == nullptr || case_sensitive) return key;
  return Value::text(with_case(key.text()->bytes(), LetterCase::lower));
}

List sorted(List items, const Value* attribute, bool case_sensitive, bool reverse) {
  std::stable_sort(items.begin(), items.end(), [&](const Value& a, const Value& b) {
    spend(1);
    const int order =
        compare(sort_key(a, attribute, case_sensitive), sort_key(b, attribute, case_sensitive));
    return reverse ? order > 0 : order < 0;
  });
  return items;
}

Value dictsort(const Value& value, const Arguments& arguments) {
  if (value.dict() == nullptr) throw TemplateError("dictsort needs a dict");
  if (arguments.find(1, "by") != nullptr) throw TemplateError("dictsort by value", true);
  List pairs;
  for (const auto& [key, item] : *value.dict()) {
    pairs.push_back(Value::tuple({Value::text(key), item}));
  }
  const Value first = Value::text("0");
  return Value::list(sorted(std::move(pairs), &first,
                            truth_argument(arguments, 0, "case_sensitive", false),
                            truth_argument(arguments, 2, "reverse", false)));
}

Value unique(const Value& value, const Arguments& arguments) {
  const Value* attribute = arguments.find(1, "attribute");
  const bool case_sensitive = truth_argument(arguments, 0, "case_sensitive", false);
  List items;
  List seen;
  for (const Value& item : items_of(value)) {
    const Value key = sort_key(item, attribute, case_sensitive);
    if (std::any_of(seen.begin(), seen.end(),
                    [&](const Value& other) { return equal(other, key); })) {
      continue;
    }
    seen.push_back(key);
    items.push_back(item);
  }
  return Value::generator(std::move(items));
}

Value reverse(const Value& value) {
  List items = items_of(value);
  std::reverse(items.begin(), items.end());
  if (value.text() == nullptr) return Value::generator(std::move(items));
  Text text;
  for (const Value& item : items) text.append(*item.text());
  return Value::text(std::move(text));
}

Value to_integer(const Value& value, const Arguments& arguments) {
  const Value* fallback = arguments.find(0, "default");
  if (const auto* real = value.get<double>(); real != nullptr && std::fabs(*real) < 9e18) {
    return Value::integer(static_cast<int64_t>(*real));
  }
  if (value.get<int64_t>() != nullptr || value.get<bool>() != nullptr) {
    return Value::integer(value.as_integer("a number"));
  }
  if (value.text() != nullptr) {
    const std::string digits = strip_text(*value.text(), "", true, true).bytes();
    const char* begin = digits.data() + (digits.starts_with('+') ? 1 : 0);
    const char* end = digits.data() + digits.size();
    int64_t integer = 0;
    auto parsed = std::from_chars(begin, end, integer);
    if (parsed.ec == std::errc() && parsed.ptr == end && begin != end)
      return Value::integer(integer);
    double real = 0;
    parsed = std::from_chars(begin, end, real);
    if (parsed.ec == std::errc() && parsed.ptr == end && std::fabs(real) < 9e18) {
      return Value::integer(static_cast<int64_t>(real));
    }
  }
  return fallback == nullptr ? Value::integer(0) : *fallback;
}

Value to_real(const Value& value, const Arguments& arguments) {
  if (value.get<double>() != nullptr) return value;
  if (value.get<int64_t>() != nullptr || value.get<bool>() != nullptr) {
    return Value(static_cast<double>(value.as_integer("a number")));
  }
  if (value.text() != nullptr) {
    const std::string digits = strip_text(*value.text(), "", true, true).bytes();
    double real = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), real);
    if (parsed.ec == std::errc() && parsed.ptr == digits.data() + digits.size()) return Value(real);
  }
  const Value* fallback = arguments.find(0, "default");
  return fallback == nullptr ? Value(0.0) : *fallback;
}

Value indent(const Value& value, const Arguments& arguments) {
  const Value* width = arguments.find(0, "width");
  const bool first = truth_argument(arguments, 1, "first", false);
  const bool blank = truth_argument(arguments, 2, "blank", false);
  Text prefix = width != nullptr && width->text() != nullptr ? *width->text() : Text();
  const int64_t columns = width == nullptr ? 4 : prefix.size() > 0 ? 0 : width->as_integer("width");
  if (columns > 1000) throw TemplateError("an indent of more than 1000 columns");
  prefix.append(Text(std::string(static_cast<size_t>(std::max<int64_t>(columns, 0)), ' ')));
  const Text text = to_text(value);
  Text result;
  for (size_t begin = 0, line = 0; begin <= text.size(); ++line) {
    const size_t end = std::min(text.bytes().find('\n', begin), text.size());
    if (line > 0) result.append(Text("\n"));
    const bool wanted = line == 0 ? first : blank || end > begin;
    if (wanted) result.append(prefix);
    result.append(text.part(begin, end));
    if (result.size() > kLongestText) throw TemplateError("a text grows beyond 16 MiB");
    begin = end + 1;
  }
  return Value::text(std::move(result));
}

Value extreme(const Value& value, bool largest) {
  const List items = items_of(value);
  if (items.empty()) return Value(Undefined{"no item"});
  const auto less = [](const Value& a, const Value& b) {
    return compare(sort_key(a, nullptr, false), sort_key(b, nullptr, false)) < 0;
  };
  return *(largest ? std::max_element(items.begin(), items.end(), less)
                   : std::min_element(items.begin(), items.end(), less));
}

Value sum(const Value& value, const Arguments& arguments) {
  const Value* attribute = arguments.find(0, "attribute");
  Value total = Value::integer(0);
  for (const Value& item : items_of(value)) {
    total = apply_binary(
        "+", total,
        attribute == nullptr ? item : attribute_path(item, to_text(*attribute).bytes()));
  }
  return total;
}

Value json(const Value& value, const Arguments& arguments) {
  const Value* indent = arguments.find(1, "indent");
  if (arguments.find(2, "separators") != nullptr) throw TemplateError("separators of tojson", true);
  if (truth_argument(arguments, 0, "ensure_ascii", false)) {
    throw TemplateError("ensure_ascii of tojson", true);
  }
  const int64_t columns =
      indent == nullptr || indent->is_none() ? -1 : indent->as_integer("indent");
  if (columns > 100) throw TemplateError("an indent of more than 100 columns");
  return Value::text(to_json(value, columns, truth_argument(arguments, 3, "sort_keys", false)));
}

Value cased(const Value& value, LetterCase wanted) {
  const Text text = to_text(value);
  return Value::text(Text::derived(with_case(text.bytes(), wanted), {&text}));
}

Value absolute(const Value& value) {
  if (const auto* real = value.get<double>()) return Value(std::fabs(*real));
  const int64_t number = value.as_integer("the argument of abs");
  return number < 0 ? apply_binary("-", Value::integer(0), Value::integer(number))
                    : Value::integer(number);
}

Value fallback_for(const Value& value, const Arguments& arguments) {
  const bool replaced =
      value.is_undefined() || (truth_argument(arguments, 1, "boolean", false) && !value.truth());
  if (!replaced) return value;
  const Value* fallback = arguments.find(0, "default_value");
  return fallback == nullptr ? Value::text("") : *fallback;
}

Value end_item(const Value& value, bool last) {
  const List items = items_of(value);
  if (items.empty()) return Value(Undefined{"no item"});
  return last ? items.back() : items.front();
}

/// `title` of Jinja2 begins words after white space and opening brackets and hyphens only.
Value title(const Value& value) {
  const Text text = to_text(value);
  std::string result;
  for (size_t begin = 0; begin < text.size();) {
    constexpr std::string_view kBreaks = "-({[<";
    const auto breaks = [&](size_t at) {
      const char c = text.bytes()[at];
      return c == ' ' || (c >= '\t' && c <= '\r') || kBreaks.find(c) != kBreaks.npos;
    };
    size_t end = begin + 1;
    while (end < text.size() && breaks(end) == breaks(begin)) ++end;
    result += with_case(std::string_view(text.bytes()).substr(begin, end - begin),
                        LetterCase::capitalized);
    begin = end;
  }
  return Value::text(Text::derived(std::move(result), {&text}));
}

/// The parameters of each filter in Jinja2's order; those with "*" check their own.
constexpr std::pair<std::string_view, std::string_view> kParameters[] = {
    {"trim", "chars"},
    {"tojson", "ensure_ascii indent separators sort_keys"},
    {"default", "default_value boolean"},
    {"d", "default_value boolean"},
    {"join", "d attribute"},
    {"replace", "old new count"},
    {"selectattr", "*"},
    {"rejectattr", "*"},
    {"select", "*"},
    {"reject", "*"},
    {"map", "*"},
    {"int", "default"},
    {"float", "default"},
    {"sort", "reverse case_sensitive attribute"},
    {"unique", "case_sensitive attribute"},
    {"dictsort", "case_sensitive by reverse"},
    {"indent", "width first blank"},
    {"sum", "attribute"},
};

/// No argument is ignored: one that the filter does not have is an error.
void check_arguments(std::string_view filter, const Arguments& arguments) {
  std::string_view parameters;
  for (const auto& [name, list] : kParameters) {
    if (name == filter) parameters = list;
  }
  if (parameters == "*") return;
  const std::string padded = " " + std::string(parameters) + " ";
  const auto known = parameters.empty() ? 0 : std::count(padded.begin(), padded.end(), ' ') - 1;
  const bool too_many = static_cast<int64_t>(arguments.positional.size()) > known;
  for (const auto& [name, value] : arguments.named) {
    if (padded.find(" " + name + " ") == padded.npos) {
      throw TemplateError("the argument '" + name + "' of the filter '" + std::string(filter) + "'",
                          true);
    }
  }
  if (too_many) {
    throw TemplateError("so many arguments of the filter '" + std::string(filter) + "'", true);
  }
}

}  // namespace

Value apply_filter(std::string_view name, const Value& value, const Arguments& arguments) {
  spend(1);
  check_arguments(name, arguments);
  if (name == "trim") {
    const Value* characters = arguments.find(0, "chars");
    return Value::text(strip_text(
        to_text(value), characters == nullptr ? "" : to_text(*characters).bytes(), true, true));
  }
  if (name == "tojson") return json(value, arguments);
  if (name == "length" || name == "count") return length(value);
  if (name == "default" || name == "d") return fallback_for(value, arguments);
  if (name == "join") return join(value, arguments);
  if (name == "upper") return cased(value, LetterCase::upper);
  if (name == "lower") return cased(value, LetterCase::lower);
  if (name == "capitalize") return cased(value, LetterCase::capitalized);
  if (name == "title") return title(value);
  if (name == "replace") return replace(value, arguments);
  if (name == "selectattr") return select(value, arguments, true, true);
  if (name == "rejectattr") return select(value, arguments, true, false);
  if (name == "select") return select(value, arguments, false, true);
  if (name == "reject") return select(value, arguments, false, false);
  if (name == "map") return map(value, arguments);
  if (name == "list") return Value::list(items_of(value));
  if (name == "string") return Value::text(to_text(value));
  if (name == "safe") return Value::text(to_text(value));
  if (name == "int") return to_integer(value, arguments);
  if (name == "float") return to_real(value, arguments);
  if (name == "abs") return absolute(value);
  if (name == "first") return end_item(value, false);
  if (name == "last") return end_item(value, true);
  if (name == "reverse") return reverse(value);
  if (name == "sort") {
    return Value::list(sorted(items_of(value), arguments.find(2, "attribute"),
                              truth_argument(arguments, 1, "case_sensitive", false),
                              truth_argument(arguments, 0, "reverse", false)));
  }
  if (name == "unique") return unique(value, arguments);
  if (name == "dictsort") return dictsort(value, arguments);
  if (name == "items") {
    if (value.is_undefined()) return Value::generator({});
    if (value.dict() == nullptr) throw TemplateError("items needs a dict");
    List pairs;
    for (const auto& [key, item] : *value.dict())
      pairs.push_back(Value::tuple({Value::text(key), item}));
    return Value::generator(std::move(pairs));
  }
  if (name == "indent") return indent(value, arguments);
  if (name == "min") return extreme(value, false);
  if (name == "max") return extreme(value, true);
  if (name == "sum") return sum(value, arguments);
  throw TemplateError("the filter '" + std::string(name) + "'", true);
}

}  // namespace qfs::prompting::jinja

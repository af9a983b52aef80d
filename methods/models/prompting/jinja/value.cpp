#include "methods/models/prompting/jinja/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "harness/core/json_dom.h"
#include "methods/models/tokenizers/pipeline/code_points.h"

namespace qfs::prompting::jinja {

namespace {

std::string float_repr(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  char buffer[64];
  const double size = std::fabs(number);
  const bool fixed = size == 0 || (size >= 1e-4 && size < 1e16);
  const auto result =
      std::to_chars(buffer, buffer + sizeof(buffer), number,
                    fixed ? std::chars_format::fixed : std::chars_format::scientific);
  std::string text(buffer, result.ptr);
  if (fixed && text.find('.') == text.npos) text += ".0";
  return text;
}

std::string quoted_repr(const std::string& text) {
  const bool has_single = text.find('\'') != text.npos;
  const char quote = has_single && text.find('"') == text.npos ? '"' : '\'';
  std::string result(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') {
      result.append({'\\', c});
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\r') {
      result += "\\r";
    } else if (c == '\t') {
      result += "\\t";
    } else {
      result += c;
    }
  }
  return result + quote;
}

/// Writes JSON as Python's json.dumps does.
class JsonWriter {
 public:
  JsonWriter(int64_t indent, bool sort_keys) : indent_(indent), sort_keys_(sort_keys) {}

  void write(const Value& value, int64_t depth) {
    spend(1);
    if (out.size() > kLongestText) throw TemplateError("a text grows beyond 16 MiB");
    if (const Text* text = value.text()) {
      plain = plain || text->any_plain();
      return append_json_string(out, text->bytes());
    }
    if (const auto* flag = value.get<bool>()) {
      out += *flag ? "true" : "false";
    } else if (value.is_none()) {
      out += "null";
    } else if (value.get<int64_t>() != nullptr || value.get<double>() != nullptr) {
      out += to_text(value).bytes();
    } else if (const List* list = value.list()) {
      write_items('[', ']', list->size(), depth, [&](size_t i) { write((*list)[i], depth + 1); });
    } else if (const Dict* dict = value.dict()) {
      Dict sorted = *dict;
      if (sort_keys_) {
        std::sort(sorted.begin(), sorted.end(),
                  [](const auto& a, const auto& b) { return a.first < b.first; });
      }
      write_items('{', '}', sorted.size(), depth, [&](size_t i) {
        append_json_string(out, sorted[i].first);
        out += ": ";
        write(sorted[i].second, depth + 1);
      });
    } else {
      throw TemplateError("a value of type " + std::string(value.type_name()) + " is no JSON");
    }
  }

  std::string out;
  bool plain = false;

 private:
  template <class Item>
  void write_items(char open, char close, size_t count, int64_t depth, Item item) {
    out += open;
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) out += indent_ < 0 ? ", " : ",";
      line(depth + 1);
      item(i);
    }
    if (count > 0) line(depth);
    out += close;
  }
  void line(int64_t depth) {
    if (indent_ < 0) return;
    out += '\n';
    out.append(static_cast<size_t>(indent_ * depth), ' ');
  }

  int64_t indent_;
  bool sort_keys_;
};

/// A number as double; std::nullopt for other types.
std::optional<double> number_of(const Value& value) {
  if (const auto* flag = value.get<bool>()) return *flag ? 1 : 0;
  if (const auto* integer = value.get<int64_t>()) return static_cast<double>(*integer);
  if (const auto* real = value.get<double>()) return *real;
  return std::nullopt;
}

thread_local int64_t work_left = 0;

int deeper_than(int depth) {
  constexpr int kDeepest = 200;
  if (depth >= kDeepest) throw TemplateError("a value is nested deeper than 200 levels");
  return depth + 1;
}

}  // namespace

void set_work_limit(int64_t steps) { work_left = steps; }

void spend(int64_t steps) {
  if (steps > work_left) throw TemplateError("the template takes too many steps");
  work_left -= steps;
}

const Value* Arguments::find(size_t index, std::string_view name) const {
  if (index < positional.size()) return &positional[index];
  for (const auto& [key, value] : named) {
    if (key == name) return &value;
  }
  return nullptr;
}

Value Value::list(List items) {
  int depth = 0;
  for (const Value& item : items) depth = std::max(depth, item.depth_);
  Value value = Value(Data(std::make_shared<const List>(std::move(items))));
  value.depth_ = deeper_than(depth);
  return value;
}

Value Value::dict(Dict items) {
  int depth = 0;
  for (const auto& [key, item] : items) depth = std::max(depth, item.depth_);
  Value value = Value(Data(std::make_shared<Dict>(std::move(items))));
  value.depth_ = deeper_than(depth);
  return value;
}

Value Value::function(Function function, const Value* held) {
  Value value = Value(Data(std::make_shared<const Function>(std::move(function))));
  if (held != nullptr) value.depth_ = deeper_than(held->depth_);
  return value;
}

bool holds_reference(const Value& value) {
  spend(1);
  if (value.is_namespace() || value.is_function()) return true;
  if (const List* list = value.list()) {
    return std::any_of(list->begin(), list->end(), holds_reference);
  }
  const Dict* dict = value.dict();
  return dict != nullptr && std::any_of(dict->begin(), dict->end(), [](const auto& member) {
           return holds_reference(member.second);
         });
}

bool Value::truth() const {
  if (const auto* flag = get<bool>()) return *flag;
  if (const auto* integer = get<int64_t>()) return *integer != 0;
  if (const auto* real = get<double>()) return *real != 0;
  if (const Text* string = text()) return string->size() > 0;
  if (const List* items = list()) return generator_ || !items->empty();
  if (const Dict* members = dict()) return is_namespace() || !members->empty();
  return get<std::shared_ptr<const Function>>() != nullptr;
}

std::string_view Value::type_name() const {
  constexpr std::string_view kNames[] = {"Undefined", "NoneType", "bool", "int",     "float",
                                         "str",       "list",     "dict", "function"};
  if (tuple_) return "tuple";
  return namespace_ ? "Namespace" : kNames[data_.index()];
}

int64_t Value::as_integer(std::string_view what) const {
  if (const auto* integer = get<int64_t>()) return *integer;
  if (const auto* flag = get<bool>()) return *flag ? 1 : 0;
  throw TemplateError(std::string(what) + " is no integer but " + std::string(type_name()));
}

const Value* find(const Dict& dict, std::string_view key) {
  for (const auto& [name, value] : dict) {
    if (name == key) return &value;
  }
  return nullptr;
}

Text to_text(const Value& value) {
  if (const Text* text = value.text()) return *text;
  if (value.is_undefined()) return {};
  if (value.is_none()) return Text("None");
  if (const auto* flag = value.get<bool>()) return Text(*flag ? "True" : "False");
  if (const auto* integer = value.get<int64_t>()) return Text(std::to_string(*integer));
  if (const auto* real = value.get<double>()) return Text(float_repr(*real));
  if (value.is_generator()) throw TemplateError("a generator is printed; use '| list' or '| join'");
  if (value.list() != nullptr || value.dict() != nullptr) return Text::plain(repr(value));
  throw TemplateError("a function cannot be printed");
}

std::string repr(const Value& value) {
  spend(1);
  if (const Text* text = value.text()) return quoted_repr(text->bytes());
  if (value.is_undefined()) return "Undefined";
  std::string result;
  if (const List* list = value.list()) {
    for (const Value& item : *list) {
      result.append(result.empty() ? "" : ", ").append(repr(item));
      if (result.size() > kLongestText) throw TemplateError("a text grows beyond 16 MiB");
    }
    if (value.is_tuple()) return "(" + result + (list->size() == 1 ? ",)" : ")");
    return "[" + result + "]";
  }
  if (const Dict* dict = value.dict()) {
    for (const auto& [key, item] : *dict) {
      result.append(result.empty() ? "" : ", ").append(quoted_repr(key)).append(": ");
      result.append(repr(item));
    }
    return "{" + result + "}";
  }
  return to_text(value).bytes();
}

Text to_json(const Value& value, int64_t indent, bool sort_keys) {
  JsonWriter writer(indent, sort_keys);
  writer.write(value, 0);
  return writer.plain ? Text::plain(std::move(writer.out)) : Text(std::move(writer.out));
}

bool equal(const Value& a, const Value& b) {
  spend(1);
  const auto left = number_of(a);
  const auto right = number_of(b);
  if (left && right) return *left == *right;
  if (a.data().index() != b.data().index()) return false;
  if (const Text* text = a.text()) return text->bytes() == b.text()->bytes();
  if (const List* list = a.list()) {
    return a.is_tuple() == b.is_tuple() &&
           std::equal(list->begin(), list->end(), b.list()->begin(), b.list()->end(), equal);
  }
  if (const Dict* dict = a.dict()) {
    if (dict->size() != b.dict()->size()) return false;
    return std::all_of(dict->begin(), dict->end(), [&](const auto& item) {
      const Value* other = find(*b.dict(), item.first);
      return other != nullptr && equal(item.second, *other);
    });
  }
  return a.is_none() || a.is_undefined();
}

int compare(const Value& a, const Value& b) {
  const auto left = number_of(a);
  const auto right = number_of(b);
  if (left && right) return *left < *right ? -1 : *left > *right ? 1 : 0;
  if (a.text() != nullptr && b.text() != nullptr) {
    // Bytes of UTF-8 order as code points do.
    const int order = a.text()->bytes().compare(b.text()->bytes());
    return order < 0 ? -1 : order > 0 ? 1 : 0;
  }
  throw TemplateError("'<' is not supported between " + std::string(a.type_name()) + " and " +
                      std::string(b.type_name()));
}

bool contains(const Value& container, const Value& item) {
  if (const Text* text = container.text()) {
    if (item.text() == nullptr) throw TemplateError("'in' looks for a text in a text");
    return text->bytes().find(item.text()->bytes()) != std::string::npos;
  }
  if (const Dict* dict = container.dict()) {
    return item.text() != nullptr && find(*dict, item.text()->bytes()) != nullptr;
  }
  const List items = items_of(container);
  return std::any_of(items.begin(), items.end(),
                     [&](const Value& other) { return equal(other, item); });
}

List items_of(const Value& value) {
  if (const List* list = value.list()) {
    spend(static_cast<int64_t>(list->size() / 16));
    return *list;
  }
  List items;
  if (const Dict* dict = value.dict()) {
    for (const auto& [key, item] : *dict) items.push_back(Value::text(key));
    return items;
  }
  if (const Text* text = value.text()) {
    const std::string& bytes = text->bytes();
    spend(static_cast<int64_t>(bytes.size() / 16));
    for (size_t position = 0; position < bytes.size();) {
      const size_t begin = position;
      tokenizers::next_code_point(bytes, position);
      items.emplace_back(Value::Data(text->part(begin, position)));
    }
    return items;
  }
  if (value.is_undefined()) return items;
  throw TemplateError("a value of type " + std::string(value.type_name()) + " has no items");
}

}  // namespace qfs::prompting::jinja

#include <algorithm>

#include "methods/models/prompting/jinja/letter_case.h"
#include "methods/models/prompting/jinja/library.h"
#include "methods/models/tokenizers/pipeline/code_points.h"

namespace qfs::prompting::jinja {

namespace {

const Text& text_argument(const Arguments& arguments, size_t index, std::string_view name,
                          std::string_view method) {
  const Value* value = arguments.find(index, name);
  if (value == nullptr || value->text() == nullptr) {
    throw TemplateError(std::string(method) + "() needs a text");
  }
  return *value->text();
}

/// The parts of text.split(separator, limit).
List split(const Text& text, const Arguments& arguments) {
  const Value* separator = arguments.find(0, "sep");
  const Value* limit = arguments.find(1, "maxsplit");
  int64_t left = limit == nullptr ? -1 : limit->as_integer("maxsplit");
  const std::string& bytes = text.bytes();
  spend(static_cast<int64_t>(bytes.size() / 16));
  List parts;
  if (separator == nullptr || separator->is_none()) {
    size_t begin = std::string::npos;
    for (size_t position = 0; position < bytes.size();) {
      const size_t at = position;
      const bool space = is_python_space(tokenizers::next_code_point(bytes, position));
      if (!space && begin == std::string::npos) {
        begin = at;
        if (left == 0) {
          parts.push_back(Value::text(text.part(begin, bytes.size())));
          return parts;
        }
      }
      if (space && begin != std::string::npos) {
        parts.push_back(Value::text(text.part(begin, at)));
        begin = std::string::npos;
        --left;
      }
    }
    if (begin != std::string::npos) parts.push_back(Value::text(text.part(begin, bytes.size())));
    return parts;
  }
  if (separator->text() == nullptr || separator->text()->size() == 0) {
    throw TemplateError("split() needs a separator that is not empty");
  }
  const std::string& mark = separator->text()->bytes();
  size_t begin = 0;
  for (size_t at = bytes.find(mark); at != bytes.npos && left != 0; at = bytes.find(mark, begin)) {
    parts.push_back(Value::text(text.part(begin, at)));
    begin = at + mark.size();
    --left;
  }
  parts.push_back(Value::text(text.part(begin, bytes.size())));
  return parts;
}

bool begins_or_ends(const Text& text, const Arguments& arguments, bool begins) {
  const Value* wanted = arguments.find(0, "prefix");
  if (wanted == nullptr) throw TemplateError("startswith() and endswith() need a text");
  const List choices = wanted->text() != nullptr ? List{*wanted} : items_of(*wanted);
  return std::any_of(choices.begin(), choices.end(), [&](const Value& choice) {
    if (choice.text() == nullptr) throw TemplateError("startswith() and endswith() need a text");
    const std::string& part = choice.text()->bytes();
    return begins ? text.bytes().starts_with(part) : text.bytes().ends_with(part);
  });
}

using TextMethod = Value (*)(const Text&, const Arguments&);

Value strip_method(const Text& text, const Arguments& arguments, bool left, bool right) {
  const Value* characters = arguments.find(0, "chars");
  const bool given = characters != nullptr && !characters->is_none();
  return Value::text(strip_text(
      text, given ? text_argument(arguments, 0, "chars", "strip").bytes() : "", left, right));
}

TextMethod text_method(std::string_view name) {
  struct Entry {
    std::string_view name;
    TextMethod method;
  };
  static constexpr Entry kMethods[] = {
      {"strip", [](const Text& t, const Arguments& a) { return strip_method(t, a, true, true); }},
      {"lstrip", [](const Text& t, const Arguments& a) { return strip_method(t, a, true, false); }},
      {"rstrip", [](const Text& t, const Arguments& a) { return strip_method(t, a, false, true); }},
      {"split", [](const Text& t, const Arguments& a) { return Value::list(split(t, a)); }},
      {"startswith", [](const Text& t,
                        const Arguments& a) { return Value::boolean(begins_or_ends(t, a, true)); }},
      {"endswith", [](const Text& t,
                      const Arguments& a) { return Value::boolean(begins_or_ends(t, a, false)); }},
      {"replace",
       [](const Text& t, const Arguments& a) {
         return apply_filter("replace", Value(Value::Data(t)), a);
       }},
      {"upper",
       [](const Text& t, const Arguments&) {
         return Value::text(Text::derived(with_case(t.bytes(), LetterCase::upper), {&t}));
       }},
      {"lower",
       [](const Text& t, const Arguments&) {
         return Value::text(Text::derived(with_case(t.bytes(), LetterCase::lower), {&t}));
       }},
      {"capitalize",
       [](const Text& t, const Arguments&) {
         return Value::text(Text::derived(with_case(t.bytes(), LetterCase::capitalized), {&t}));
       }},
      {"title",
       [](const Text& t, const Arguments&) {
         return Value::text(Text::derived(with_case(t.bytes(), LetterCase::title), {&t}));
       }},
      {"find",
       [](const Text& t, const Arguments& a) {
         const size_t at = t.bytes().find(text_argument(a, 0, "sub", "find").bytes());
         if (at == std::string::npos) return Value::integer(-1);
         return Value::integer(
             static_cast<int64_t>(items_of(Value(Value::Data(t.part(0, at)))).size()));
       }},
      {"join",
       [](const Text& t, const Arguments& a) {
         const Value* items = a.find(0, "iterable");
         if (items == nullptr) throw TemplateError("join() needs a list");
         return apply_filter("join", *items, {{Value(Value::Data(t))}, {}});
       }},
  };
  for (const Entry& entry : kMethods) {
    if (entry.name == name) return entry.method;
  }
  return nullptr;
}

/// The method, which refuses arguments that it would ignore.
Value checked(const Value& method, std::string_view name, size_t most) {
  const auto function = *method.get<std::shared_ptr<const Function>>();
  return Value::function(
      [function, name = std::string(name), most](const Arguments& arguments) {
        if (arguments.positional.size() > most) {
          throw TemplateError("so many arguments of " + name + "()", true);
        }
        for (const auto& [key, value] : arguments.named) {
          if (name != "split" || (key != "sep" && key != "maxsplit")) {
            throw TemplateError("the argument '" + key + "' of " + name + "()", true);
          }
        }
        return (*function)(arguments);
      },
      &method);
}

List pairs_of(const Dict& dict) {
  List pairs;
  for (const auto& [key, item] : dict) pairs.push_back(Value::tuple({Value::text(key), item}));
  return pairs;
}

std::optional<Value> dict_method(const Value& value, std::string_view name) {
  if (name == "items") {
    return Value::function(
        [value](const Arguments&) { return Value::list(pairs_of(*value.dict())); }, &value);
  }
  if (name == "keys") {
    return Value::function([value](const Arguments&) { return Value::list(items_of(value)); },
                           &value);
  }
  if (name == "values") {
    return Value::function(
        [value](const Arguments&) {
          List values;
          for (const auto& [key, item] : *value.dict()) values.push_back(item);
          return Value::list(std::move(values));
        },
        &value);
  }
  if (name == "get") {
    return Value::function(
        [value](const Arguments& arguments) {
          const Text& key = text_argument(arguments, 0, "key", "get");
          if (const Value* member = find(*value.dict(), key.bytes())) return *member;
          const Value* fallback = arguments.find(1, "default");
          return fallback == nullptr ? Value(None{}) : *fallback;
        },
        &value);
  }
  for (const std::string_view other : {"copy", "pop", "popitem", "update", "setdefault", "clear"}) {
    if (name == other)
      throw TemplateError("the method '" + std::string(name) + "' of a dict", true);
  }
  return std::nullopt;
}

}  // namespace

Text strip_text(const Text& text, std::string_view characters, bool left, bool right) {
  const std::string& bytes = text.bytes();
  const auto goes = [&](std::string_view character) {
    size_t position = 0;
    const char32_t c = tokenizers::next_code_point(character, position);
    return characters.empty() ? is_python_space(c) : characters.find(character) != characters.npos;
  };
  size_t begin = 0;
  while (left && begin < bytes.size()) {
    size_t after = begin;
    tokenizers::next_code_point(bytes, after);
    if (!goes(std::string_view(bytes).substr(begin, after - begin))) break;
    begin = after;
  }
  size_t end = bytes.size();
  while (right && end > begin) {
    size_t before = end - 1;
    while (before > begin && (static_cast<unsigned char>(bytes[before]) & 0xC0) == 0x80) --before;
    if (!goes(std::string_view(bytes).substr(before, end - before))) break;
    end = before;
  }
  return text.part(begin, end);
}

std::optional<Value> find_method(const Value& value, std::string_view name) {
  if (value.dict() != nullptr) {
    std::optional<Value> method = dict_method(value, name);
    return method ? std::optional(checked(*method, name, name == "get" ? 2 : 0)) : std::nullopt;
  }
  if (value.text() != nullptr) {
    if (const TextMethod method = text_method(name)) {
      const bool none =
          name == "upper" || name == "lower" || name == "capitalize" || name == "title";
      const size_t most = none ? 0 : name == "replace" ? 3 : name == "split" ? 2 : 1;
      return checked(Value::function([value, method](const Arguments& arguments) {
                       return method(*value.text(), arguments);
                     }),
                     name, most);
    }
    throw TemplateError("the method '" + std::string(name) + "' of a text", true);
  }
  if (value.list() != nullptr) {
    throw TemplateError("the method '" + std::string(name) + "' of a list", true);
  }
  return std::nullopt;
}

}  // namespace qfs::prompting::jinja

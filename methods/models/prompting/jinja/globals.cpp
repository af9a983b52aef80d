#include "methods/models/prompting/jinja/globals.h"

#include <ctime>
#include <nlohmann/json.hpp>

namespace qfs::prompting::jinja {

namespace {

Value range(const Arguments& arguments) {
  if (arguments.positional.empty() || arguments.positional.size() > 3) {
    throw TemplateError("range() takes one to three integers");
  }
  const auto number = [&](size_t i) {
    return arguments.positional[i].as_integer("an argument of range()");
  };
  const bool one = arguments.positional.size() == 1;
  const int64_t begin = one ? 0 : number(0);
  const int64_t end = number(one ? 0 : 1);
  const int64_t step = arguments.positional.size() == 3 ? number(2) : 1;
  if (step == 0) throw TemplateError("range() with a step of zero");
  List numbers;
  for (int64_t i = begin; step > 0 ? i < end : i > end;) {
    spend(1);
    numbers.push_back(Value::integer(i));
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  return Value::list(std::move(numbers));
}

Value make_dict(const Arguments& arguments, bool name_space) {
  Dict members;
  for (const Value& base : arguments.positional) {
    if (base.dict() == nullptr) throw TemplateError("dict() of something else than a dict", true);
    members.insert(members.end(), base.dict()->begin(), base.dict()->end());
  }
  for (const auto& [name, value] : arguments.named) members.emplace_back(name, value);
  for (const auto& [name, value] : members) {
    if (name_space && holds_reference(value)) {
      throw TemplateError("a namespace or function inside a namespace", true);
    }
  }
  return name_space ? Value::name_space(std::move(members)) : Value::dict(std::move(members));
}

Value refuse(const Arguments& arguments) {
  TemplateError error(arguments.positional.empty() ? "" : to_text(arguments.positional[0]).bytes());
  error.refused = true;
  throw error;
}

Value format_date(const std::optional<std::string>& date, const Arguments& arguments) {
  if (!date) {
    throw TemplateError(
        "today's date, which would make a prompt depend on the clock (give one as 'chat_date')",
        true);
  }
  std::tm time{};
  if (::strptime(date->c_str(), "%Y-%m-%d", &time) == nullptr) {
    throw TemplateError("the date '" + *date + "' is not of the form 2026-11-21");
  }
  const std::string format =
      arguments.positional.empty() ? "" : to_text(arguments.positional[0]).bytes();
  if (format.empty()) return Value::text("");
  if (format.size() > 200) throw TemplateError("the format of a date is too long");
  char buffer[4096];
  return Value::text(
      std::string(buffer, std::strftime(buffer, sizeof(buffer), format.c_str(), &time)));
}

}  // namespace

Dict template_functions(const std::optional<std::string>& date) {
  return {{"range", Value::function(range)},
          {"namespace", Value::function([](const Arguments& a) { return make_dict(a, true); })},
          {"dict", Value::function([](const Arguments& a) { return make_dict(a, false); })},
          {"raise_exception", Value::function(refuse)},
          {"strftime_now",
           Value::function([date](const Arguments& a) { return format_date(date, a); })}};
}

Value value_of(const nlohmann::ordered_json& json) {
  if (json.is_null()) return Value(None{});
  if (json.is_boolean()) return Value::boolean(json.get<bool>());
  if (json.is_number_unsigned() && json.get<uint64_t>() > uint64_t{INT64_MAX}) {
    return Value(json.get<double>());
  }
  if (json.is_number_integer()) return Value::integer(json.get<int64_t>());
  if (json.is_number()) return Value(json.get<double>());
  if (json.is_string()) return Value(Value::Data(Text::plain(json.get<std::string>())));
  if (json.is_array()) {
    List items;
    for (const nlohmann::ordered_json& item : json) items.push_back(value_of(item));
    return Value::list(std::move(items));
  }
  Dict members;
  for (const auto& [key, item] : json.items()) members.emplace_back(key, value_of(item));
  return Value::dict(std::move(members));
}

}  // namespace qfs::prompting::jinja

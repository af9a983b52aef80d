#include "harness/plan/param_values.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/api/experiment.h"
#include "harness/core/json_dom.h"
#include "harness/core/suggest.h"
#include "harness/core/whole_number.h"

namespace qfs::plan {

using nlohmann::json;

namespace {

constexpr size_t kShownText = 60;

std::string article(ParamType type) {
  return (type == ParamType::integer ? "an " : "a ") + std::string(to_string(type));
}

/// A value in a message: texts quoted and shortened at a whole character.
std::string shown(const ParamValue& value) {
  std::string text = value_text(value);
  if (!std::holds_alternative<std::string>(value)) return text;
  if (text.size() > kShownText) {
    size_t end = kShownText;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text = text.substr(0, end) + "…";
  }
  return "'" + text + "'";
}

std::string unknown_parameter(const std::vector<ParamSpec>& specs, const std::string& name,
                              const std::string& method) {
  // A mistyped key of the entry arrives here as a parameter.
  std::vector<std::string> candidates(std::begin(kEntryKeys), std::end(kEntryKeys));
  for (const ParamSpec& spec : specs) candidates.push_back(spec.name);
  std::sort(candidates.begin(), candidates.end());
  return "method '" + method + "' has no parameter '" + name + "'" + suggestion(name, candidates);
}

std::string range_text(const ParamSpec& spec) {
  const std::string unit = spec.unit.empty() ? "" : " " + spec.unit;
  if (spec.minimum && spec.maximum) {
    return "from " + shortest_decimal(*spec.minimum) + " to " + shortest_decimal(*spec.maximum) +
           unit;
  }
  if (spec.minimum) return "at least " + shortest_decimal(*spec.minimum) + unit;
  return "at most " + shortest_decimal(*spec.maximum) + unit;
}

Status check_value(const ParamSpec& spec, const ParamValue& value, const std::string& where) {
  if (spec.type == ParamType::integer || spec.type == ParamType::real) {
    const double number = spec.type == ParamType::real
                              ? std::get<double>(value)
                              : static_cast<double>(std::get<int64_t>(value));
    if ((spec.minimum && number < *spec.minimum) || (spec.maximum && number > *spec.maximum)) {
      return invalid_argument(
          "'" + spec.name + "' is " + shown(value) + ", but must be " + range_text(spec), where);
    }
  }
  if (spec.type == ParamType::text && !spec.choices.empty()) {
    const std::string& text = std::get<std::string>(value);
    if (std::find(spec.choices.begin(), spec.choices.end(), text) == spec.choices.end()) {
      return invalid_argument(
          "'" + spec.name + "' cannot be " + shown(value) + suggestion(text, spec.choices), where);
    }
  }
  return {};
}

}  // namespace

std::string quoted_list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

std::optional<ParamValue> typed_value(ParamType type, const ParamValue& value) {
  if (value.index() == static_cast<size_t>(type)) return value;
  if (type == ParamType::real && std::holds_alternative<int64_t>(value)) {
    return static_cast<double>(std::get<int64_t>(value));
  }
  return std::nullopt;
}

std::optional<ParamValue> recorded_value(ParamType type, const ParamValue& value) {
  const std::string* const text = std::get_if<std::string>(&value);
  if (type != ParamType::real || text == nullptr) return typed_value(type, value);
  if (const auto number = whole_number<double>(*text)) return *number;
  return std::nullopt;
}

std::string value_text(const ParamValue& value) {
  struct Writer {
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(int64_t i) const { return std::to_string(i); }
    std::string operator()(double d) const { return shortest_decimal(d); }
    std::string operator()(const std::string& s) const { return s; }
  };
  return std::visit(Writer{}, value);
}

bool same_value(const ParamValue& a, const ParamValue& b) {
  const auto real = [](const ParamValue& value) -> std::optional<double> {
    if (std::holds_alternative<double>(value)) return std::get<double>(value);
    if (std::holds_alternative<int64_t>(value)) {
      return static_cast<double>(std::get<int64_t>(value));
    }
    return std::nullopt;
  };
  if (a.index() == b.index()) return a == b;
  return real(a) && real(b) && *real(a) == *real(b);
}

const ParamSpec* find_param(const std::vector<ParamSpec>& specs, std::string_view name) {
  const auto it = std::find_if(specs.begin(), specs.end(),
                               [&](const ParamSpec& spec) { return spec.name == name; });
  return it == specs.end() ? nullptr : &*it;
}

json params_json(const MethodSpec& spec, const Params& params, bool numerics, Stage stage) {
  const std::vector<ParamSpec> specs = spec.params();
  json object = json::object();
  for (const auto& [name, value] : params.values()) {
    const ParamSpec* declared = find_param(specs, name);
    if (declared == nullptr || declared->transport || declared->path ||
        declared->numerics != numerics) {
      continue;
    }
    if (declared->stage != stage && declared->stage != Stage::both) continue;
    object[name] = std::visit([](const auto& v) { return json(v); }, value);
  }
  return object;
}

Result<Params> resolve_params(const std::vector<ParamSpec>& specs,
                              const std::vector<NamedValue>& given, const ResolutionPlace& place) {
  Params params;
  for (const NamedValue& value : given) {
    const std::string where = place.file + "#" + value.pointer;
    const ParamSpec* spec = find_param(specs, value.name);
    if (spec == nullptr) {
      return invalid_argument(unknown_parameter(specs, value.name, place.method), where);
    }
    const std::optional<ParamValue> converted = typed_value(spec->type, value.value);
    if (!converted) {
      const auto found = static_cast<ParamType>(value.value.index());
      return invalid_argument("'" + value.name + "' of method '" + place.method + "' is " +
                                  article(spec->type) + ", found the " +
                                  std::string(to_string(found)) + " " + shown(value.value),
                              where);
    }
    if (Status status = check_value(*spec, *converted, where); !status.ok()) return status.error();
    params.set(value.name, *converted);
  }
  for (const ParamSpec& spec : specs) {
    if (params.has(spec.name)) continue;
    if (spec.required) {
      return invalid_argument("method '" + place.method + "' needs the parameter '" + spec.name +
                                  "' (" + spec.doc + ")",
                              place.file + "#" + place.pointer);
    }
    if (!spec.default_value) continue;
    const std::optional<ParamValue> value = typed_value(spec.type, *spec.default_value);
    if (!value) {
      return internal_error("the default of '" + spec.name + "' of method '" + place.method +
                            "' is not " + article(spec.type));
    }
    params.set(spec.name, *value);
  }
  return params;
}

}  // namespace qfs::plan

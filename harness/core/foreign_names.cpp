#include "harness/core/foreign_names.h"

#include <algorithm>
#include <iterator>

namespace qfs {

Result<std::string> ForeignNames::own_name(std::span<const ParamSpec> specs,
                                           const std::string& name) const {
  std::vector<std::string> known;
  for (const ParamSpec& spec : specs) known.push_back(spec.name);
  return own_name(known, name);
}

Result<std::string> ForeignNames::own_name(std::span<const std::string> known,
                                           const std::string& name) const {
  const auto declared = [&](std::string_view wanted) {
    return std::ranges::find(known, wanted) != known.end();
  };
  if (declared(name)) return name;
  const auto foreign = std::ranges::find(names, name, &ForeignName::name);
  if (foreign == names.end() || !declared(foreign->own)) return name;
  if (foreign->refusal.empty()) return std::string(foreign->own);
  return invalid_argument("there is no parameter '" + name + "': " + std::string(foreign->refusal));
}

ParamValue ForeignNames::own_value(std::string_view own, const ParamValue& value) const {
  std::string word;
  if (const bool* flag = std::get_if<bool>(&value)) word = *flag ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&value)) word = *text;
  for (const ForeignValue& foreign : values) {
    if (foreign.own == own && foreign.written == word) return std::string(foreign.word);
  }
  return value;
}

std::vector<std::string> ForeignNames::names_of(std::string_view own) const {
  std::vector<std::string> found;
  for (const ForeignName& foreign : names) {
    if (foreign.own == own && foreign.refusal.empty()) found.emplace_back(foreign.name);
  }
  return found;
}

std::vector<ForeignValue> ForeignNames::values_of(std::string_view own) const {
  std::vector<ForeignValue> found;
  std::ranges::copy_if(values, std::back_inserter(found),
                       [&](const ForeignValue& value) { return value.own == own; });
  return found;
}

}  // namespace qfs

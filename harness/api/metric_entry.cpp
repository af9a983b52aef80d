#include "harness/api/metric_entry.h"

#include <cassert>
#include <charconv>
#include <utility>

namespace qfs {

MetricOption choice_option(std::string name, std::vector<std::string> choices, std::string doc) {
  MetricOption option;
  option.name = std::move(name);
  option.default_value = choices.front();
  option.choices = std::move(choices);
  option.doc = std::move(doc);
  return option;
}

MetricOption flag_option(std::string name, bool default_value, std::string doc) {
  MetricOption option;
  option.name = std::move(name);
  option.choices = {"on", "off"};
  option.default_value = default_value ? "on" : "off";
  option.doc = std::move(doc);
  return option;
}

const std::string& MetricOptionValues::text(std::string_view name) const {
  const auto found = values_.find(name);
  assert(found != values_.end() && "the option is not declared");
  return found->second;
}

int64_t MetricOptionValues::integer(std::string_view name) const {
  const std::string& value = text(name);
  int64_t number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

double MetricOptionValues::real(std::string_view name) const {
  const std::string& value = text(name);
  double number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

}  // namespace qfs

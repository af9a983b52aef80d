#include "metrics/set_rouge/empty_text.h"

namespace qfs::metrics {

MetricOption empty_text_option(EmptyText default_rule) {
  MetricOption option;
  option.name = "empty";
  option.choices = {"error", "zero"};
  option.default_value = to_string(default_rule);
  option.doc = "an empty text, for which the package raises: an error, or the score 0";
  return option;
}

EmptyText empty_text_rule(const MetricOptionValues& values) {
  return values.text("empty") == "zero" ? EmptyText::zero : EmptyText::error;
}

std::string_view to_string(EmptyText rule) { return rule == EmptyText::zero ? "zero" : "error"; }

Error empty_text_error(std::string_view role, std::string_view package) {
  return data_error("the " + std::string(role) + " is empty, for which " + std::string(package) +
                    " raises an exception; empty=zero scores it 0");
}

}  // namespace qfs::metrics

#include "harness/claims/printed.h"

#include <charconv>
#include <cmath>

namespace qfs::claims {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

Error no_number(std::string_view text) {
  return invalid_argument(
      "expected a number as printed, such as 22.17, 31,664, 17M or <1K; found '" +
      std::string(text) + "'");
}

/// Takes "K" or "M" off the end.
double factor_of(std::string& digits) {
  if (digits.ends_with('K')) return digits.pop_back(), 1e3;
  if (digits.ends_with('M')) return digits.pop_back(), 1e6;
  return 1;
}

/// The unit of the last digit: 0.01 of "22.17", 1e-6 of "5e-06".
double last_unit(std::string_view digits) {
  const size_t exponent = digits.find_first_of("eE");
  const std::string_view mantissa = digits.substr(0, exponent);
  const size_t point = mantissa.find('.');
  const auto decimals =
      point == std::string_view::npos ? 0 : static_cast<int>(mantissa.size() - point - 1);
  int power = 0;
  if (exponent != std::string_view::npos) {
    const char* begin = digits.data() + exponent + 1;
    if (*begin == '+') ++begin;
    std::from_chars(begin, digits.data() + digits.size(), power);
  }
  return std::pow(10.0, power - decimals);
}

}  // namespace

Result<Printed> parse_printed(std::string_view text) {
  Printed printed;
  printed.text = std::string(text);
  if (!text.empty() && is_letter(text.front())) {
    for (const char c : text) {
      if (!is_letter(c)) return no_number(text);
    }
    printed.number = false;
    return printed;
  }
  std::string digits;
  for (const char c : text) {
    if (c != ',') digits += c;
  }
  if (digits.starts_with('<')) {
    printed.bound = true;
    digits.erase(0, 1);
  }
  const double factor = factor_of(digits);
  const char* const begin = digits.data();
  const char* const end = begin + digits.size();
  const auto [stop, error] = std::from_chars(begin, end, printed.value);
  const bool begins = !digits.empty() && (is_digit(digits[0]) || digits[0] == '-');
  if (error != std::errc{} || stop != end || !begins || !std::isfinite(printed.value)) {
    return no_number(text);
  }
  printed.value *= factor;
  printed.half_unit = last_unit(digits) * factor / 2;
  return printed;
}

}  // namespace qfs::claims

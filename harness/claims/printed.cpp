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

/// One to three digits, then groups of three: "1,234,567.8".
bool groups_thousands(std::string_view text) {
  const size_t first = text.find(',');
  if (first == std::string_view::npos) return true;
  const size_t begin = text.find_first_of("0123456789,");
  if (first == begin || first - begin > 3) return false;
  size_t digits = 0;
  for (const char c : text.substr(first + 1)) {
    if (c == ',' && digits != 3) return false;
    if (!is_digit(c) && c != ',') break;
    digits = c == ',' ? 0 : digits + 1;
  }
  return digits == 3 && text.find(',', text.find('.')) == std::string_view::npos;
}

}  // namespace

Result<Printed> parse_printed(std::string_view text, Commas commas) {
  Printed printed;
  printed.text = std::string(text);
  if (!text.empty() && is_letter(text.front())) {
    for (const char c : text) {
      if (!is_letter(c)) return no_number(text);
    }
    printed.number = false;
    return printed;
  }
  if (commas == Commas::between_thousands && !groups_thousands(text)) {
    return invalid_argument("',' stands between thousands (31,664), '.' before decimals; found '" +
                            std::string(text) + "'");
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

#include "harness/score/option_values.h"

#include <algorithm>
#include <set>

#include "harness/core/comma_parts.h"
#include "harness/core/whole_number.h"

namespace qfs::score {
namespace {

bool is_word_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}

/// More words than these are no signature of this program; each is tried for each option.
constexpr size_t kMostWords = 200;

/// Words of all values of the metric's own fields, and the numbers in them.
std::set<std::string> words_in(const SignatureFields& signature) {
  std::set<std::string> words;
  for (const auto& [key, value] : signature.fields) {
    words.merge(words_of(value));
    if (words.size() > kMostWords) return {};
  }
  return words;
}

/// "100" of "100", "4" of "SU4", "1.2" of "W-1.2".
std::set<std::string> numbers_in(const SignatureFields& signature) {
  std::set<std::string> numbers;
  for (const std::string& word : words_in(signature)) {
    const size_t digit = word.find_first_of("0123456789");
    if (digit == std::string::npos) continue;
    const size_t end = word.find_first_not_of("0123456789.", digit);
    numbers.insert(word.substr(digit, end == std::string::npos ? end : end - digit));
  }
  return numbers;
}

bool is_placeholder_byte(char c) { return c >= 'A' && c <= 'Z'; }

/// "best:COLUMN": the form's own text before a placeholder in capitals.
std::string_view fixed_part(std::string_view form) {
  return form.substr(
      0, static_cast<size_t>(std::ranges::find_if(form, is_placeholder_byte) - form.begin()));
}

bool in_range(const MetricOption& option, const std::string& number) {
  const auto value = whole_number<int64_t>(number);
  return value && *value >= option.minimum && *value <= option.maximum;
}

}  // namespace

std::set<std::string> words_of(std::string_view text) {
  std::set<std::string> words;
  for (size_t begin = 0; begin < text.size(); ++begin) {
    size_t end = begin;
    while (end < text.size() && is_word_byte(text[end])) ++end;
    if (end > begin) words.emplace(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

std::vector<std::string> likely_values(const MetricOption& option,
                                       const SignatureFields& signature) {
  std::vector<std::string> values;
  const auto add = [&](std::string value) {
    if (value != option.default_value) values.push_back(std::move(value));
  };
  switch (option.type) {
    case MetricOption::Type::choice:
      for (const std::string& choice : option.choices) add(choice);
      break;
    case MetricOption::Type::integer:
      // The least may stand for none, and leave no trace.
      if (option.minimum != INT64_MIN) add(std::to_string(option.minimum));
      for (const std::string& number : numbers_in(signature)) {
        if (in_range(option, number)) add(number);
      }
      break;
    case MetricOption::Type::real:
      for (const std::string& number : numbers_in(signature)) add(number);
      break;
    case MetricOption::Type::text:
      for (const std::string& form : option.choices) {
        const std::string fixed(fixed_part(form));
        if (form.find(' ') != std::string::npos) {  // "a number"
          for (const std::string& number : numbers_in(signature)) add(number);
        } else if (fixed == form) {
          add(form);
        } else if (form != "PATH") {
          for (const std::string& word : words_in(signature)) add(fixed + word);
          for (const std::string& number : numbers_in(signature)) add(fixed + number);
        }
      }
      break;
  }
  return values;
}

std::map<std::string, std::string> parsed_options(std::string_view text) {
  std::map<std::string, std::string> options;
  for (const std::string& part : comma_parts(text)) {
    const size_t equals = part.find('=');
    if (equals != std::string::npos) options[part.substr(0, equals)] = part.substr(equals + 1);
  }
  return options;
}

}  // namespace qfs::score

#include "metrics/punkt/punkt_decision.h"

#include <string>
#include <vector>

#include "harness/core/text/unicode.h"
#include "harness/core/text/unicode_forms.h"

namespace qfs::metrics {
namespace {

constexpr std::string_view kNumber = "##number##";

struct Token {
  std::string_view text;
  std::string type;
  bool period_final = false;
  bool sentence_break = false;
  bool abbreviation = false;
  bool ellipsis = false;
};

/// ^-?[.,]?\d[\d,.-]*\.?$ of a whole token.
bool is_numeric(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.starts_with('.') || text.starts_with(',')) text.remove_prefix(1);
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    const bool mark = text[at] == ',' || text[at] == '.' || text[at] == '-';
    if (!is_decimal_digit(point.value) && (at == 0 || !mark)) return false;
    at += point.bytes;
  }
  return !text.empty();
}

std::string lower(std::string_view text) {
  std::string result;
  append_lower_case(text, result);
  return result;
}

std::string_view without_period(std::string_view type) {
  if (type.size() > 1 && type.ends_with('.')) type.remove_suffix(1);
  return type;
}

std::string_view type_no_sentence_period(const Token& token) {
  return token.sentence_break ? without_period(token.type) : std::string_view(token.type);
}

/// One letter and a period.
bool is_initial(std::string_view text, PunktRules rules) {
  const CodePoint point = code_point_at(text, 0);
  return text.substr(point.bytes) == "." && punkt_letter(point.value, rules);
}

/// Python's `not line.strip()`.
bool is_blank(std::string_view line) {
  for (size_t at = 0; at < line.size();) {
    const CodePoint point = code_point_at(line, at);
    if (!is_python_space(point.value)) return false;
    at += point.bytes;
  }
  return true;
}

bool first_upper(const Token& token) { return is_upper(code_point_at(token.text, 0).value); }
bool first_lower(const Token& token) { return is_lower(code_point_at(token.text, 0).value); }

bool is_known_abbreviation(std::string_view word, const PunktModel& model) {
  const std::string type = lower(word);
  if (model.is_abbreviation(type)) return true;
  const size_t hyphen = type.rfind('-');
  return hyphen != std::string::npos &&
         model.is_abbreviation(std::string_view(type).substr(hyphen + 1));
}

/// First pass: by the token alone.
Token annotated(std::string_view text, const PunktModel& model) {
  Token token;
  token.text = text;
  token.type = lower(text);
  if (is_numeric(token.type)) token.type = kNumber;
  token.period_final = text.ends_with('.');
  if (text == "." || text == "?" || text == "!") {
    token.sentence_break = true;
  } else if (text.starts_with("..") && text.find_first_not_of('.') == std::string_view::npos) {
    token.ellipsis = true;
  } else if (token.period_final && !text.ends_with("..")) {
    token.abbreviation = is_known_abbreviation(text.substr(0, text.size() - 1), model);
    token.sentence_break = !token.abbreviation;
  }
  return token;
}

enum class Starts { yes, no, unknown };

/// Section 4.1.1: whether the word's case says that it starts a sentence.
Starts orthography(const Token& token, const PunktModel& model) {
  if (token.text.size() == 1 &&
      std::string_view(";:,.!?").find(token.text[0]) != std::string_view::npos) {
    return Starts::no;
  }
  const int seen = model.contexts(type_no_sentence_period(token));
  if (first_upper(token) && (seen & kLower) != 0 && (seen & kMiddleUpper) == 0) return Starts::yes;
  if (first_lower(token) && ((seen & kUpper) != 0 || (seen & kBeginLower) == 0)) return Starts::no;
  return Starts::unknown;
}

/// Second pass: `token` once more, now that its follower is known.
void reconsider(Token& token, const Token& next, const PunktModel& model, PunktRules rules) {
  if (!token.period_final) return;
  const auto not_a_break = [&] {
    token.sentence_break = false;
    token.abbreviation = true;
  };
  const std::string_view type = without_period(token.type);
  const std::string_view next_type = type_no_sentence_period(next);
  if (model.is_collocation(type, next_type)) return not_a_break();  // section 4.1.2
  const bool initial = is_initial(token.text, rules);
  if ((token.abbreviation || token.ellipsis) && !initial) {  // sections 4.2, 4.1.3
    if (orthography(next, model) == Starts::yes ||
        (first_upper(next) && model.is_sentence_starter(next_type))) {
      token.sentence_break = true;
      return;
    }
  }
  if (!initial && type != kNumber) return;  // section 4.3
  const Starts starts = orthography(next, model);
  const bool always_upper = initial && starts == Starts::unknown && first_upper(next) &&
                            (model.contexts(next_type) & kLower) == 0;
  if (starts == Starts::no || always_upper) not_a_break();
}

}  // namespace

bool punkt_ends_sentence(std::string_view context, const PunktModel& model, PunktRules rules) {
  std::vector<std::string_view> words;
  for (size_t begin = 0; begin <= context.size();) {
    const size_t end = std::min(context.find('\n', begin), context.size());
    const std::string_view line = context.substr(begin, end - begin);
    if (!is_blank(line)) append_punkt_words(line, rules, words);
    begin = end + 1;
  }
  if (words.empty()) return false;
  Token token = annotated(words[0], model);
  for (size_t i = 1; i < words.size(); ++i) {
    Token next = annotated(words[i], model);
    reconsider(token, next, model, rules);
    if (token.sentence_break) return true;
    token = std::move(next);
  }
  return false;
}

}  // namespace qfs::metrics

#include <unicode/uregex.h>
#include <unicode/utext.h>

#include <memory>
#include <mutex>
#include <utility>

#include "harness/core/error_exception.h"
#include "methods/models/tokenizers/pipeline/pattern.h"

namespace qfs::tokenizers {

namespace {

// ICU counts steps of its matcher; the unit is about a millisecond of work for one match.
constexpr int32_t kTimeLimit = 1000;
constexpr int32_t kStackBytes = 8 << 20;
constexpr size_t kLongestExpression = 65536;

// Only "\n" ends a line, and "^" and "$" are those of lines, as in the Ruby syntax of Oniguruma.
constexpr uint32_t kLines = UREGEX_MULTILINE | UREGEX_UNIX_LINES;

// What Oniguruma's classes mean for UTF-8 text, found by asking it for every code point.
constexpr std::string_view kSpace = R"(\p{White_Space})";
constexpr std::string_view kWord =
    R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u00B2\u00B3\u00B9\u00BC\u00BD\u00BE)";
// In brackets it takes another table.
constexpr std::string_view kWordInBrackets = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";

/// A class in brackets, "[:punct:]", whose members ICU sees otherwise.
struct BracketClass {
  std::string_view name;
  std::string_view members;
};
constexpr BracketClass kBracketClasses[] = {
    {"punct", R"(\p{P}\p{S})"}, {"word", kWordInBrackets}, {"xdigit", "0-9A-Fa-f"}};

/// Where `rest` begins with such a class, appends its set and returns the class's length; else 0.
size_t take_bracket_class(std::string_view rest, std::string& out) {
  if (!rest.starts_with("[:")) return 0;
  const bool negated = rest.substr(2).starts_with('^');
  const size_t name = negated ? 3 : 2;
  for (const BracketClass& each : kBracketClasses) {
    const std::string_view tail = rest.substr(name);
    if (!tail.starts_with(each.name) || !tail.substr(each.name.size()).starts_with(":]")) continue;
    out.append(negated ? "[^" : "[").append(each.members).append("]");
    return name + each.name.size() + 2;
  }
  return 0;
}

/// Between a word character and another one, or not there; ICU's own passes over marks.
void append_boundary(bool wanted, std::string& out) {
  const std::string word = "[" + std::string(kWord) + "]";
  out.append("(?:(?<=" + word + ")" + (wanted ? "(?!" : "(?=") + word + ")|(?<!" + word + ")" +
             (wanted ? "(?=" : "(?!") + word + "))");
}

/// Whether `rest` begins a group that switches the option m, "(?im:": there it lets "." match line
/// ends, here it lets "^" and "$" match at them.
bool switches_m(std::string_view rest) {
  if (!rest.starts_with("(?")) return false;
  const std::string_view options = rest.substr(2, rest.find_first_not_of("imsx-", 2) - 2);
  return options.find('m') != options.npos;
}

/// Rewrites classes that ICU reads otherwise. `unavailable` for escapes that mean something else.
Result<std::string> translated(const std::string& expression) {
  const std::string_view source = expression;
  std::string result;
  int depth = 0;  // of bracket classes
  for (size_t i = 0; i < expression.size(); ++i) {
    const char c = expression[i];
    if (const size_t taken = depth > 0 ? take_bracket_class(source.substr(i), result) : 0;
        taken > 0) {
      i += taken - 1;
      continue;
    }
    if (depth == 0 && switches_m(source.substr(i))) {
      return unavailable("the expression switches the option m, which this program does not read");
    }
    if (c == '[') ++depth;
    if (c == ']' && depth > 0) --depth;
    if (c != '\\' || i + 1 == expression.size()) {
      result += c;
      continue;
    }
    const char escape = expression[++i];
    switch (escape) {
      case 's':
        result.append(kSpace);
        break;
      case 'S':
        result.append(R"(\P{White_Space})");
        break;
      case 'w':
        result.append("[").append(depth > 0 ? kWordInBrackets : kWord).append("]");
        break;
      case 'W':
        result.append("[^").append(depth > 0 ? kWordInBrackets : kWord).append("]");
        break;
      case 'b':
      case 'B':
        if (depth > 0) return unavailable("the expression has \\b in brackets");
        append_boundary(escape == 'b', result);
        break;
      case 'd':
        result.append(R"(\p{Nd})");
        break;
      case 'D':
        result.append(R"(\P{Nd})");
        break;
      case 'h':
      case 'H':
      case 'K':
      case 'G':
      case 'R':
      case 'X':
      case 'g':
      case 'k':
      case 'o':
      case 'O':
      case 'y':
      case 'Y':
        return unavailable(std::string("the expression uses \\") + escape +
                           ", which this program does not read");
      default:
        result.append({'\\', escape});
    }
  }
  return result;
}

struct CloseRegex {
  void operator()(URegularExpression* regex) const { uregex_close(regex); }
};
struct CloseText {
  void operator()(UText* text) const { utext_close(text); }
};
using RegexPtr = std::unique_ptr<URegularExpression, CloseRegex>;
using TextPtr = std::unique_ptr<UText, CloseText>;

class IcuPattern final : public Pattern {
 public:
  IcuPattern(RegexPtr regex, std::string expression)
      : regex_(std::move(regex)), expression_(std::move(expression)) {}

  void find(std::string_view text, std::vector<Match>& out) const override {
    if (text.empty()) return;  // where the reference does not look
    UErrorCode error = U_ZERO_ERROR;
    const TextPtr source(
        utext_openUTF8(nullptr, text.data(), static_cast<int64_t>(text.size()), &error));
    const std::lock_guard lock(mutex_);
    uregex_setUText(regex_.get(), source.get(), &error);
    size_t rest = 0;
    size_t last = text.size() + 1;  // the end of the match before; none yet
    while (uregex_findNext(regex_.get(), &error)) {
      const auto begin = static_cast<size_t>(uregex_start64(regex_.get(), 0, &error));
      const auto end = static_cast<size_t>(uregex_end64(regex_.get(), 0, &error));
      // As the reference's matcher: an empty match right behind another one is none.
      if (begin == end && begin == last) continue;
      if (rest < begin) out.push_back({rest, begin, false});
      out.push_back({begin, end, true});
      rest = end;
      last = end;
    }
    if (U_FAILURE(error)) {
      throw ErrorException(data_error("the tokenizer's expression '" + expression_.substr(0, 200) +
                                      "' took too long on a text of " +
                                      std::to_string(text.size()) + " bytes (" +
                                      u_errorName(error) + ")"));
    }
    if (rest < text.size()) out.push_back({rest, text.size(), false});
  }

 private:
  mutable std::mutex mutex_;
  RegexPtr regex_;
  std::string expression_;
};

}  // namespace

Result<PatternPtr> make_icu_pattern(const std::string& expression) {
  if (expression.size() > kLongestExpression) {
    return data_error("a regular expression of " + std::to_string(expression.size()) + " bytes");
  }
  const Result<std::string> icu = translated(expression);
  if (!icu.ok()) return icu.error();
  UErrorCode error = U_ZERO_ERROR;
  UParseError place{};
  const TextPtr source(
      utext_openUTF8(nullptr, icu->data(), static_cast<int64_t>(icu->size()), &error));
  RegexPtr regex(uregex_openUText(source.get(), kLines, &place, &error));
  uregex_setTimeLimit(regex.get(), kTimeLimit, &error);
  uregex_setStackLimit(regex.get(), kStackBytes, &error);
  if (U_FAILURE(error)) {
    return data_error("the regular expression '" + expression.substr(0, 200) +
                      "' does not compile: " + u_errorName(error));
  }
  return PatternPtr(std::make_shared<const IcuPattern>(std::move(regex), expression));
}

}  // namespace qfs::tokenizers

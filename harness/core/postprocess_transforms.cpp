#include "harness/core/postprocess_transforms.h"

#include <unicode/bytestream.h>
#include <unicode/casemap.h>
#include <unicode/regex.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

namespace qfs::transforms {
namespace {

/// Steps of ICU's matching engine, in units of its own: about a second.
constexpr int32_t kRegexTimeLimit = 100;
constexpr int32_t kRegexStackBytes = 8 << 20;

struct Character {
  size_t begin = 0;
  size_t end = 0;
  bool space = false;
};

template <class Visit>
void for_each_character(std::string_view text, Visit&& visit) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    UChar32 point = 0;
    U8_NEXT_OR_FFFD(bytes, at, text.size(), point);
    visit(Character{begin, at, u_isUWhiteSpace(point) != 0});
  }
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  for (size_t begin = 0;;) {
    const size_t found = text.find(from, begin);
    result += text.substr(begin, found - begin);
    if (found == std::string_view::npos) return result;
    result += to;
    begin = found + from.size();
  }
}

icu::UnicodeString utf16(std::string_view text) {
  return icu::UnicodeString::fromUTF8({text.data(), static_cast<int32_t>(text.size())});
}

}  // namespace

std::string without_texts(std::string text, std::string_view list) {
  for (size_t begin = 0; begin < list.size();) {
    const size_t end = std::min(list.find(' ', begin), list.size());
    if (end > begin) text = replaced(text, list.substr(begin, end - begin), "");
    begin = end + 1;
  }
  return text;
}

std::string without_reasoning(std::string_view text, const std::string& tag) {
  const std::string open = "<" + tag + ">";
  const std::string close = "</" + tag + ">";
  std::string result;
  for (size_t begin = 0;;) {
    const size_t opened = text.find(open, begin);
    const size_t closed = text.find(close, begin);
    if (closed < opened) {
      result.clear();  // reasoning that began in the prompt
      begin = closed + close.size();
      continue;
    }
    result += text.substr(begin, opened - begin);
    if (opened == std::string_view::npos) return result;
    const size_t end = text.find(close, opened);
    if (end == std::string_view::npos) return result;
    begin = end + close.size();
  }
}

std::string cut_at(std::string text, std::string_view stop) {
  text.resize(std::min(text.find(stop), text.size()));
  return text;
}

std::string without_prefix(std::string text, std::string_view prefix) {
  if (text.starts_with(prefix)) text.erase(0, prefix.size());
  return text;
}

std::string with_newlines(std::string_view text, std::string_view mark) {
  return replaced(text, mark, "\n");
}

std::string first_lines(std::string_view text, int64_t count) {
  text.remove_prefix(std::min(text.find_first_not_of("\r\n"), text.size()));
  size_t end = 0;
  for (int64_t line = 0; line < count && end < text.size(); ++line) {
    end = std::min(text.find('\n', line == 0 ? 0 : end + 1), text.size());
  }
  return std::string(text.substr(0, end));
}

std::string stripped(std::string_view text) {
  size_t begin = text.size();
  size_t end = 0;
  for_each_character(text, [&](const Character& c) {
    if (c.space) return;
    begin = std::min(begin, c.begin);
    end = c.end;
  });
  return begin < end ? std::string(text.substr(begin, end - begin)) : std::string();
}

std::string squeezed(std::string_view text) {
  std::string result;
  bool in_space = false;
  for_each_character(text, [&](const Character& c) {
    if (!c.space) {
      result += text.substr(c.begin, c.end - c.begin);
    } else {
      if (!in_space) result += ' ';
      if (text[c.begin] == '\n') result.back() = '\n';
    }
    in_space = c.space;
  });
  return result;
}

std::string lower_case(std::string_view text) {
  std::string result;
  UErrorCode status = U_ZERO_ERROR;
  icu::StringByteSink<std::string> sink(&result);
  icu::CaseMap::utf8ToLower("", 0, {text.data(), static_cast<int32_t>(text.size())}, sink, nullptr,
                            status);
  return result;
}

Result<std::function<Result<std::string>(std::string)>> replacing(const std::string& pattern,
                                                                  const std::string& with) {
  UErrorCode status = U_ZERO_ERROR;
  UParseError place{};
  const std::shared_ptr<const icu::RegexPattern> compiled(
      icu::RegexPattern::compile(utf16(pattern), place, status));
  if (U_FAILURE(status)) {
    return invalid_argument("'" + pattern +
                            "' is not a regular expression of ICU: " + u_errorName(status) +
                            " at character " + std::to_string(std::max(place.offset, int32_t{1})));
  }
  const auto apply = [compiled, pattern,
                      to = utf16(with)](std::string text) -> Result<std::string> {
    UErrorCode error = U_ZERO_ERROR;
    const icu::UnicodeString source = utf16(text);
    const std::unique_ptr<icu::RegexMatcher> matcher(compiled->matcher(source, error));
    if (matcher != nullptr) {
      matcher->setTimeLimit(kRegexTimeLimit, error);
      matcher->setStackLimit(kRegexStackBytes, error);
    }
    icu::UnicodeString changed;
    // replaceAll() would take a time-out for the end of the matches.
    while (U_SUCCESS(error) && matcher->find(error)) matcher->appendReplacement(changed, to, error);
    if (U_SUCCESS(error)) matcher->appendTail(changed);
    if (U_FAILURE(error)) {
      const std::string what = "replacing '" + pattern + "': " + u_errorName(error);
      if (error == U_REGEX_TIME_OUT || error == U_REGEX_STACK_OVERFLOW) return timed_out(what);
      return invalid_argument(what);
    }
    std::string result;
    changed.toUTF8String(result);
    return result;
  };
  return std::function<Result<std::string>(std::string)>(apply);
}

}  // namespace qfs::transforms

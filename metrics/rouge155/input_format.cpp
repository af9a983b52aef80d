#include "metrics/rouge155/input_format.h"

#include <algorithm>
#include <string>

namespace qfs::metrics::rouge155 {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_digit_or_lower(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || c == ','; }

/// Reads a line from the front; every step says whether the line went on as it should.
class LineMatcher {
 public:
  explicit LineMatcher(std::string_view line) : rest_(line) {}

  bool literal(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  template <class Predicate>
  bool one_or_more(Predicate is_wanted) {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_wanted);
    const auto count = static_cast<size_t>(end - rest_.begin());
    rest_.remove_prefix(count);
    return count > 0;
  }
  std::string_view until_tag() const { return rest_.substr(0, rest_.find('<')); }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

bool match_see_head(LineMatcher& line) {
  if (!line.literal("<a ")) return false;
  if (line.literal("size=\"") && !(line.one_or_more(is_digit) && line.literal("\" "))) return false;
  return line.literal("name=\"") && line.one_or_more(is_digit) && line.literal("\">[") &&
         line.one_or_more(is_digit) && line.literal("]</a>") && line.one_or_more(is_blank) &&
         line.literal("<a href=\"#") && line.one_or_more(is_digit) && line.literal("\" id=") &&
         line.one_or_more(is_digit) && line.literal(">");
}

std::string_view see_sentence(std::string_view line) {
  LineMatcher matcher(line);
  return match_see_head(matcher) ? matcher.until_tag() : std::string_view();
}

std::string_view isi_sentence(std::string_view line) {
  LineMatcher matcher(line);
  if (!(matcher.literal("<S SNTNO=\"") && matcher.one_or_more(is_digit_or_lower) &&
        matcher.literal("\">"))) {
    return {};
  }
  const std::string_view sentence = matcher.until_tag();
  return matcher.rest().substr(sentence.size()).starts_with("</S>") ? sentence : std::string_view();
}

}  // namespace

std::optional<InputFormat> input_format_named(std::string_view name) {
  std::string upper(name);
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  if (upper == "SPL") return InputFormat::spl;
  if (upper == "SEE") return InputFormat::see;
  if (upper == "ISI") return InputFormat::isi;
  return std::nullopt;
}

Sentences read_sentences(std::string_view text, InputFormat format) {
  if (format == InputFormat::spl) return split_lines(text);
  Sentences sentences;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    const std::string_view sentence =
        format == InputFormat::see ? see_sentence(line) : isi_sentence(line);
    if (!sentence.empty()) sentences.push_back(sentence);
    text.remove_prefix(end);
  }
  return sentences;
}

}  // namespace qfs::metrics::rouge155

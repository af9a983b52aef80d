#include "methods/retrieve_generate/spans.h"

#include <algorithm>
#include <set>
#include <utility>

#include "harness/core/text/unicode.h"
#include "harness/core/text/unicode_forms.h"
#include "harness/core/utf8.h"

namespace qfs::retrieve_generate {

namespace {

constexpr std::string_view kBegin = "<s> ";
constexpr std::string_view kBetween = " </s> ";
/// Of a line's trigrams; those of another document have a tenth.
constexpr double kShared = 0.5;

/// Runs of letters and of digits, lower-cased; without the transcribers' marks in braces.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  int kind = 0;  // of the run
  bool mark = false;
  for (const char32_t c : to_code_points(text)) {
    mark = (mark || c == U'{') && c != U'}';
    const int now = mark ? 0 : is_letter(c) ? 1 : is_decimal_digit(c) ? 2 : 0;
    if (now != kind && !word.empty()) words.push_back(lower_case(std::exchange(word, {})));
    kind = now;
    if (now != 0) append_utf8(c, word);
  }
  if (!word.empty()) words.push_back(lower_case(word));
  return words;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word;
  return text;
}

/// Three words in a row, or all of fewer.
std::set<std::string> trigrams(const std::vector<std::string>& words) {
  std::set<std::string> grams;
  for (size_t i = 0; i + 2 < words.size(); ++i) {
    grams.insert(words[i] + " " + words[i + 1] + " " + words[i + 2]);
  }
  if (grams.empty()) grams.insert(joined(words));
  return grams;
}

double shared(const std::set<std::string>& some, const std::set<std::string>& all) {
  const auto count =
      std::ranges::count_if(some, [&](const std::string& gram) { return all.contains(gram); });
  return static_cast<double>(count) / static_cast<double>(some.size());
}

}  // namespace

Result<Spans> Spans::parse(std::string_view text, const std::string& source) {
  Spans spans;
  spans.source_ = source;
  int64_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto bad = [&](const std::string& what) {
      return data_error(what, source + ":" + std::to_string(number));
    };
    if (line.empty()) continue;
    if (first_ill_formed_utf8(line)) return bad("ill-formed UTF-8");
    const size_t between = line.find(kBetween);
    if (!line.starts_with(kBegin) || between == std::string_view::npos) {
      return bad("expected \"<s> query </s> text\"");
    }
    const std::string query = joined(words_of(line.substr(kBegin.size(), between - kBegin.size())));
    if (query.empty()) return bad("a query without words");
    const std::string_view taken = line.substr(between + kBetween.size());
    if (words_of(taken).empty()) return bad("no text behind the query");
    spans.texts_[query].emplace_back(taken);
    ++spans.size_;
  }
  if (spans.size_ == 0) return data_error("a file of spans without any", source);
  return spans;
}

Result<std::string> Spans::of(const Example& example) const {
  const auto found = texts_.find(joined(words_of(example.query)));
  if (found == texts_.end()) {
    return not_found("no line of the spans has the query of example '" + example.key + "': '" +
                         example.query + "'",
                     source_);
  }
  const std::set<std::string> document = trigrams(words_of(rendered_document(example)));
  const std::string* best = nullptr;
  double most = 0;
  for (const std::string& text : found->second) {
    const double share = shared(trigrams(words_of(text)), document);
    if (best != nullptr && share <= most) continue;
    best = &text;
    most = share;
  }
  if (most >= kShared) return *best;
  return not_found("of the " + std::to_string(found->second.size()) +
                       " lines of the spans with the query of example '" + example.key +
                       "' none is of its document; \"spans_missing\": \"document\" reads the "
                       "document then",
                   source_);
}

}  // namespace qfs::retrieve_generate

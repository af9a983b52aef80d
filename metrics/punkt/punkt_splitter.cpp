#include "metrics/punkt/punkt_splitter.h"

#include <algorithm>

#include "harness/core/text/unicode.h"
#include "metrics/punkt/punkt_decision.h"

namespace qfs::metrics {
namespace {

size_t skip_spaces(std::string_view text, size_t at, PunktRules rules) {
  while (at < text.size()) {
    const size_t space = punkt_space(text, at, rules);
    if (space == 0) break;
    at += space;
  }
  return at;
}

/// Where the text without its last white space (str.rstrip) ends.
size_t stripped_end(std::string_view text) {
  size_t end = 0;
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    at += point.bytes;
    if (!is_python_space(point.value)) end = at;
  }
  return end;
}

/// A period, question or exclamation mark after which a sentence may end.
struct Candidate {
  size_t mark = 0;       ///< its offset
  size_t word = 0;       ///< where the word before it begins
  size_t after_end = 0;  ///< end of what follows: a non-word character, or spaces and a token
  size_t next = 0;       ///< where the next sentence would begin
};

/// Fills in what follows the mark; false when nothing does that could begin a sentence.
bool look_after(std::string_view text, PunktRules rules, Candidate& candidate) {
  const size_t after = candidate.mark + 1;
  if (after == text.size()) return false;
  if (const size_t bytes = punkt_non_word(text, after, rules); bytes > 0) {
    candidate.after_end = after + bytes;
    candidate.next = after;
    return true;
  }
  const size_t token = skip_spaces(text, after, rules);
  if (token == after || token == text.size()) return false;
  size_t end = token;
  while (end < text.size() && punkt_space(text, end, rules) == 0)
    end += code_point_at(text, end).bytes;
  candidate.after_end = end;
  candidate.next = token;
  return true;
}

/// Calls `visit(begin, end)` for every run of characters that are no white space.
template <class Visit>
void for_each_run(std::string_view text, PunktRules rules, Visit&& visit) {
  for (size_t begin = skip_spaces(text, 0, rules); begin < text.size();) {
    size_t end = begin;
    while (end < text.size() && punkt_space(text, end, rules) == 0) {
      end += code_point_at(text, end).bytes;
    }
    visit(begin, end);
    begin = skip_spaces(text, end, rules);
  }
}

/// The last mark of a run that something can follow; false when there is none.
bool last_mark(std::string_view text, PunktRules rules, size_t begin, size_t end,
               Candidate& candidate) {
  for (size_t at = end; at > begin; --at) {
    const char c = text[at - 1];
    if (c != '.' && c != '?' && c != '!') continue;
    candidate = {.mark = at - 1, .word = begin};
    if (look_after(text, rules, candidate)) return true;
  }
  return false;
}

/// Where the word before `mark` begins. Python's string.whitespace is ASCII, and a blank that comes
/// right after the previous candidate's word is not seen: both as NLTK has it.
size_t word_begin(std::string_view text, const Candidate& previous, size_t mark) {
  const std::string_view before = text.substr(previous.mark, mark - previous.mark);
  const size_t blank = before.find_last_of(" \t\n\r\v\f");
  if (blank == std::string_view::npos || blank == 0) return previous.word;
  return previous.mark + blank + 1;
}

/// Bytes of closing quotes and brackets at the beginning of `sentence` and of the white space after
/// them, if they belong to the sentence before; `closers` without that white space.
size_t closing_bytes(std::string_view sentence, PunktRules rules, size_t& closers) {
  size_t at = 0;
  while (at < sentence.size()) {
    const size_t bytes = punkt_closer(sentence, at, rules);
    if (bytes == 0) return 0;
    at += bytes;
    const size_t spaces = skip_spaces(sentence, at, rules);
    if (spaces == at && at < sentence.size() && !sentence.substr(at).starts_with("--")) continue;
    closers = at;
    return spaces;
  }
  return 0;
}

}  // namespace

std::vector<PunktSplitter::Span> PunktSplitter::unaligned(std::string_view text) const {
  std::vector<Span> spans;
  size_t begin = 0;
  const auto decide = [&](const Candidate& candidate) {
    const std::string_view context =
        text.substr(candidate.word, candidate.after_end - candidate.word);
    if (!punkt_ends_sentence(context, *model_, rules_)) return;
    spans.push_back({begin, candidate.mark + 1});
    begin = candidate.next;
  };
  if (rules_ == PunktRules::nltk_3_6) {
    for_each_run(text, rules_, [&](size_t run, size_t end) {
      Candidate candidate;
      if (last_mark(text, rules_, run, end, candidate)) decide(candidate);
    });
    spans.push_back({begin, std::max(begin, stripped_end(text))});
    return spans;
  }
  Candidate previous;
  bool any = false;
  for (size_t at = text.find_first_of(".?!"); at != std::string_view::npos;
       at = text.find_first_of(".?!", at + 1)) {
    Candidate candidate{.mark = at};
    if (!look_after(text, rules_, candidate)) continue;
    candidate.word = word_begin(text, previous, at);
    // Of several marks at one word only the last counts.
    if (any && previous.mark <= candidate.word) decide(previous);
    previous = candidate;
    any = true;
  }
  if (any) decide(previous);
  spans.push_back({begin, std::max(begin, stripped_end(text))});
  return spans;
}

std::vector<std::string_view> PunktSplitter::split(std::string_view text) const {
  std::vector<std::string_view> sentences;
  const auto add = [&](size_t begin, size_t end) {
    if (begin < end) sentences.push_back(text.substr(begin, end - begin));
  };
  const std::vector<Span> spans = unaligned(text);
  size_t moved = 0;  // bytes at the beginning of this span that went to the one before
  for (size_t i = 0; i < spans.size(); ++i) {
    const size_t begin = spans[i].begin + moved;
    if (i + 1 == spans.size()) {
      add(begin, spans[i].end);
      break;
    }
    const Span& next = spans[i + 1];
    size_t closers = 0;
    moved = closing_bytes(text.substr(next.begin, next.end - next.begin), rules_, closers);
    add(begin, moved > 0 ? next.begin + closers : spans[i].end);
  }
  return sentences;
}

}  // namespace qfs::metrics

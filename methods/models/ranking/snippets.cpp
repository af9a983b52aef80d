#include "methods/models/ranking/snippets.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "methods/models/greedy_oracle/dyle_oracle.h"
#include "methods/models/greedy_oracle/oracle_text.h"
#include "methods/models/greedy_oracle/remembered_oracle.h"
#include "methods/models/greedy_oracle/treebank_tokens.h"

namespace qfs::ranking {

namespace {

/// Of a snippet to be found: speech markers and interjections are no use to learn from.
constexpr int64_t kFewestWords = 4;

/// Of each part as Python's split(" "): an empty text is one word.
int64_t words_between_blanks(const Snippet& snippet) {
  int64_t words = 0;
  for (const Segment& part : snippet.parts) words += 1 + std::ranges::count(rendered(part), ' ');
  return words;
}

void add_pieces(const Segment& segment, int64_t most, std::vector<Snippet>& snippets) {
  for (const std::vector<std::string>& sentence : greedy_oracle::treebank_sentences(segment.text)) {
    std::string piece;
    for (size_t i = 0; i < sentence.size(); ++i) {
      if (!piece.empty()) piece += ' ';
      piece += sentence[i];
      if (i + 1 < sentence.size() && (static_cast<int64_t>(i) + 1) % most != 0) continue;
      snippets.push_back({{{piece, segment.speaker}}});
      piece.clear();
    }
  }
}

constexpr std::string_view kBlanks = " \t\r\n";

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  size_t begin = text.find_first_not_of(kBlanks);
  while (begin != std::string_view::npos) {
    const size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kBlanks, end);
  }
  return words;
}

/// How many of `words` the next part of a segment has.
size_t words_of_part(std::span<const std::string_view> words, size_t most) {
  if (words.size() <= most) return words.size();
  for (size_t count = most; 2 * count > most; --count) {
    if (std::string_view(".?!").find(words[count - 1].back()) != std::string_view::npos) {
      return count;
    }
  }
  return most;
}

/// Puts parts of segments together as long as they fit.
class Passages {
 public:
  Passages(int64_t most, std::vector<Snippet>& passages)
      : most_(static_cast<size_t>(most)), passages_(passages) {}

  void add(const Segment& segment) {
    const size_t spoken = words_of(segment.speaker).size();
    const std::vector<std::string_view> words = words_of(segment.text);
    std::span<const std::string_view> left = words;
    while (!left.empty()) {
      const size_t count = words_of_part(left, most_ > spoken ? most_ - spoken : 1);
      const char* end = left[count - 1].data() + left[count - 1].size();
      append({std::string(left.front().data(), end), segment.speaker}, spoken + count);
      left = left.subspan(count);
    }
  }

 private:
  void append(Segment part, size_t words) {
    if (passages_.empty() || words_ + words > most_) {
      passages_.emplace_back();
      words_ = 0;
    }
    passages_.back().parts.push_back(std::move(part));
    words_ += words;
  }

  size_t most_;
  std::vector<Snippet>& passages_;
  size_t words_ = 0;  ///< of the last passage
};

}  // namespace

std::string Snippet::text() const {
  std::string text;
  for (const Segment& part : parts) {
    if (&part != &parts.front()) text += '\n';
    text += rendered(part);
  }
  return text;
}

std::string Snippet::content_of(std::string_view beginning) const {
  std::string content;
  for (const Segment& part : parts) {
    const size_t whole = rendered(part).size();
    const size_t named = whole - part.text.size();
    if (beginning.size() <= named) break;
    if (&part != &parts.front()) content += '\n';
    content += beginning.substr(named, part.text.size());
    beginning.remove_prefix(std::min(beginning.size(), whole + 1));
  }
  return content;
}

bool is_chinese(const std::string& language) {
  return language == "zh" || language.starts_with("zh-");
}

namespace {

Error no_text(const Example& example) {
  return data_error("the document of example '" + example.key + "' has no text to take from");
}

}  // namespace

Status check_document(const Example& example, const SnippetRule& rule) {
  if (!has_text(example)) return no_text(example);
  if (!rule.passage_words || !is_chinese(example.language)) return {};
  return data_error("passages count words between blanks; example '" + example.key +
                    "' is Chinese");
}

Result<std::vector<Snippet>> snippets_of(const Example& example, const SnippetRule& rule) {
  if (Status readable = check_document(example, rule); !readable.ok()) return readable.error();
  std::vector<Snippet> snippets;
  Passages passages(rule.passage_words.value_or(1), snippets);
  for (const Segment& segment : example.document) {
    if (is_blank(segment.text)) continue;
    if (rule.passage_words) {
      passages.add(segment);
    } else if (rule.piece_words) {
      add_pieces(segment, *rule.piece_words, snippets);
    } else {
      snippets.push_back({{segment}});
    }
  }
  if (snippets.empty()) return no_text(example);  // of blanks that only a tokenizer knows
  return snippets;
}

Result<std::vector<int64_t>> oracle_list(const std::vector<Snippet>& snippets,
                                         const std::string& reference, bool chinese) {
  std::vector<std::string> units;
  for (const Snippet& snippet : snippets) {
    auto unit = greedy_oracle::oracle_text(snippet.content(), chinese);
    if (!unit.ok()) return unit.error();
    units.push_back(*std::move(unit));
  }
  const auto target = greedy_oracle::oracle_text(reference, chinese);
  if (!target.ok()) return target.error();
  std::vector<int64_t> list;
  const auto chosen = greedy_oracle::remembered_oracle(units, *target);
  for (const size_t i : greedy_oracle::released_indices(units, chosen)) {
    list.push_back(static_cast<int64_t>(i));
  }
  return list;
}

Result<std::vector<int64_t>> oracle_of(const Example& example,
                                       const std::vector<Snippet>& snippets) {
  if (example.references.empty() || example.references.front().empty()) {
    return data_error("example '" + example.key + "' has no reference summary to search for");
  }
  auto list = oracle_list(snippets, example.references.front(), is_chinese(example.language));
  return list.ok() ? list : of_example(list.error(), example);
}

Error of_example(const Error& error, const Example& example) {
  Error placed = error;
  placed.message = "example '" + example.key + "': " + placed.message;
  return placed;
}

Result<std::vector<int64_t>> evidence_segments(const Example& example) {
  const auto segments = static_cast<int64_t>(example.document.size());
  std::set<int64_t> gold;
  for (const SegmentSpan& span : example.evidence) {
    if (span.first < 0 || span.last < span.first || span.last >= segments) {
      return data_error("the evidence of example '" + example.key + "' is in segments " +
                        std::to_string(span.first) + " to " + std::to_string(span.last) +
                        "; its document has " + std::to_string(segments));
    }
    for (int64_t i = span.first; i <= span.last; ++i) {
      if (!is_blank(example.document[static_cast<size_t>(i)].text)) gold.insert(i);
    }
  }
  return std::vector<int64_t>(gold.begin(), gold.end());
}

Result<std::vector<int64_t>> evidence_list(const Example& example) {
  const auto segments = evidence_segments(example);
  if (!segments.ok()) return segments.error();
  const std::set<int64_t> gold(segments->begin(), segments->end());
  std::vector<int64_t> list;
  int64_t snippet = 0;
  for (size_t i = 0; i < example.document.size(); ++i) {
    if (is_blank(example.document[i].text)) continue;
    if (gold.contains(static_cast<int64_t>(i))) list.push_back(snippet);
    ++snippet;
  }
  return list;
}

std::vector<int64_t> kept_targets(const std::vector<int64_t>& list,
                                  const std::vector<Snippet>& snippets, int64_t visible) {
  std::vector<int64_t> kept;
  for (const int64_t i : list) {
    if (i >= visible) continue;
    if (words_between_blanks(snippets[static_cast<size_t>(i)]) < kFewestWords) continue;
    kept.push_back(i);
  }
  return kept;
}

std::vector<int64_t> ranked(std::span<const float> scores) {
  std::vector<int64_t> order(scores.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::ranges::stable_sort(order, std::greater{},
                           [&](int64_t i) { return scores[static_cast<size_t>(i)]; });
  return order;
}

}  // namespace qfs::ranking

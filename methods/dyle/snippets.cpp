#include "methods/dyle/snippets.h"

#include <algorithm>

#include "methods/models/greedy_oracle/dyle_oracle.h"
#include "methods/models/greedy_oracle/oracle_text.h"
#include "methods/models/greedy_oracle/treebank_tokens.h"

namespace qfs::dyle {

namespace {

/// Of an oracle snippet: speech markers and interjections are no use to learn from.
constexpr int64_t kFewestWords = 4;

bool is_blank(const std::string& text) {
  return text.find_first_not_of(" \t\r\n") == std::string::npos;
}

/// As Python's split(" "): an empty text is one word.
int64_t words_between_blanks(const std::string& text) { return 1 + std::ranges::count(text, ' '); }

void add_pieces(const Segment& segment, int64_t most, std::vector<Snippet>& snippets) {
  for (const std::vector<std::string>& sentence : greedy_oracle::treebank_sentences(segment.text)) {
    std::string piece;
    for (size_t i = 0; i < sentence.size(); ++i) {
      if (!piece.empty()) piece += ' ';
      piece += sentence[i];
      if (i + 1 < sentence.size() && (static_cast<int64_t>(i) + 1) % most != 0) continue;
      snippets.push_back({rendered({piece, segment.speaker}), piece});
      piece.clear();
    }
  }
}

}  // namespace

bool is_chinese(const std::string& language) {
  return language == "zh" || language.starts_with("zh-");
}

Result<std::vector<Snippet>> snippets_of(const Example& example,
                                         std::optional<int64_t> piece_words) {
  std::vector<Snippet> snippets;
  for (const Segment& segment : example.document) {
    if (is_blank(segment.text)) continue;
    if (piece_words) {
      add_pieces(segment, *piece_words, snippets);
    } else {
      snippets.push_back({rendered(segment), segment.text});
    }
  }
  if (snippets.empty()) {
    return data_error("the document of example '" + example.key + "' has no text to take from");
  }
  return snippets;
}

Result<std::vector<int64_t>> oracle_list(const std::vector<Snippet>& snippets,
                                         const std::string& reference, bool chinese) {
  std::vector<std::string> units;
  for (const Snippet& snippet : snippets) {
    auto unit = greedy_oracle::oracle_text(snippet.content, chinese);
    if (!unit.ok()) return unit.error();
    units.push_back(*std::move(unit));
  }
  const auto target = greedy_oracle::oracle_text(reference, chinese);
  if (!target.ok()) return target.error();
  std::vector<int64_t> list;
  const auto chosen = greedy_oracle::dyle_oracle(units, *target);
  for (const size_t i : greedy_oracle::released_indices(units, chosen)) {
    list.push_back(static_cast<int64_t>(i));
  }
  return list;
}

std::vector<int64_t> kept_oracles(const std::vector<int64_t>& oracle,
                                  const std::vector<Snippet>& snippets, int64_t visible) {
  std::vector<int64_t> kept;
  for (const int64_t i : oracle) {
    if (i >= visible) continue;
    if (words_between_blanks(snippets[static_cast<size_t>(i)].text) < kFewestWords) continue;
    kept.push_back(i);
  }
  return kept;
}

}  // namespace qfs::dyle

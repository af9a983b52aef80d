#include "metrics/matches/token_matches.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "metrics/chinese/rouge_zh_entry.h"
#include "metrics/text/local_id.h"
#include "metrics/text/tokens.h"

namespace qfs::metrics {
namespace {

using Keys = std::vector<uint64_t>;
using Counts = std::unordered_map<uint64_t, size_t>;

Keys words(const std::vector<TokenId>& ids) { return {ids.begin(), ids.end()}; }

Keys pairs(const std::vector<TokenId>& ids) {
  Keys keys;
  for (size_t i = 0; i + 1 < ids.size(); ++i) keys.push_back(uint64_t{ids[i]} << 32U | ids[i + 1]);
  return keys;
}

/// How often each key is in both.
Counts common(const Keys& a, const Keys& b) {
  Counts in_b;
  for (const uint64_t key : b) ++in_b[key];
  Counts hits;
  for (const uint64_t key : a) {
    const auto found = in_b.find(key);
    if (found == in_b.end() || found->second == 0) continue;
    --found->second;
    ++hits[key];
  }
  return hits;
}

/// Marks `hits` of the keys' places, those that `rank` says most of before others, else the first.
template <class Rank>
void mark(const Keys& keys, Counts hits, bool MatchedToken::*member, const Rank& rank,
          std::vector<MatchedToken>& tokens) {
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{}, rank);
  for (const size_t i : order) {
    const auto left = hits.find(keys[i]);
    if (left == hits.end() || left->second == 0) continue;
    --left->second;
    tokens[i].*member = true;
  }
}

/// Where both texts have a word more often than they share it, the places that longer matches have.
void mark_hits(const std::vector<TokenId>& ids, const Counts& word_hits, const Counts& pair_hits,
               std::vector<MatchedToken>& tokens) {
  const auto in_line = [&](size_t i) { return tokens[i].line ? 1 : 0; };
  mark(
      pairs(ids), pair_hits, &MatchedToken::pair,
      [&](size_t i) { return in_line(i) + in_line(i + 1); }, tokens);
  const auto in_pair = [&](size_t i) { return tokens[i].pair || (i > 0 && tokens[i - 1].pair); };
  mark(
      words(ids), word_hits, &MatchedToken::word,
      [&](size_t i) { return 2 * in_line(i) + (in_pair(i) ? 1 : 0); }, tokens);
}

}  // namespace

std::unique_ptr<TokenMatcher> TokenMatcher::of_signature(std::string_view signature) {
  if (auto words = zh_encoder_of(signature))
    return std::make_unique<TokenMatcher>(std::move(words));
  const auto has = [&](std::string_view field) { return signature.find(field) != signature.npos; };
  if (!has("|tok:ascii|lc:unicode|")) return nullptr;
  const bool stem = has("|stem:porter-nltk|");
  if (!stem && !has("|stem:none|")) return nullptr;
  return std::make_unique<TokenMatcher>(stem);
}

/// The tokens of `for_each_token` with their places: a run of token characters, in which U+212A is
/// a letter too; U+0130 is a letter that ends one.
TokenMatcher::Text TokenMatcher::read_tokens(std::string_view text) {
  constexpr std::string_view kKelvin = "\xE2\x84\xAA";
  constexpr std::string_view kDottedI = "\xC4\xB0";
  Text read;
  const auto letter = [&](size_t i) -> size_t {  // bytes of the one at `i`; 0: none
    if (kTokenCharacters[static_cast<unsigned char>(text[i])] != 0) return 1;
    if (text.substr(i, kKelvin.size()) == kKelvin) return kKelvin.size();
    return text.substr(i, kDottedI.size()) == kDottedI ? kDottedI.size() : 0;
  };
  std::string buffer;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    for (size_t bytes = 1; end < text.size() && bytes > 0;) {
      bytes = letter(end);
      end += bytes;
      if (bytes == kDottedI.size()) break;
    }
    if (end == i) {
      ++i;
      continue;
    }
    for_each_token(text.substr(i, end - i), buffer,
                   [&](std::string_view token) { read.ids.push_back(vocabulary_.id(token)); });
    read.tokens.push_back({i, end});
    i = end;
  }
  return read;
}

Result<TokenMatcher::Text> TokenMatcher::read(std::string_view text) {
  if (!words_) return read_tokens(text);
  std::vector<TokenPlace> places;
  auto encoded = words_->encode(text, &places);
  if (!encoded) return encoded.error();
  Text read{std::move(encoded->tokens), {}};
  for (const TokenPlace& place : places) read.tokens.push_back({place.begin, place.end});
  return read;
}

/// The reference's side is BitLcs's; the candidate has those words in this order, and the first
/// place where they are is marked.
void TokenMatcher::mark_subsequence(const Text& candidate, const Text& reference,
                                    TokenMatches& matches) {
  std::unordered_map<TokenId, LocalId> local;
  const auto types = [&] { return static_cast<LocalId>(local.size()); };
  std::vector<LocalId> rows;
  for (const TokenId id : reference.ids)
    rows.push_back(local.try_emplace(id, types()).first->second);
  std::vector<LocalId> columns;
  for (const TokenId id : candidate.ids) {
    const auto known = local.find(id);
    columns.push_back(known == local.end() ? types() : known->second);
  }
  lcs_.set_reference(rows, types());
  std::vector<uint64_t> marks(lcs_.words(), 0);
  lcs_.mark(columns, marks);
  size_t next = 0;
  for (size_t row = 0; row < rows.size(); ++row) {
    if ((marks[row / 64] >> (row % 64) & 1U) == 0) continue;
    matches.reference[row].line = true;
    while (columns[next] != rows[row]) ++next;
    matches.candidate[next++].line = true;
  }
}

Result<TokenMatches> TokenMatcher::match(std::string_view candidate, std::string_view reference) {
  Result<Text> first = read(candidate);
  if (!first) return first.error();
  Result<Text> second = read(reference);
  if (!second) return second.error();
  Status size = check_lcs_size({first->ids.size()}, {second->ids.size()});
  if (!size) return size.error();
  TokenMatches matches{std::move(first->tokens), std::move(second->tokens)};
  if (!first->ids.empty() && !second->ids.empty()) mark_subsequence(*first, *second, matches);
  const Counts word_hits = common(words(first->ids), words(second->ids));
  const Counts pair_hits = common(pairs(first->ids), pairs(second->ids));
  mark_hits(first->ids, word_hits, pair_hits, matches.candidate);
  mark_hits(second->ids, word_hits, pair_hits, matches.reference);
  return matches;
}

}  // namespace qfs::metrics

#include "harness/score/text_matches.h"

#include <utility>

#include "metrics/matches/token_matches.h"

namespace qfs::score {
namespace {

void append(std::vector<MatchRun>& runs, size_t bytes, uint8_t bits) {
  if (bytes == 0) return;
  if (!runs.empty() && runs.back().bits == bits) {
    runs.back().bytes += bytes;
  } else {
    runs.push_back({bytes, bits});
  }
}

/// What stands between the two tokens of a pair belongs to it.
std::vector<MatchRun> runs_of(const std::vector<metrics::MatchedToken>& tokens, size_t length) {
  std::vector<MatchRun> runs;
  size_t at = 0;
  uint8_t between = 0;
  for (const metrics::MatchedToken& token : tokens) {
    append(runs, token.begin - at, between);
    uint8_t bits = between | (token.pair ? kMatchedPair : 0);
    if (token.word) bits |= kMatchedWord;
    if (token.line) bits |= kMatchedLine;
    append(runs, token.end - token.begin, bits);
    between = token.pair ? kMatchedPair : 0;
    at = token.end;
  }
  append(runs, length - at, 0);
  return runs;
}

}  // namespace

TextMatches::TextMatches(std::unique_ptr<metrics::TokenMatcher> matcher)
    : matcher_(std::move(matcher)) {}
TextMatches::~TextMatches() = default;

std::unique_ptr<TextMatches> TextMatches::of_signature(std::string_view signature) {
  auto matcher = metrics::TokenMatcher::of_signature(signature);
  if (!matcher) return nullptr;
  return std::unique_ptr<TextMatches>(new TextMatches(std::move(matcher)));
}

Result<MatchedTexts> TextMatches::match(std::string_view prediction, std::string_view reference) {
  const Result<metrics::TokenMatches> matches = matcher_->match(prediction, reference);
  if (!matches) return matches.error();
  return MatchedTexts{runs_of(matches->candidate, prediction.size()),
                      runs_of(matches->reference, reference.size())};
}

}  // namespace qfs::score

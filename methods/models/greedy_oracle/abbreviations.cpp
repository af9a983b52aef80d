#include "methods/models/greedy_oracle/abbreviations.h"

#include <algorithm>
#include <array>

namespace qfs::greedy_oracle {
namespace {

// "no" is left out on purpose: in speech "No." is a sentence far more often than a number.
constexpr std::array<std::string_view, 44> kAbbreviations = {
    "al",  "approx", "apr",  "aug", "capt", "cf",  "co",  "col",  "corp", "dec", "dept",
    "dr",  "esp",    "est",  "feb", "fig",  "gen", "gov", "hon",  "inc",  "jan", "jr",
    "jul", "jun",    "lt",   "ltd", "maj",  "mr",  "mrs", "ms",   "mt",   "nov", "oct",
    "pp",  "pres",   "prof", "rep", "rev",  "sen", "sep", "sept", "sr",   "st",  "vs"};

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

/// "p.m": single letters with full stops between them.
bool is_dotted(std::string_view word) {
  if (word.size() < 3 || word.size() % 2 == 0) return false;
  for (size_t i = 0; i < word.size(); ++i) {
    if (i % 2 == 0 ? !is_letter(word[i]) : word[i] != '.') return false;
  }
  return true;
}

}  // namespace

bool is_abbreviation(std::string_view word) {
  if (word.size() == 1) return is_letter(word[0]) && word[0] != 'i' && word[0] != 'a';
  return is_dotted(word) ||
         std::find(kAbbreviations.begin(), kAbbreviations.end(), word) != kAbbreviations.end();
}

}  // namespace qfs::greedy_oracle

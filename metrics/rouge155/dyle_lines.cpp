#include "metrics/rouge155/dyle_lines.h"

#include "harness/core/text/treebank.h"
#include "harness/core/text/unicode.h"

namespace qfs::metrics::rouge155 {
namespace {

/// word_tokenize: the Treebank tokens of each sentence.
std::string joined_words(std::string_view text, const PunktSplitter& punkt) {
  std::string words;
  for (std::string_view sentence : punkt.split(text)) {
    const std::string tokens =
        join_treebank_tokens(to_code_points(sentence), TreebankRules::nltk_3_6_2);
    if (tokens.empty()) continue;
    if (!words.empty()) words += ' ';
    words += tokens;
  }
  return words;
}

}  // namespace

std::string dyle_lines(std::string_view text, const PunktSplitter& punkt) {
  const std::string words = joined_words(text, punkt);
  std::string lines;
  for (std::string_view sentence : punkt.split(words)) {
    if (!lines.empty()) lines += '\n';
    lines += sentence;
  }
  return lines;
}

}  // namespace qfs::metrics::rouge155

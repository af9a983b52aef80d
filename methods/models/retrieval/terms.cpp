#include "methods/models/retrieval/terms.h"

#include <string>

#include "harness/core/text/chinese_text.h"

namespace qfs::retrieval {

Result<std::vector<metrics::TokenId>> Terms::encode(std::string_view text, Script script) {
  if (script == Script::latin) return latin_.encode(text).tokens;
  const Result<std::vector<std::string>> words = chinese_words(text);
  if (!words.ok()) return words.error();
  std::vector<metrics::TokenId> ids;
  ids.reserve(words->size());
  for (const std::string& word : *words) ids.push_back(chinese_.id(word));
  return ids;
}

}  // namespace qfs::retrieval

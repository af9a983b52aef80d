#include "methods/models/greedy_oracle/oracle_text.h"

#include <vector>

#include "harness/core/text/chinese_text.h"
#include "methods/models/greedy_oracle/treebank_tokens.h"

namespace qfs::greedy_oracle {

Result<std::string> oracle_text(std::string_view text, bool chinese) {
  const Result<std::vector<std::string>> tokens =
      chinese ? chinese_words(text) : treebank_tokens(text);
  if (!tokens.ok()) return tokens.error();
  std::string joined;
  for (const std::string& token : *tokens) {
    if (!joined.empty()) joined += ' ';
    joined += token;
  }
  return joined;
}

}  // namespace qfs::greedy_oracle

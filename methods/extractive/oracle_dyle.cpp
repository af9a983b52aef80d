// oracle_dyle: the extractive oracle of DYLE (Mao et al. 2022) over whole turns, without the
// speakers' names, towards the first reference. Parts: treebank_tokens.h, dyle_rouge.h,
// dyle_oracle.h. In Chinese, which DYLE does not read, tokens are ICU's words, and a turn is one
// sentence to its scorer.
#include "harness/core/text/chinese_text.h"
#include "methods/extractive/dyle_oracle.h"
#include "methods/extractive/selector.h"
#include "methods/extractive/treebank_tokens.h"

namespace qfs::extractive {
namespace {

Result<std::string> tokenized(std::string_view text, Script script) {
  const Result<std::vector<std::string>> tokens =
      script == Script::chinese ? chinese_words(text) : treebank_tokens(text);
  if (!tokens.ok()) return tokens.error();
  std::string joined;
  for (const std::string& token : *tokens) {
    if (!joined.empty()) joined += ' ';
    joined += token;
  }
  return joined;
}

class OracleDyle final : public Selector {
 public:
  Status prepare(std::span<const Passage> passages, Script script) override {
    script_ = script;
    turns_.clear();
    for (const Passage& passage : passages) {
      Result<std::string> turn = tokenized(passage.text, script);
      if (!turn.ok()) return turn.error();
      turns_.push_back(*std::move(turn));
    }
    return {};
  }

  Result<std::vector<size_t>> select(const Example& example) override {
    if (example.references.empty()) {
      return invalid_argument("oracle_dyle reads a reference, example '" + example.key +
                              "' has none");
    }
    const Result<std::string> reference = tokenized(example.references.front(), script_);
    if (!reference.ok()) return reference.error();
    return dyle_oracle(turns_, *reference);
  }

 private:
  Script script_ = Script::latin;
  std::vector<std::string> turns_;
};

}  // namespace

std::unique_ptr<Selector> make_oracle_dyle_selector(const SessionRequest&) {
  return std::make_unique<OracleDyle>();
}

}  // namespace qfs::extractive

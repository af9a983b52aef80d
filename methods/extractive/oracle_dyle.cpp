// oracle_dyle: the extractive oracle of DYLE (Mao et al. 2022) over whole turns, without the
// speakers' names, towards the first reference. Parts: treebank_tokens.h, dyle_rouge.h,
// dyle_oracle.h.
#include "methods/extractive/dyle_oracle.h"
#include "methods/extractive/selector.h"
#include "methods/extractive/treebank_tokens.h"

namespace qfs::extractive {
namespace {

std::string tokenized(std::string_view text) {
  std::string joined;
  for (const std::string& token : treebank_tokens(text)) {
    if (!joined.empty()) joined += ' ';
    joined += token;
  }
  return joined;
}

class OracleDyle final : public Selector {
 public:
  Status prepare(std::span<const Passage> passages) override {
    turns_.clear();
    for (const Passage& passage : passages) turns_.push_back(tokenized(passage.text));
    return {};
  }

  Result<std::vector<size_t>> select(const Example& example) override {
    if (example.references.empty()) {
      return invalid_argument("oracle_dyle reads a reference, example '" + example.key +
                              "' has none");
    }
    return dyle_oracle(turns_, tokenized(example.references.front()));
  }

 private:
  std::vector<std::string> turns_;
};

}  // namespace

std::unique_ptr<Selector> make_oracle_dyle_selector(const SessionRequest&) {
  return std::make_unique<OracleDyle>();
}

}  // namespace qfs::extractive

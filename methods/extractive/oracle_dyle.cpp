// oracle_dyle: the extractive oracle of DYLE (Mao et al. 2022) over whole turns, without the
// speakers' names, towards the first reference: methods/models/greedy_oracle. In Chinese, which
// DYLE does not read, tokens are ICU's words, and a turn is one sentence to its scorer.
#include "methods/extractive/selectors.h"
#include "methods/models/greedy_oracle/dyle_oracle.h"
#include "methods/models/greedy_oracle/oracle_text.h"

namespace qfs::extractive {
namespace {

class OracleDyle final : public retrieval::Selector {
 public:
  Status prepare(std::span<const retrieval::Passage> passages, retrieval::Script script) override {
    script_ = script;
    turns_.clear();
    for (const retrieval::Passage& passage : passages) {
      Result<std::string> turn =
          greedy_oracle::oracle_text(passage.text, script == retrieval::Script::chinese);
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
    const Result<std::string> reference = greedy_oracle::oracle_text(
        example.references.front(), script_ == retrieval::Script::chinese);
    if (!reference.ok()) return reference.error();
    return greedy_oracle::dyle_oracle(turns_, *reference);
  }

 private:
  retrieval::Script script_ = retrieval::Script::latin;
  std::vector<std::string> turns_;
};

}  // namespace

std::unique_ptr<retrieval::Selector> make_oracle_dyle_selector(const SessionRequest&) {
  return std::make_unique<OracleDyle>();
}

}  // namespace qfs::extractive

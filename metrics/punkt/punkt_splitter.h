// PunktSplitter: sentences as NLTK's PunktSentenceTokenizer finds them (Kiss & Strunk 2006).
//
// Called for summary-level ROUGE-L with `split=punkt`. Equal to nltk.sent_tokenize, boundaries
// realigned, of the releases that PunktRules names. Immutable; thread-safe; cannot fail.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/punkt/punkt_model.h"
#include "metrics/punkt/punkt_words.h"

namespace qfs::metrics {

class PunktSplitter {
 public:
  PunktSplitter(std::shared_ptr<const PunktModel> model, PunktRules rules)
      : model_(std::move(model)), rules_(rules) {}

  /// The sentences in order, none of them empty, as views into `text`. White space between
  /// sentences belongs to none; white space before the first one belongs to it.
  std::vector<std::string_view> split(std::string_view text) const;

  const PunktModel& model() const { return *model_; }
  PunktRules rules() const { return rules_; }

 private:
  struct Span {
    size_t begin = 0;
    size_t end = 0;
  };
  std::vector<Span> unaligned(std::string_view text) const;

  std::shared_ptr<const PunktModel> model_;
  PunktRules rules_;
};

}  // namespace qfs::metrics

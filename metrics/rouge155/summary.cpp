#include "metrics/rouge155/summary.h"

namespace qfs::metrics::rouge155 {

Summary encode(Vocabulary& vocabulary, const Sentences& sentences, const Limit& limit) {
  Summary summary;
  for (std::string_view sentence : limited_for_lcs(sentences, limit)) {
    vocabulary.append(sentence, summary.sentences.tokens);
    summary.sentences.line_ends.push_back(summary.sentences.tokens.size());
  }
  if (limit.unit != LimitUnit::bytes) return summary;
  summary.has_bounded = true;
  for (std::string_view sentence : limited(sentences, limit)) {
    vocabulary.append(sentence, summary.bounded);
  }
  return summary;
}

void LocalTokens::set_reference(const Summary& reference) {
  for (TokenId token : numbered_) local_of_[token] = 0;
  numbered_.clear();
  types_ = 0;
  add(reference.sentences.tokens);
  if (reference.has_bounded) add(reference.bounded);
}

void LocalTokens::add(std::span<const TokenId> tokens) {
  for (TokenId token : tokens) {
    if (token >= local_of_.size()) local_of_.resize(size_t{token} + 1, 0);
    if (local_of_[token] != 0) continue;
    local_of_[token] = ++types_;
    numbered_.push_back(token);
  }
}

void LocalTokens::translate(std::span<const TokenId> tokens, std::vector<LocalId>& local) const {
  local.clear();
  for (TokenId token : tokens) {
    const LocalId found = token < local_of_.size() ? local_of_[token] : 0;
    local.push_back(found == 0 ? types_ : found - 1);
  }
}

}  // namespace qfs::metrics::rouge155

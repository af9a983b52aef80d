#include "metrics/bertscore/bert_scorer.h"

#include <algorithm>
#include <utility>

#include "harness/core/text/unicode.h"
#include "metrics/bertscore/baseline.h"

namespace qfs::metrics {
namespace {

size_t bytes_of(const TokenVectors& text) { return text.vectors.size() * sizeof(float); }

/// Which sides of each pair bert_score pads when it takes `batch` pairs at a time.
template <class TokensOf>
std::vector<Padding> batch_paddings(std::span<const TextPairs> items, int64_t batch,
                                    TokensOf&& tokens_of) {
  std::vector<std::pair<size_t, size_t>> lengths;  // of reference and candidate, pair by pair
  for (const TextPairs& item : items) {
    for (const int64_t reference : item.references) {
      lengths.emplace_back(tokens_of(reference), tokens_of(item.candidate));
    }
  }
  std::vector<Padding> paddings(lengths.size());
  if (batch == 0) return paddings;
  const auto size = static_cast<size_t>(batch);
  for (size_t begin = 0; begin < lengths.size(); begin += size) {
    const size_t end = std::min(begin + size, lengths.size());
    std::pair<size_t, size_t> longest;
    for (size_t i = begin; i < end; ++i) {
      longest.first = std::max(longest.first, lengths[i].first);
      longest.second = std::max(longest.second, lengths[i].second);
    }
    for (size_t i = begin; i < end; ++i) {
      paddings[i] = {lengths[i].first < longest.first, lengths[i].second < longest.second};
    }
  }
  return paddings;
}

}  // namespace

void BertScorer::begin_corpus() {
  std::erase_if(entries_, [&](const auto& named) {
    if (named.second->corpus == corpus_) return false;
    kept_bytes_ -= bytes_of(named.second->tokens);
    return true;
  });
  ++corpus_;
  texts_.clear();
  weights_ = IdfWeights(options_.idf);
}

Result<const TokenVectors*> BertScorer::add(const CorpusText& text) {
  std::string key(python_stripped(text.text));
  auto found = entries_.find(key);
  if (found == entries_.end()) {
    Result<TokenVectors> tokens = encoder_->tokens(key);
    if (!tokens) return tokens.error();
    auto entry = std::make_unique<Entry>();
    entry->tokens = *std::move(tokens);
    found = entries_.emplace(std::move(key), std::move(entry)).first;
  }
  Entry& entry = *found->second;
  entry.corpus = corpus_;
  texts_.push_back(&entry);
  weights_.add_reference(entry.tokens.ids, text.reference_uses);
  return &std::as_const(entry.tokens);
}

Status BertScorer::check(std::span<const TextPairs> items) const {
  const auto count = static_cast<int64_t>(texts_.size());
  const auto known = [&](int64_t number) { return number >= 0 && number < count; };
  for (const TextPairs& item : items) {
    const std::string name = "item " + std::to_string(item.ordinal);
    if (item.references.empty()) return invalid_argument("bertscore needs references", name);
    if (!known(item.candidate) || !std::ranges::all_of(item.references, known)) {
      return invalid_argument("a number beyond the " + std::to_string(count) + " texts", name);
    }
  }
  return {};
}

void BertScorer::make_room(size_t bytes) {
  if (kept_bytes_ + bytes <= options_.kept_bytes) return;
  std::vector<Entry*> kept;
  for (const auto& [text, entry] : entries_) {
    if (!entry->tokens.vectors.empty() && entry->last_use < window_) kept.push_back(entry.get());
  }
  std::ranges::sort(kept, {}, &Entry::last_use);
  for (Entry* entry : kept) {
    if (kept_bytes_ + bytes <= options_.kept_bytes) return;
    kept_bytes_ -= bytes_of(entry->tokens);
    entry->tokens.vectors = {};
  }
}

Result<size_t> BertScorer::encode_window(std::span<const TextPairs> items) {
  ++window_;
  size_t tokens = 0;
  std::vector<TokenVectors*> lacking;
  const auto use = [&](int64_t number) {
    Entry& entry = *texts_[static_cast<size_t>(number)];
    if (entry.last_use == window_) return;
    entry.last_use = window_;
    if (!entry.tokens.vectors.empty()) return;
    tokens += entry.tokens.tokens();
    lacking.push_back(&entry.tokens);
  };
  size_t count = 0;
  for (; count < items.size() && tokens < options_.window_tokens; ++count) {
    use(items[count].candidate);
    for (const int64_t reference : items[count].references) use(reference);
  }
  if (lacking.empty()) return count;
  make_room(tokens * static_cast<size_t>(std::max<int64_t>(lacking[0]->width, 1)) * sizeof(float));
  // The longest first: what is encoded last is short, so that threads end together.
  std::ranges::stable_sort(lacking, std::ranges::greater(), &TokenVectors::tokens);
  if (Status encoded = encoder_->encode(lacking); !encoded) return encoded.error();
  for (TokenVectors* text : lacking) {
    normalize(*text);
    kept_bytes_ += bytes_of(*text);
  }
  return count;
}

BertScores BertScorer::score(const TextPairs& item, std::span<const Padding> paddings) const {
  const TokenVectors& candidate = texts_[static_cast<size_t>(item.candidate)]->tokens;
  const std::vector<double> candidate_weights = weights_.of(candidate);
  std::optional<BertScores> best;
  for (size_t i = 0; i < item.references.size(); ++i) {
    const TokenVectors& reference = texts_[static_cast<size_t>(item.references[i])]->tokens;
    const BertScores scores =
        greedy_match(reference, weights_.of(reference), candidate, candidate_weights, paddings[i]);
    if (!best) best = scores;
    best->precision = std::max(best->precision, scores.precision);
    best->recall = std::max(best->recall, scores.recall);
    best->f = std::max(best->f, scores.f);
  }
  return options_.baseline ? rescaled(*best, *options_.baseline) : *best;
}

Result<std::vector<Statistics>> BertScorer::score(std::span<const TextPairs> items) {
  if (Status known = check(items); !known) return known.error();
  const std::vector<Padding> paddings = batch_paddings(items, options_.batch, [&](int64_t number) {
    return texts_[static_cast<size_t>(number)]->tokens.tokens();
  });
  std::vector<Statistics> rows;
  rows.reserve(items.size());
  size_t pair = 0;
  while (rows.size() < items.size()) {
    const Result<size_t> count = encode_window(items.subspan(rows.size()));
    if (!count) return count.error();
    for (const TextPairs& item : items.subspan(rows.size(), *count)) {
      const BertScores scores =
          score(item, std::span(paddings).subspan(pair, item.references.size()));
      pair += item.references.size();
      rows.push_back({scores.precision, scores.recall, scores.f});
    }
  }
  return rows;
}

}  // namespace qfs::metrics

#include "metrics/rouge155/scorer.h"

#include <algorithm>
#include <cmath>

#include "metrics/rouge155/five_digits.h"

namespace qfs::metrics::rouge155 {
namespace {

double as_double(int64_t count) { return static_cast<double>(count); }

double ratio(double part, double whole) { return whole == 0 ? 0 : part / whole; }

uint64_t longest_sentence(const Summary& text) {
  uint64_t longest = 0;
  for (size_t i = 0; i < text.sentences.lines(); ++i) {
    longest = std::max<uint64_t>(longest, text.sentences.line(i).size());
  }
  return longest;
}

LocalText local_text(const Summary& text, const LocalTokens& local, std::vector<LocalId>& sentences,
                     std::vector<LocalId>& bounded) {
  local.translate(text.sentences.tokens, sentences);
  if (text.has_bounded) local.translate(text.bounded, bounded);
  return {sentences, text.sentences.line_ends, text.has_bounded ? bounded : sentences};
}

}  // namespace

double f_measure(double recall, double precision, double alpha) {
  const double denominator = (1 - alpha) * precision + alpha * recall;
  return denominator > 0 ? precision * recall / denominator : 0;
}

Scorer::Scorer(Options options, std::shared_ptr<const Lexicon> lexicon)
    : options_(std::move(options)),
      variants_(rouge155::variants(options_)),
      vocabulary_(std::move(lexicon)),
      weighted_(options_.weight ? options_.weight->power : 1) {}

Summary Scorer::encode(const Sentences& sentences) {
  return rouge155::encode(vocabulary_, sentences, options_.limit);
}

Status Scorer::check_lengths(const Summary& text, std::string_view role) const {
  if (options_.skip &&
      skip_gram_count(text.tokens().size(), options_.skip->gap, true) > kMaxSkipGrams) {
    return invalid_argument(
        "the " + std::string(role) + " has " + std::to_string(text.tokens().size()) +
        " tokens, too many for ROUGE-S with a gap of " + std::to_string(options_.skip->gap));
  }
  return {};
}

Result<std::vector<Counts>> Scorer::counts(const Summary& candidate,
                                           std::span<const Summary> references) {
  if (references.empty()) return invalid_argument("rouge-1.5.5 needs at least one reference");
  if (Status status = check_lengths(candidate, "candidate"); !status) return status.error();
  std::vector<Counts> total(variants_.size());
  std::vector<double> best(variants_.size(), -1);
  for (size_t i = 0; i < references.size(); ++i) {
    const std::string role = "reference " + std::to_string(i + 1);
    if (Status status = check_lengths(references[i], role); !status) return status.error();
    Result<std::vector<Outcome>> outcomes = against(candidate, references[i]);
    if (!outcomes) {
      Error error = outcomes.error();
      error.message = role + ": " + error.message;
      return error;
    }
    for (size_t v = 0; v < variants_.size(); ++v) {
      const Outcome& outcome = (*outcomes)[v];
      if (options_.formula == Formula::average) {
        total[v].reference += outcome.counts.reference;
        total[v].candidate += outcome.counts.candidate;
        total[v].hits += outcome.counts.hits;
      } else if (outcome.recall > best[v]) {
        best[v] = outcome.recall;
        total[v] = outcome.counts;
      }
    }
  }
  return total;
}

Result<std::vector<Scorer::Outcome>> Scorer::against(const Summary& candidate,
                                                     const Summary& reference) {
  Status status = check_lcs_size({candidate.sentences.tokens.size(), candidate.sentences.lines()},
                                 {reference.sentences.tokens.size(), reference.sentences.lines()});
  if (!status) return status.error();
  if (options_.weight) {
    if (reference.sentences.tokens.empty()) {
      return invalid_argument("no words, so ROUGE-W is not defined");
    }
    if (longest_sentence(candidate) * longest_sentence(reference) > WeightedLcs::kMaxCells) {
      return invalid_argument("a sentence is too long for ROUGE-W");
    }
  }
  local_.set_reference(reference);
  const LocalText right = local_text(reference, local_, buffers_[0], buffers_[1]);
  const LocalText left = local_text(candidate, local_, buffers_[2], buffers_[3]);
  ngram_hits_ = grams_.ngrams(right.tokens, left.tokens, local_.types(), options_.max_n);
  std::vector<Outcome> outcomes;
  outcomes.reserve(variants_.size());
  for (const Variant& variant : variants_) outcomes.push_back(outcome_of(variant, right, left));
  return outcomes;
}

Scorer::Outcome Scorer::outcome_of(const Variant& variant, const LocalText& reference,
                                   const LocalText& candidate) {
  using Kind = Variant::Kind;
  const size_t left = candidate.tokens.size();
  const size_t right = reference.tokens.size();
  Counts counts;
  switch (variant.kind) {
    case Kind::ngram:
      counts = {as_double(ngram_count(right, variant.n)), as_double(ngram_count(left, variant.n)),
                as_double(ngram_hits_[static_cast<size_t>(variant.n) - 1])};
      return {counts, round_to_five_digits(ratio(counts.hits, counts.reference))};
    case Kind::skip:
    case Kind::skip_unigram: {
      const int64_t gap = options_.skip->gap;
      const bool unigrams = variant.kind == Kind::skip_unigram;
      counts = {as_double(skip_gram_count(right, gap, unigrams)),
                as_double(skip_gram_count(left, gap, unigrams)),
                as_double(grams_.skip_grams(reference.tokens, candidate.tokens, local_.types(), gap,
                                            unigrams))};
      return {counts, round_to_five_digits(ratio(counts.hits, counts.reference))};
    }
    case Kind::lcs:
      // Upstream divides by the sentences as ROUGE-L reads them, and by the candidate as ROUGE-1
      // does.
      counts = {static_cast<double>(reference.sentences.size()), static_cast<double>(left),
                as_double(lcs_.hits(reference, candidate, local_.types()))};
      return {counts, ratio(counts.hits, counts.reference)};
    case Kind::weighted_lcs: {
      const WeightedHits weighted =
          lcs_.weighted_hits(weighted_, reference, candidate, local_.types());
      // Upstream weighs the sum of the sentences' weights once more.
      counts = {std::pow(weighted.base, options_.weight->power), weighted_.weight(left),
                weighted.hits};
      return {counts, weighted_.inverse(weighted.hits / weighted.base)};
    }
  }
  return {};
}

Triple Scorer::triple(const Variant& variant, const Counts& counts) const {
  double recall = ratio(counts.hits, counts.reference);
  double precision = ratio(counts.hits, counts.candidate);
  if (variant.kind == Variant::Kind::weighted_lcs) {
    recall = weighted_.inverse(recall);
    precision = weighted_.inverse(precision);
  }
  Triple triple;
  triple.recall = round_to_five_digits(recall);
  triple.precision = round_to_five_digits(precision);
  triple.f = round_to_five_digits(f_measure(triple.recall, triple.precision, options_.alpha));
  return triple;
}

}  // namespace qfs::metrics::rouge155

#include "metrics/sacrebleu/bleu.h"

#include <algorithm>
#include <cmath>

namespace qfs::metrics {
namespace {

/// The logarithm of an order without a match; sacreBLEU's my_log.
constexpr double kLogOfZero = -9999999999.0;

double closest_length(size_t candidate, std::span<const BleuTokens> references) {
  const auto distance = [candidate](size_t length) {
    return length > candidate ? length - candidate : candidate - length;
  };
  size_t closest = references.front().size();
  for (const BleuTokens& reference : references) {
    const size_t length = reference.size();
    const bool nearer = distance(length) < distance(closest);
    if (nearer || (distance(length) == distance(closest) && length < closest)) closest = length;
  }
  return static_cast<double>(closest);
}

double brevity_penalty(const BleuCounts& counts) {
  if (counts.candidate_length >= counts.reference_length) return 1;
  if (!(counts.candidate_length > 0)) return 0;
  return std::exp(1 - counts.reference_length / counts.candidate_length);
}

}  // namespace

BleuCounts bleu_counts(const BleuTokens& candidate, std::span<const BleuTokens> references,
                       GramMatcher& matcher) {
  BleuCounts counts;
  counts.candidate_length = static_cast<double>(candidate.size());
  counts.reference_length = closest_length(candidate.size(), references);
  std::array<int64_t, kBleuOrder> matches{};
  matcher.match(candidate, references, matches);
  for (size_t n = 1; n <= kBleuOrder; ++n) {
    counts.matches[n - 1] = static_cast<double>(matches[n - 1]);
    counts.totals[n - 1] = candidate.size() < n ? 0 : static_cast<double>(candidate.size() - n + 1);
  }
  return counts;
}

double bleu_score(const BleuCounts& counts, const BleuScoring& scoring) {
  if (std::ranges::all_of(counts.matches, [](double m) { return m == 0; })) return 0;
  std::array<double, kBleuOrder> precisions{};
  size_t order = kBleuOrder;
  double halving = 1;
  for (size_t n = 1; n <= kBleuOrder; ++n) {
    double matches = counts.matches[n - 1];
    double total = counts.totals[n - 1];
    if (scoring.smoothing == BleuSmoothing::add_k && n > 1) {
      matches += scoring.value;
      total += scoring.value;
    }
    if (total == 0) break;
    if (scoring.effective_order) order = n;
    double& precision = precisions[n - 1];
    if (matches != 0) {
      precision = 100.0 * matches / total;
    } else if (scoring.smoothing == BleuSmoothing::exp) {
      halving *= 2;
      precision = 100.0 / (halving * total);
    } else if (scoring.smoothing == BleuSmoothing::floor) {
      precision = 100.0 * scoring.value / total;
    }
  }
  double logarithms = 0;
  for (size_t n = 0; n < order; ++n) {
    logarithms += precisions[n] == 0 ? kLogOfZero : std::log(precisions[n]);
  }
  return brevity_penalty(counts) * std::exp(logarithms / static_cast<double>(order));
}

}  // namespace qfs::metrics

#include "metrics/rouge/multi_reference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "harness/core/suggest.h"

namespace qfs::metrics {
namespace {

constexpr std::array<Prf RougeScores::*, kRougeVariants> kVariants = {
    &RougeScores::rouge1, &RougeScores::rouge2, &RougeScores::rougeL, &RougeScores::rougeLsum};
constexpr std::array<const char*, kRougeVariants> kVariantNames = {"rouge1", "rouge2", "rougeL",
                                                                   "rougeLsum"};
constexpr std::array<double Prf::*, 3> kValues = {&Prf::precision, &Prf::recall, &Prf::f};
constexpr std::array<const char*, 3> kValueNames = {".p", ".r", ".f"};

constexpr std::array<std::pair<const char*, MultiKind>, 6> kNames = {
    {{"max", MultiKind::max},
     {"mean", MultiKind::mean},
     {"first", MultiKind::first},
     {"best-recall", MultiKind::best_recall},
     {"pooled", MultiKind::pooled},
     {"jack-knife", MultiKind::jack_knife}}};

/// Per variant the entry with the largest `value`; `skip` is left out (size: nothing is).
RougeScores best_per_variant(std::span<const RougeScores> scores, double Prf::*value, size_t skip) {
  RougeScores best;
  for (Prf RougeScores::*variant : kVariants) {
    bool first = true;
    for (size_t i = 0; i < scores.size(); ++i) {
      if (i == skip) continue;
      const Prf& candidate = scores[i].*variant;
      if (first || candidate.*value > (best.*variant).*value) best.*variant = candidate;
      first = false;
    }
  }
  return best;
}

RougeScores mean_of(std::span<const RougeScores> scores) {
  RougeScores mean;
  for (Prf RougeScores::*variant : kVariants) {
    for (double Prf::*value : kValues) {
      double sum = 0;
      for (const RougeScores& entry : scores) sum += (entry.*variant).*value;
      (mean.*variant).*value = sum / static_cast<double>(scores.size());
    }
  }
  return mean;
}

RougeScores best_pair(std::span<const RougeScores> scores, size_t anchor) {
  size_t best = 0;
  for (size_t i = 1; i < scores.size(); ++i) {
    if (column_value(scores[i], anchor) > column_value(scores[best], anchor)) best = i;
  }
  return scores[best];
}

/// ROUGE-1.5.5 `-f A`: the candidate's total counts once a reference.
RougeScores pooled(std::span<const RougeScores> scores, std::span<const RougeLengths> lengths) {
  RougeScores result;
  for (size_t v = 0; v < kRougeVariants; ++v) {
    const auto units = [&](int64_t tokens) {
      return kVariants[v] == &RougeScores::rouge2 ? std::max<int64_t>(tokens - 1, 0) : tokens;
    };
    int64_t hits = 0;
    int64_t candidate = 0;
    int64_t reference = 0;
    for (size_t i = 0; i < scores.size(); ++i) {
      // Precision is hits / units, rounded once; times units it is off by far less than a half.
      const auto total = static_cast<double>(units(lengths[i].candidate));
      hits += std::llround((scores[i].*kVariants[v]).precision * total);
      candidate += units(lengths[i].candidate);
      reference += units(lengths[i].reference);
    }
    result.*kVariants[v] = make_prf(hits, candidate, reference);
  }
  return result;
}

/// With one reference there is nothing to leave out, and its scores are the result.
RougeScores jack_knife(std::span<const RougeScores> scores) {
  if (scores.size() == 1) return scores[0];
  std::vector<RougeScores> sets;
  for (size_t left_out = 0; left_out < scores.size(); ++left_out) {
    sets.push_back(best_per_variant(scores, &Prf::f, left_out));
  }
  return mean_of(sets);
}

}  // namespace

std::string rouge_column(size_t index) {
  return std::string(kVariantNames[index / 3]) + kValueNames[index % 3];
}

Result<MultiPolicy> parse_multi_policy(std::string_view text) {
  constexpr std::string_view kBest = "best:";
  std::vector<std::string> names;
  for (const auto& [name, kind] : kNames) {
    if (text == name) return MultiPolicy{kind};
    names.emplace_back(name);
  }
  names.emplace_back("best:rougeL.f");
  if (!text.starts_with(kBest)) {
    return invalid_argument(
        "option multi is '" + std::string(text) +
        "', expected max, best:COLUMN, mean, first, best-recall, pooled or jack-knife" +
        suggestion(text, names));
  }
  std::vector<std::string> columns;
  for (size_t i = 0; i < kRougeVariants * 3; ++i) {
    columns.push_back(rouge_column(i));
    if (text.substr(kBest.size()) == columns.back()) return MultiPolicy{MultiKind::best_pair, i};
  }
  return invalid_argument("option multi is '" + std::string(text) +
                          "', expected best: and a column such as rougeL.f" +
                          suggestion(text.substr(kBest.size()), columns));
}

std::string to_string(const MultiPolicy& policy) {
  for (const auto& [name, kind] : kNames) {
    if (kind == policy.kind) return name;
  }
  return "best:" + rouge_column(policy.anchor);
}

std::string multi_signature(const MultiPolicy& policy) {
  switch (policy.kind) {
    case MultiKind::max:
      return "max-f-per-metric";
    case MultiKind::best_pair:
      return "best-pair(" + rouge_column(policy.anchor) + ")";
    case MultiKind::mean:
      return "mean";
    case MultiKind::first:
      return "first";
    case MultiKind::best_recall:
      return "max-recall-per-metric";
    case MultiKind::pooled:
      return "pooled";
    case MultiKind::jack_knife:
      return "jack-knife(max-f-per-metric)";
  }
  return "";
}

double column_value(const RougeScores& scores, size_t index) {
  return (scores.*kVariants[index / 3]).*kValues[index % 3];
}

RougeScores combine_references(std::span<const RougeScores> scores,
                               std::span<const RougeLengths> lengths, const MultiPolicy& policy) {
  switch (policy.kind) {
    case MultiKind::max:
      return best_per_variant(scores, &Prf::f, scores.size());
    case MultiKind::best_pair:
      return best_pair(scores, policy.anchor);
    case MultiKind::mean:
      return mean_of(scores);
    case MultiKind::first:
      return scores[0];
    case MultiKind::best_recall:
      return best_per_variant(scores, &Prf::recall, scores.size());
    case MultiKind::pooled:
      return pooled(scores, lengths);
    case MultiKind::jack_knife:
      return jack_knife(scores);
  }
  return scores[0];
}

}  // namespace qfs::metrics

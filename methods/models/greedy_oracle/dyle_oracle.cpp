#include "methods/models/greedy_oracle/dyle_oracle.h"

#include <algorithm>

#include "methods/models/greedy_oracle/dyle_rouge.h"

namespace qfs::greedy_oracle {
namespace {

struct Candidate {
  size_t index = 0;
  DottedText text;
};

/// The texts of `chosen` (ascending) and `added`, in document order.
void join(const std::vector<Candidate>& candidates, const std::vector<size_t>& chosen, size_t added,
          std::vector<const DottedText*>& summary) {
  summary.clear();
  const auto append = [&](size_t i) { summary.push_back(&candidates[i].text); };
  const auto later = std::lower_bound(chosen.begin(), chosen.end(), added);
  std::for_each(chosen.begin(), later, append);
  append(added);
  std::for_each(later, chosen.end(), append);
}

}  // namespace

std::vector<size_t> dyle_oracle(const std::vector<std::string>& units,
                                const std::string& reference) {
  metrics::InternTable words;
  DyleRouge rouge(words);
  rouge.set_reference(cut_at_dots(reference, words));
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < units.size(); ++i) {
    if (units[i].empty() || units[i] == ".") continue;
    DottedText text = cut_at_dots(units[i], words);
    const DottedText* const alone[] = {&text};
    if (rouge.score(alone).value_or(0) > 0) candidates.push_back({i, std::move(text)});
  }

  std::vector<size_t> chosen;
  std::vector<const DottedText*> summary;
  double score = 0;
  while (true) {
    const size_t none = candidates.size();
    size_t best = none;
    double best_score = 0;
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (std::binary_search(chosen.begin(), chosen.end(), i)) continue;
      join(candidates, chosen, i, summary);
      const double attempt = rouge.score(summary).value_or(0);
      if (attempt <= best_score) continue;
      best_score = attempt;
      best = i;
    }
    if (best == none || best_score <= score) break;
    score = best_score;
    chosen.insert(std::lower_bound(chosen.begin(), chosen.end(), best), best);
  }
  for (size_t& i : chosen) i = candidates[i].index;
  return chosen;
}

std::vector<size_t> released_indices(const std::vector<std::string>& units,
                                     const std::vector<size_t>& chosen) {
  std::vector<size_t> indices;
  for (size_t i : chosen) {
    const auto first = std::find(units.begin(), units.end(), units[i]);
    indices.push_back(static_cast<size_t>(first - units.begin()));
  }
  return indices;
}

}  // namespace qfs::greedy_oracle

#include "harness/score/notes.h"

namespace qfs::score {

void ScoringNotes::add(const Metric& metric, std::span<const ScoreItem> items,
                       std::span<const std::string> places) {
  const std::string name(metric.name());
  scored_[name] += static_cast<int64_t>(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string_view note = metric.note(items[i]);
    if (note.empty()) continue;
    const auto [found, is_new] = causes_.try_emplace({name, std::string(note)});
    if (is_new) {
      found->second.first = places.empty() ? "item " + std::to_string(items[i].id) : places[i];
    }
    ++found->second.items;
  }
}

void ScoringNotes::add(const ScoringNotes& other) {
  for (const auto& [name, items] : other.scored_) scored_[name] += items;
  for (const auto& [cause, count] : other.causes_) {
    const auto [found, is_new] = causes_.try_emplace(cause, count);
    if (!is_new) found->second.items += count.items;
  }
}

std::vector<std::string> ScoringNotes::lines() const {
  std::vector<std::string> lines;
  for (const auto& [cause, count] : causes_) {
    const auto& [metric, note] = cause;
    lines.push_back(metric + ": " + note + " (" + std::to_string(count.items) + " of " +
                    std::to_string(scored_.at(metric)) + " items, the first is " + count.first +
                    ")");
  }
  return lines;
}

}  // namespace qfs::score

#include "harness/core/suggest.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace qfs {
namespace {

constexpr size_t kLongestName = 256;  // longer input is not a mistyped name; bounds the work
constexpr size_t kShortestPrefix = 2;
constexpr size_t kMostListed = 8;

std::string ascii_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

/// Restricted Damerau-Levenshtein distance in bytes: insert, delete, replace, swap of neighbours.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

bool is_prefix_pair(std::string_view a, std::string_view b) {
  return std::min(a.size(), b.size()) >= kShortestPrefix && (a.starts_with(b) || b.starts_with(a));
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view name,
                                        std::span<const std::string> candidates) {
  if (name.empty() || name.size() > kLongestName) return std::nullopt;
  const std::string wanted = ascii_lower(name);
  const std::string* best = nullptr;
  size_t best_distance = 0;
  for (const std::string& candidate : candidates) {
    if (candidate.empty() || candidate.size() > kLongestName) continue;
    const std::string offered = ascii_lower(candidate);
    const size_t allowed = std::max<size_t>(1, std::max(wanted.size(), offered.size()) / 3);
    const size_t distance = edit_distance(wanted, offered);
    if (distance > allowed && !is_prefix_pair(wanted, offered)) continue;
    // Of a score's columns that are as near, F is what papers mean.
    const bool nearer =
        distance < best_distance || (distance == best_distance && offered.ends_with(".f"));
    if (best == nullptr || nearer) {
      best = &candidate;
      best_distance = distance;
    }
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

std::string suggestion(std::string_view name, std::span<const std::string> candidates) {
  if (const std::optional<std::string> nearest = nearest_name(name, candidates)) {
    return " (did you mean '" + *nearest + "'?)";
  }
  if (candidates.empty() || candidates.size() > kMostListed) return "";
  std::string list = " (valid: ";
  for (const std::string& candidate : candidates) {
    if (&candidate != &candidates.front()) list += ", ";
    list += candidate;
  }
  return list + ")";
}

}  // namespace qfs

#include "harness/plan/select.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <utility>

#include "harness/core/json_dom.h"
#include "harness/core/sha256.h"

namespace qfs::plan {

namespace {

/// The `count` ordinals with the smallest hashes, ascending.
std::vector<int64_t> smallest_hashes(const Dataset& dataset, std::span<const int64_t> ordinals,
                                     size_t count, std::optional<uint64_t> draw = {}) {
  const std::string drawn = draw ? "\n" + std::to_string(*draw) : "";
  std::vector<std::pair<std::string, int64_t>> hashed;
  for (int64_t ordinal : ordinals) {
    const Example& example = dataset.examples[static_cast<size_t>(ordinal)];
    hashed.emplace_back(sha256_hex(dataset.id.hex() + example.key + drawn), ordinal);
  }
  std::sort(hashed.begin(), hashed.end());
  std::vector<int64_t> chosen;
  for (size_t i = 0; i < std::min(count, hashed.size()); ++i) chosen.push_back(hashed[i].second);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

int64_t count_words(std::string_view text) {
  int64_t words = 0;
  bool inside = false;
  for (char c : text) {
    const bool space = c == ' ' || (c >= '\t' && c <= '\r');
    words += !space && !inside ? 1 : 0;
    inside = !space;
  }
  return words;
}

}  // namespace

std::vector<int64_t> select_examples(const Dataset& dataset, const Selection& selection) {
  std::vector<int64_t> ordinals(dataset.examples.size());
  std::iota(ordinals.begin(), ordinals.end(), int64_t{0});
  if (selection.sample && *selection.sample < static_cast<int64_t>(ordinals.size())) {
    const auto count = static_cast<size_t>(*selection.sample);
    ordinals = smallest_hashes(dataset, ordinals, count, selection.draw);
  }
  if (selection.limit && *selection.limit < static_cast<int64_t>(ordinals.size())) {
    ordinals.resize(static_cast<size_t>(*selection.limit));
  }
  return ordinals;
}

std::vector<int64_t> select_measured(const Dataset& dataset, std::span<const int64_t> ordinals,
                                     int64_t examples) {
  return smallest_hashes(dataset, ordinals, static_cast<size_t>(examples));
}

std::map<int64_t, int64_t> other_examples(const Dataset& dataset, std::span<const int64_t> ordinals,
                                          std::string Example::*of, bool words) {
  struct Alike {
    std::vector<int64_t> all;
    std::vector<int64_t> givers;
  };
  std::map<std::string, Alike> groups;  // by hash
  for (int64_t ordinal : ordinals) {
    const Example& example = dataset.examples[static_cast<size_t>(ordinal)];
    Alike& group = groups[sha256_hex(dataset.id.hex() + example.*of)];
    group.all.push_back(ordinal);
    if (!words || has_text(example)) group.givers.push_back(ordinal);
  }
  std::map<int64_t, int64_t> others;
  for (auto own = groups.begin(); own != groups.end(); ++own) {
    auto next = own;
    do {
      if (++next == groups.end()) next = groups.begin();
    } while (next != own && next->second.givers.empty());
    if (next == own) return {};
    const std::vector<int64_t>& givers = next->second.givers;
    for (size_t i = 0; i < own->second.all.size(); ++i) {
      others[own->second.all[i]] = givers[i % givers.size()];
    }
  }
  return others;
}

Result<Json> selection_json(const Dataset& dataset, const Selection& selection) {
  const auto all = static_cast<int64_t>(dataset.examples.size());
  const bool sampled = selection.sample && *selection.sample < all;
  const int64_t remaining = sampled ? *selection.sample : all;
  nlohmann::json object = nlohmann::json::object();
  if (sampled) object["sample"] = *selection.sample;
  if (sampled && selection.draw) object["draw"] = *selection.draw;
  if (selection.limit && *selection.limit < remaining) object["limit"] = *selection.limit;
  return canonical_json(object);
}

DatasetStats dataset_stats(const Dataset& dataset, std::span<const int64_t> ordinals) {
  DatasetStats stats;
  stats.examples = static_cast<int64_t>(ordinals.size());
  if (ordinals.empty()) return stats;
  int64_t document_words = 0;
  int64_t query_words = 0;
  for (int64_t ordinal : ordinals) {
    const Example& example = dataset.examples[static_cast<size_t>(ordinal)];
    document_words += count_words(rendered_document(example));
    query_words += count_words(example.query);
  }
  const auto n = static_cast<double>(stats.examples);
  stats.mean_document_words = static_cast<double>(document_words) / n;
  stats.mean_query_words = static_cast<double>(query_words) / n;
  return stats;
}

}  // namespace qfs::plan

#include "harness/cli/compare_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <unordered_map>
#include <utility>

#include "harness/score/score.h"

namespace qfs::cli {
namespace {

constexpr std::string_view kStoreHeader = "SQLite format 3";  // sqlite.org/fileformat, 1.3.1
constexpr size_t kNamed = 3;                                  ///< ids that a message names

bool has_ending(std::string_view path, std::initializer_list<std::string_view> endings) {
  for (std::string_view packed : {".gz", ".zst"}) {
    if (path.ends_with(packed)) path.remove_suffix(packed.size());
  }
  return std::ranges::any_of(endings, [&](std::string_view end) { return path.ends_with(end); });
}

bool is_store(const std::string& path) {
  std::error_code ignored;  // of a pipe nothing may be read here
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  std::array<char, kStoreHeader.size()> start{};
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), start.size());
  return file.gcount() == static_cast<std::streamsize>(start.size()) &&
         std::string_view(start.data(), start.size()) == kStoreHeader;
}

ScoreFilesOptions with_file(ScoreFilesOptions options, const std::string& file) {
  const bool records = !options.from.empty() || !options.fields.empty() || file == "-" ||
                       has_ending(file, {".json", ".jsonl", ".ndjson"});
  (records ? options.records : options.predictions) = file;
  return options;
}

std::string some_of(const std::vector<std::string>& ids) {
  const size_t named = std::min(ids.size(), kNamed);
  return fmt::format("{} ({}{})", ids.size(), fmt::join(ids.begin(), ids.begin() + named, ", "),
                     named < ids.size() ? ", …" : "");
}

/// Items of A and of B with the same id.
struct Pairs {
  std::vector<std::pair<size_t, size_t>> items;  ///< in A's order
  std::vector<std::string> only_a;
  std::vector<std::string> only_b;
};

Pairs pairs_by_id(const ScoredItems& a, const ScoredItems& b) {
  std::unordered_map<std::string_view, size_t> places;
  for (size_t i = 0; i < b.ids.size(); ++i) places.emplace(b.ids[i], i);
  Pairs pairs;
  std::vector<bool> used(b.ids.size(), false);
  for (size_t i = 0; i < a.ids.size(); ++i) {
    const auto found = places.find(a.ids[i]);
    if (found == places.end()) {
      pairs.only_a.push_back(a.ids[i]);
    } else {
      pairs.items.emplace_back(i, found->second);
      used[found->second] = true;
    }
  }
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) pairs.only_b.push_back(b.ids[i]);
  }
  return pairs;
}

/// Two files can be compared when they are about the same items under the same references.
Status check_pairs(const Pairs& pairs, const ScoredItems& a, const ScoredItems& b,
                   MissingPolicy missing) {
  if (pairs.items.empty()) {
    return data_error(fmt::format("A and B have no id in common: A has {}, B has {}",
                                  some_of(a.ids), some_of(b.ids)));
  }
  if (missing != MissingPolicy::skip && !(pairs.only_a.empty() && pairs.only_b.empty())) {
    return data_error(fmt::format(
        "A and B are not about the same items: only in A {}, only in B {}; --missing skip compares "
        "the others",
        some_of(pairs.only_a), some_of(pairs.only_b)));
  }
  for (const auto& [i, j] : pairs.items) {
    if (a.reference_hashes[i] != b.reference_hashes[j]) {
      return data_error("item '" + a.ids[i] +
                        "' has other references in A than in B, so its scores cannot be compared; "
                        "--refs gives both the same");
    }
    if (a.unit != b.unit || (a.unit != "item" && a.clusters[i] != b.clusters[j])) {
      return data_error(
          fmt::format("item '{}' is of {} '{}' in A and of {} '{}' in B; tests exchange whole ones",
                      a.ids[i], a.unit, a.clusters[i], b.unit, b.clusters[j]));
    }
  }
  return {};
}

/// Whether the corpus value of each column is the mean of its items.
std::vector<bool> means_of(const score::TextScore& score) {
  constexpr double kTolerance = 1e-9;
  std::vector<bool> is_mean(score.columns.size());
  for (size_t c = 0; c < is_mean.size(); ++c) {
    double sum = 0;
    for (const Statistics& row : score.statistics) sum += row[c];
    const double mean = sum / static_cast<double>(score.statistics.size());
    is_mean[c] = std::abs(score.values[c].value - mean) <= kTolerance;
  }
  return is_mean;
}

score::PairedStatistics paired_of(const Pairs& pairs, const ScoredItems& items,
                                  const score::TextScore& a, const score::TextScore& b) {
  score::PairedStatistics paired;
  paired.columns = a.columns;
  paired.is_mean = means_of(a);
  const std::vector<bool> of_b = means_of(b);
  for (size_t c = 0; c < of_b.size(); ++c) paired.is_mean[c] = paired.is_mean[c] && of_b[c];
  for (const auto& [i, j] : pairs.items) {
    paired.ordinals.push_back(static_cast<int64_t>(i));
    paired.ids.push_back(items.ids[i]);
    paired.clusters.push_back(items.clusters[i]);
    paired.first.push_back(a.statistics[i]);
    paired.second.push_back(b.statistics[j]);
  }
  paired.only_first = static_cast<int64_t>(pairs.only_a.size());
  paired.only_second = static_cast<int64_t>(pairs.only_b.size());
  return paired;
}

}  // namespace

bool is_prediction_file(const std::string& argument) {
  if (argument == "-") return true;
  std::error_code ignored;
  if (std::filesystem::exists(argument, ignored)) {
    return !std::filesystem::is_directory(argument, ignored) && !is_store(argument);
  }
  return has_ending(argument, {".json", ".jsonl", ".ndjson", ".txt"});
}

Result<std::vector<Comparison>> compare_files(const std::string& a, const std::string& b,
                                              const ScoreFilesOptions& common,
                                              const ComparisonRequest& request) {
  if (a == "-" && b == "-") {
    return invalid_argument("standard input ('-') can be read once only");
  }
  Catalogs catalogs;
  catalogs.set_metric_threads(common.threads);
  const Result<MeasuredFiles> first = measure_files(with_file(common, a), catalogs);
  if (!first) return first.error();
  const Result<MeasuredFiles> second = measure_files(with_file(common, b), catalogs);
  if (!second) return second.error();
  const Pairs pairs = pairs_by_id(first->items, second->items);
  if (Status status = check_pairs(pairs, first->items, second->items, common.missing); !status) {
    return status.error();
  }
  std::vector<std::string> columns;
  for (const score::TextScore& score : first->scores) {
    columns.insert(columns.end(), score.columns.begin(), score.columns.end());
  }
  if (Status known = check_columns(columns, request); !known) return known.error();

  std::vector<Comparison> comparisons;
  for (size_t m = 0; m < first->scores.size(); ++m) {
    const score::TextScore& score = first->scores[m];
    const auto paired = paired_of(pairs, first->items, score, second->scores[m]);
    Result<Comparison> comparison = compare_metric(paired, request, score.metric.get());
    if (!comparison) return comparison.error();
    if (comparison->columns.empty() && comparison->left_out.empty()) continue;
    comparison->a = a;
    comparison->b = b;
    comparison->metric = first->names[m];
    comparison->signature = score::scored_signature(*score.metric, first->items.postprocess);
    comparison->unit = first->items.unit;
    comparisons.push_back(*std::move(comparison));
  }
  return comparisons;
}

}  // namespace qfs::cli

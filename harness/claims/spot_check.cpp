#include "harness/claims/spot_check.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "harness/core/counted.h"
#include "harness/core/rng.h"
#include "harness/store/reader.h"

namespace qfs::claims {
namespace {

constexpr double kMiss = 0.05;  ///< probability that the bound is too small
constexpr size_t kNamed = 10;   ///< keys in a list

/// Probability of at most `k` of `n` when each has the probability `p`.
double at_most(int64_t k, int64_t n, double p) {
  double term = std::exp(static_cast<double>(n) * std::log1p(-p));
  double sum = term;
  for (int64_t i = 1; i <= k; ++i) {
    term *= static_cast<double>(n - i + 1) / static_cast<double>(i) * p / (1 - p);
    sum += term;
  }
  return sum;
}

/// Runs of white space as one blank: a file of lines cannot hold a text's line breaks.
std::string on_one_line(std::string_view text) {
  std::string line;
  bool gap = false;
  for (const char c : text) {
    const bool space = c == ' ' || (c >= '\t' && c <= '\r');
    if (!space && gap && !line.empty()) line += ' ';
    if (!space) line += c;
    gap = space;
  }
  return line;
}

/// A folder that disappears with its owner.
class PrivateFolder {
 public:
  static Result<PrivateFolder> make() {
    std::string path = (std::filesystem::temp_directory_path() / "qfs_spot_XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) {
      return unavailable("cannot make a temporary folder in " +
                         std::filesystem::temp_directory_path().string());
    }
    PrivateFolder folder;
    folder.path_ = path;
    return folder;
  }
  PrivateFolder() = default;
  PrivateFolder(PrivateFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  ~PrivateFolder() {
    std::error_code ignored;  // what is left is in the system's temporary folder
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Cuts the plan's cell down to these examples: its outputs are those of the whole cell, since no
/// method's output depends on what else is asked for.
void keep_only(plan::Plan& plan, const std::vector<int64_t>& ordinals) {
  plan::PlannedDataset& data = plan.datasets[plan.cells.front().dataset];
  data.ordinals = ordinals;
  data.measure_ordinals.clear();
  plan::Cell& cell = plan.cells.front();
  cell.units = cell.spec->units(cell.params, data.numbered(ordinals));
}

/// Outputs of examples that the cell leaves out: the number is of them too, the check would not be.
Status covers(const plan::PlannedDataset& data, const plan::ImportedFile& outputs,
              int64_t present) {
  const int64_t all = std::ranges::count_if(
      outputs.rows, [](const plan::ImportedRow& row) { return row.text.has_value(); });
  if (all == present) return {};
  return data_error(
      fmt::format("{} of {} in the file are of examples that the cell leaves out, which has {} of "
                  "the data set's {}; name a cell of the whole split",
                  all - present, counted(all, "output"), data.ordinals.size(),
                  data.data->examples.size()),
      outputs.path);
}

std::vector<std::string> on_lines(const std::vector<std::string>& texts) {
  std::vector<std::string> lines;
  for (const std::string& text : texts) lines.push_back(on_one_line(text));
  std::ranges::sort(lines);
  return lines;
}

/// Keys of the examples that were scored with other references than the data set has.
Result<std::vector<std::string>> other_references(const ScoredFile& file, const Dataset& data) {
  std::unordered_map<std::string_view, const Example*> examples;
  for (const Example& example : data.examples) examples.emplace(example.key, &example);
  const std::vector<ScoreItem>& items = file.items.items;
  if (file.outputs.by_position && items.size() != data.examples.size()) {
    return data_error(fmt::format("{} were scored, and the cell's data set has {}",
                                  counted(items.size(), "line"), data.examples.size()),
                      file.outputs.path);
  }
  std::vector<std::string> keys;
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string& key = file.outputs.by_position ? data.examples[i].key : file.items.ids[i];
    const auto example = examples.find(key);
    if (example == examples.end()) {
      return data_error("'" + key + "' was scored, and is no example of the cell's data set",
                        file.outputs.path);
    }
    if (on_lines(items[i].references) == on_lines(example->second->references)) continue;
    keys.push_back(key);
  }
  return keys;
}

/// "e1, e2, e3, …": as many keys as a reader needs to look.
std::string some(const std::vector<std::string>& keys) {
  const size_t shown = std::min(keys.size(), kNamed);
  return fmt::format("{}{}",
                     fmt::join(keys.begin(), keys.begin() + static_cast<int64_t>(shown), ", "),
                     shown < keys.size() ? ", …" : "");
}

}  // namespace

double upper_bound(int64_t examples, int64_t different) {
  if (different >= examples) return 1;
  if (different == 0) return 1 - std::pow(kMiss, 1 / static_cast<double>(examples));
  double low = 0;
  double high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (at_most(different, examples, middle) > kMiss ? low : high) = middle;
  }
  return high;
}

std::vector<int64_t> drawn(int64_t all, int64_t count, uint64_t seed) {
  std::vector<int64_t> positions(static_cast<size_t>(all));
  std::iota(positions.begin(), positions.end(), int64_t{0});
  Rng rng = Rng::derived(seed, "spot-check");
  rng.shuffle(positions);
  positions.resize(static_cast<size_t>(std::min(all, count)));
  std::ranges::sort(positions);
  return positions;
}

Result<SpotCheck> spot_check(plan::Plan plan, const ScoredFile& file, int64_t count, uint64_t seed,
                             const run::RunOptions& options, run::Progress& progress) {
  if (plan.cells.size() != 1) {
    return invalid_argument(fmt::format("{} of the sweep match; the column 'cell' must choose one",
                                        counted(plan.cells.size(), "cell")));
  }
  const plan::PlannedDataset& data = plan.datasets[plan.cells.front().dataset];
  const plan::ImportedFile& outputs = file.outputs;
  const auto claimed = plan::match_imported(outputs, *data.data, data.ordinals, true);
  if (!claimed) return claimed.error();
  const std::unordered_set<int64_t> missing(claimed->missing.begin(), claimed->missing.end());
  std::vector<int64_t> present = data.ordinals;
  std::erase_if(present, [&](int64_t ordinal) { return missing.contains(ordinal); });
  if (present.empty()) return data_error("there is no output of the cell's examples", outputs.path);
  SpotCheck check;
  check.of = std::ssize(present);
  if (Status whole = covers(data, outputs, check.of); !whole) return whole.error();
  Result<std::vector<std::string>> others = other_references(file, *data.data);
  if (!others) return others.error();
  check.other_references = *std::move(others);
  check.missing = std::ssize(claimed->missing);
  std::vector<int64_t> ordinals;
  for (const int64_t position : drawn(check.of, count, seed)) {
    ordinals.push_back(present[static_cast<size_t>(position)]);
  }
  keep_only(plan, ordinals);
  const Result<PrivateFolder> folder = PrivateFolder::make();
  if (!folder) return folder.error();
  Result<store::Store> store = store::Store::open(folder->path() + "/spot.sqlite");
  if (!store) return store.error();
  run::RunOptions quality = options;
  quality.measure = false;
  const Result<run::RunSummary> summary = run::run_plan(plan, *store, quality, progress);
  if (!summary) return summary.error();
  if (summary->interrupted_by != 0) return SpotCheck{.interrupted_by = summary->interrupted_by};
  if (summary->results.empty() || !summary->results.front().predict) {
    return unavailable("the examples of the spot check could not be generated");
  }
  Result<store::Reader> reader = store::Reader::open(store->path());
  if (!reader) return reader.error();
  const auto rows = reader->outputs(*summary->results.front().predict);
  if (!rows) return rows.error();
  if (rows->size() != ordinals.size()) {
    return unavailable(fmt::format("{} of {} of the spot check were generated", rows->size(),
                                   counted(ordinals.size(), "example")));
  }
  for (const store::OutputRow& row : *rows) {
    ++check.examples;
    const std::string& claim = claimed->texts.at(row.ordinal);
    const bool equal = outputs.by_position ? on_one_line(claim) == on_one_line(row.prediction.text)
                                           : claim == row.prediction.text;
    if (equal) continue;
    check.different.push_back(data.data->examples[static_cast<size_t>(row.ordinal)].key);
  }
  return check;
}

std::string bound_text(const SpotCheck& check, uint64_t seed) {
  const auto different = static_cast<int64_t>(check.different.size());
  const std::string found =
      different == 0 ? std::string("all are equal") : counted(different, "differs", "differ");
  std::string text;
  if (check.examples == check.of) {
    text = fmt::format("All of {} were generated again: {}.", counted(check.of, "output"), found);
  } else {
    text = fmt::format(
        "{} of {}, drawn by seed {}, were generated again: {}. With 95 % confidence at most "
        "{:.1f} % of the outputs differ from what the method gives.",
        check.examples, counted(check.of, "output"), seed, found,
        100 * upper_bound(check.examples, different));
  }
  if (check.missing > 0) {
    text += fmt::format(" {} no output.", counted(check.missing, "example has", "examples have"));
  }
  if (different > 0) text += fmt::format(" Different: {}.", some(check.different));
  if (check.other_references.empty()) {
    text += " The references are those of the data set.";
  } else {
    text += fmt::format(" The references of {} are not those of the data set: {}.",
                        counted(check.other_references.size(), "example"),
                        some(check.other_references));
  }
  return text;
}

}  // namespace qfs::claims

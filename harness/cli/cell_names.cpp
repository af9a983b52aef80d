#include "harness/cli/cell_names.h"

#include <fmt/format.h>

#include <cmath>

#include "harness/plan/param_values.h"

namespace qfs::cli {
CellNames::CellNames(const plan::Plan& plan) : plan_(plan) {
  std::map<std::pair<std::string, std::string>, std::set<std::string>> values;
  std::set<size_t> datasets;
  std::set<uint64_t> seeds;
  std::set<std::string> backbones;
  for (const plan::Cell& cell : plan.cells) {
    for (const auto& [name, value] : cell.params.values()) {
      values[{cell.label, name}].insert(plan::value_text(value));
    }
    datasets.insert(cell.dataset);
    seeds.insert(cell.shown_seeds.begin(), cell.shown_seeds.end());
    if (cell.backbone) backbones.insert(cell.backbone->name);
  }
  for (const auto& [key, seen] : values) {
    if (seen.size() > 1) varying_[key.first].insert(key.second);
  }
  several_datasets_ = datasets.size() > 1;
  several_seeds_ = seeds.size() > 1;
  several_backbones_ = backbones.size() > 1;
}

/// The label with what varies among the cells of that label, but for data and seed.
std::string CellNames::with_varying(const plan::Cell& cell) const {
  std::string name = cell.label;
  if (several_backbones_ && cell.backbone) name += " backbone=" + cell.backbone->name;
  if (auto it = varying_.find(cell.label); it != varying_.end()) {
    for (const std::string& param : it->second) {
      auto value = cell.params.values().find(param);
      if (value == cell.params.values().end()) continue;
      name += fmt::format(" {}={}", param, plan::value_text(value->second));
    }
  }
  return name;
}

std::string CellNames::of_training(const plan::Cell& cell) const {
  std::string name = "train#" + cell.id.short_hex() + " " + with_varying(cell);
  if (several_seeds_) name += fmt::format(" seed={}", cell.seed);
  return name;
}

std::string CellNames::of(const plan::Cell& cell) const {
  std::string name = with_varying(cell);
  if (several_datasets_) name += " dataset=" + plan_.datasets[cell.dataset].name;
  if (several_seeds_) name += fmt::format(" seed={}", fmt::join(cell.shown_seeds, "|"));
  return name;
}

std::string duration_text(double seconds) {
  constexpr int64_t kMinute = 60;
  constexpr int64_t kHour = 3600;
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const int64_t whole = std::llround(seconds);
  if (whole < kMinute) return fmt::format("{} s", whole);
  if (whole < kHour) return fmt::format("{} min {:02} s", whole / kMinute, whole % kMinute);
  return fmt::format("{} h {:02} min", whole / kHour, whole % kHour / kMinute);
}

}  // namespace qfs::cli

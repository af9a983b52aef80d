#include "harness/run/memory_policy.h"

#include <algorithm>
#include <numeric>

#include "harness/run/ways.h"

namespace qfs::run {

MemoryPolicy::MemoryPolicy(const plan::Plan& plan)
    : order_(plan.cells.size()), places_(plan.cells.size()) {
  std::iota(order_.begin(), order_.end(), size_t{0});
  const auto& policy = plan.experiment.out_of_memory;
  if (!policy) return;
  parameter_ = policy->implied_by;
  halves_ = policy->halve_batch;
  if (!parameter_.empty()) sort_kinds(plan);
}

void MemoryPolicy::sort_kinds(const plan::Plan& plan) {
  std::map<std::string, std::vector<size_t>> kinds;
  for (size_t i = 0; i < plan.cells.size(); ++i) {
    places_[i] = plan::memory_kind(plan, plan.cells[i]);
    if (places_[i]) kinds[places_[i]->kind].push_back(i);
  }
  for (const auto& [kind, cells] : kinds) {
    std::vector<size_t> sorted = cells;
    std::ranges::stable_sort(sorted, {}, [&](size_t i) { return places_[i]->length; });
    for (size_t i = 0; i < cells.size(); ++i) order_[cells[i]] = sorted[i];
  }
}

void MemoryPolicy::ran_out(size_t cell) {
  if (!places_[cell]) return;
  const auto [known, fresh] = ran_out_at_.emplace(places_[cell]->kind, places_[cell]->length);
  if (!fresh) known->second = std::min(known->second, places_[cell]->length);
}

std::optional<std::string> MemoryPolicy::implied(size_t cell) const {
  if (!places_[cell]) return std::nullopt;
  const auto known = ran_out_at_.find(places_[cell]->kind);
  if (known == ran_out_at_.end() || known->second >= places_[cell]->length) return std::nullopt;
  return parameter_ + "=" + std::to_string(known->second) + " ran out of memory";
}

std::optional<int64_t> MemoryPolicy::smaller_batch(const plan::Cell& cell) const {
  const std::optional<int64_t> batch = batch_size_of(cell);
  if (!halves_ || !batch || *batch < 2) return std::nullopt;
  if (!check_batch_size(cell, *batch / 2)) return std::nullopt;
  return *batch / 2;
}

}  // namespace qfs::run

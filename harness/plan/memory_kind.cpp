#include "harness/plan/memory_kind.h"

#include <nlohmann/json.hpp>
#include <variant>

#include "harness/plan/param_values.h"

namespace qfs::plan {

std::optional<MemoryKind> memory_kind(const Plan& plan, const Cell& cell) {
  const auto& policy = plan.experiment.out_of_memory;
  if (!policy || policy->implied_by.empty()) return std::nullopt;
  const auto value = cell.params.values().find(policy->implied_by);
  if (value == cell.params.values().end()) return std::nullopt;
  const auto* const length = std::get_if<int64_t>(&value->second);
  if (length == nullptr) return std::nullopt;
  nlohmann::json identity = nlohmann::json::parse(cell.identity.text);
  identity["params"].erase(policy->implied_by);
  const nlohmann::json numerics = params_json(*cell.spec, cell.params, true);
  return MemoryKind{cell.label + '\n' + identity.dump() + '\n' + numerics.dump(), *length};
}

}  // namespace qfs::plan

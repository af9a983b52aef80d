#include "harness/run/ways.h"

#include <algorithm>

#include "harness/plan/param_values.h"
#include "harness/run/cell_run.h"

namespace qfs::run {
namespace {

constexpr const char* kBatchSize = "batch_size";

}  // namespace

std::optional<int64_t> batch_size_of(const plan::Cell& cell) {
  const std::vector<ParamSpec> specs = cell.spec->params();
  const ParamSpec* const spec = plan::find_param(specs, kBatchSize);
  if (spec == nullptr || !spec->numerics || spec->type != ParamType::integer) return std::nullopt;
  return cell.params.find<int64_t>(kBatchSize);
}

Status check_batch_size(const plan::Cell& cell, int64_t batch_size) {
  const std::vector<ParamSpec> specs = cell.spec->params();
  const ParamSpec* const spec = plan::find_param(specs, kBatchSize);
  const auto size = static_cast<double>(batch_size);
  if (spec != nullptr &&
      ((spec->minimum && size < *spec->minimum) || (spec->maximum && size > *spec->maximum))) {
    return invalid_argument("'" + std::string(cell.spec->name()) + "' takes no batch of " +
                            std::to_string(batch_size));
  }
  Params params = cell.params;
  params.set(kBatchSize, batch_size);
  return cell.spec->validate(params);
}

plan::Cell in_another_way(const plan::Plan& plan, const plan::Cell& cell, const Way& way) {
  plan::Cell other = cell;
  if (way.batch_size) other.params.set(kBatchSize, *way.batch_size);
  other.reversed = way.reversed;
  std::vector<NumberedExample> examples =
      examples_of(plan, cell, plan.datasets[cell.dataset].ordinals);
  if (way.reversed) std::ranges::reverse(examples);
  other.units = other.spec->units(other.params, examples);
  return other;
}

}  // namespace qfs::run

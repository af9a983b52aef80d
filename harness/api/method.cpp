#include "harness/api/method.h"

#include <algorithm>

namespace qfs {

std::vector<Unit> MethodSpec::units(const Params& params,
                                    std::span<const NumberedExample> examples) const {
  const auto batch_size = static_cast<size_t>(params.find<int64_t>("batch_size").value_or(1));
  std::vector<Unit> units;
  for (size_t begin = 0; begin < examples.size(); begin += batch_size) {
    Unit& unit = units.emplace_back();
    const size_t end = std::min(begin + batch_size, examples.size());
    for (size_t i = begin; i < end; ++i) unit.ordinals.push_back(examples[i].ordinal);
  }
  return units;
}

}  // namespace qfs

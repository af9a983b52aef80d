#include "reports/trainings.h"

#include <algorithm>

namespace qfs::reports {

Result<std::vector<CellId>> trainings_behind(store::Reader& reader, const store::CellRow& cell) {
  std::vector<CellId> found;
  const auto add = [&](const store::CellRow& row) {
    for (const store::Dependency& dependency : row.dependencies) {
      const CellId& id = dependency.training_cell;
      if (!id.empty() && std::ranges::count(found, id) == 0) found.push_back(id);
    }
  };
  add(cell);
  for (size_t i = 0; i < found.size(); ++i) {
    const auto training = reader.cell(found[i]);
    if (!training) return training.error();
    add(*training);
  }
  return found;
}

}  // namespace qfs::reports

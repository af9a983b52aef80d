#include "harness/gate/calibrate.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/gate/repeats.h"
#include "metrics/stats/power.h"
#include "metrics/stats/randomization.h"

namespace qfs::gate {
namespace {

using compare::Cells;
using compare::StoredCell;

constexpr std::array<int64_t, 3> kRepeats = {1, 2, 4};

/// Cells of other seeds, each once: a seed that does not matter makes no second run.
Cells distinct_runs(const Cells& group) {
  Cells runs;
  for (const StoredCell* cell : group) {
    const bool again = std::ranges::any_of(
        runs, [&](const StoredCell* other) { return other->cell.id == cell->cell.id; });
    if (!again && cell->predict && !cell->scores.empty()) runs.push_back(cell);
  }
  return runs;
}

class Calibrator {
 public:
  Calibrator(const compare::StoredSide& side, const std::map<std::string, double>& drops,
             const compare::Request& request, const MetricCatalog& catalog)
      : side_(side), drops_(drops), request_(request), catalog_(catalog) {}

  Result<Calibration> run() {
    const auto shown = compare::telling_dimensions(side_.cells);
    auto without_seed = shown;
    without_seed.erase("seed");
    without_seed.erase("cell");
    for (const Cells& group : groups_of_repeats(side_.cells)) {
      const Cells runs = distinct_runs(group);
      const std::string name = compare::cell_name(*group.front(), without_seed);
      if (runs.size() < 2) {
        calibration_.left_out.push_back({name, "one run; \"seeds\": [0, 1, 2] makes three"});
      } else if (Status added = add(name, runs); !added) {
        return added.error();
      }
    }
    calibration_.tests = std::max<int64_t>(1, std::ssize(calibration_.cells));
    for (Calibrated& cell : calibration_.cells) ask_needed(cell);
    return std::move(calibration_);
  }

 private:
  Status add(const std::string& name, const Cells& runs) {
    std::map<std::string, Calibrated> columns;
    for (const auto& [column, drop] : drops_) {
      columns[column] = {.cell = name, .column = column, .drop = drop, .runs = runs.size()};
    }
    std::map<std::string, double> variances;
    for (size_t i = 0; i < runs.size(); ++i) {
      for (size_t j = i + 1; j < runs.size(); ++j) {
        // Named: one such cell a side is a pair whatever its id.
        const compare::StoredSide a{side_.name + " A", side_.source, {runs[i]}, true};
        const compare::StoredSide b{side_.name + " B", side_.source, {runs[j]}, true};
        const auto compared = compare::compare_stores(a, b, request_, catalog_, {});
        if (!compared) return compared.error();
        for (const compare::Comparison& comparison : compared->comparisons) {
          for (const compare::ComparedColumn& column : comparison.columns) {
            if (!column.decision || !columns.contains(column.name)) continue;
            Calibrated& own = columns[column.name];
            ++own.pairs;
            own.alarms += column.decision->verdict == compare::Verdict::worse ? 1 : 0;
            own.clusters = column.decision->clusters;
            variances[column.name] +=
                column.decision->standard_error * column.decision->standard_error;
          }
        }
      }
    }
    for (auto& [column, own] : columns) {
      if (own.pairs == 0) {
        calibration_.left_out.push_back({name, "no score of all runs has '" + column + "'"});
        continue;
      }
      own.standard_error = std::sqrt(variances[column] / static_cast<double>(own.pairs));
      calibration_.cells.push_back(std::move(own));
    }
    return {};
  }

  void ask_needed(Calibrated& cell) const {
    const double level = request_.level / static_cast<double>(calibration_.tests);
    const auto margin = request_.margins.find(cell.column);
    const double gap = cell.drop - (margin == request_.margins.end() ? 0 : margin->second.size);
    const int64_t fewest = metrics::clusters_for_p(level, metrics::Alternative::less);
    for (const int64_t repeats : kRepeats) {
      const double error = cell.standard_error / std::sqrt(static_cast<double>(repeats));
      cell.needed[repeats] =
          std::max(fewest, metrics::clusters_needed(cell.clusters, error, gap, level));
    }
  }

  const compare::StoredSide& side_;
  const std::map<std::string, double>& drops_;
  const compare::Request& request_;
  const MetricCatalog& catalog_;
  Calibration calibration_;
};

}  // namespace

Result<Calibration> calibrate(const compare::StoredSide& side,
                              const std::map<std::string, double>& drops,
                              const compare::Request& request, const MetricCatalog& catalog) {
  return Calibrator(side, drops, request, catalog).run();
}

}  // namespace qfs::gate

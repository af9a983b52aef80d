// Statistics of data sets as papers' tables print them: counts and means over documents, examples
// or references, over one split or several.
//
// Called by claims and the command line. Pure; thread-safe. Words are those of check.h. `not_found`
// names the nearest statistic.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "harness/api/dataset.h"
#include "harness/api/result.h"

namespace qfs::datasets {

struct StatisticInfo {
  std::string_view name;
  std::string_view doc;
};

std::span<const StatisticInfo> statistics();

/// Documents are distinct by their id within a split.
Result<double> statistic(std::string_view name,
                         std::span<const std::shared_ptr<const Dataset>> splits);

}  // namespace qfs::datasets

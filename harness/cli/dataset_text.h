// A data set as `data show`, `data check` and `data stats` present it: manifest, an example,
// counts, findings, statistics.
//
// Pure functions; text is safe for terminals. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "datasets/check.h"
#include "harness/api/dataset.h"
#include "harness/api/result.h"

namespace qfs::cli {

std::string dataset_text(const Dataset& dataset, int64_t example);
std::string dataset_json(const Dataset& dataset, int64_t example);

std::string check_text(const Dataset& dataset, const datasets::CheckReport& report);
std::string check_json(const Dataset& dataset, const datasets::CheckReport& report);

/// Every statistic of datasets/statistics.h, a column a split.
Result<std::string> statistics_text(const std::vector<std::shared_ptr<const Dataset>>& splits);
Result<std::string> statistics_json(const std::vector<std::shared_ptr<const Dataset>>& splits);

}  // namespace qfs::cli

// A data set as `data show` and `data check` present it: manifest, an example, counts and findings.
//
// Pure functions; text is safe for terminals. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "datasets/check.h"
#include "harness/api/dataset.h"

namespace qfs::cli {

std::string dataset_text(const Dataset& dataset, int64_t example);
std::string dataset_json(const Dataset& dataset, int64_t example);

std::string check_text(const Dataset& dataset, const datasets::CheckReport& report);
std::string check_json(const Dataset& dataset, const datasets::CheckReport& report);

}  // namespace qfs::cli

// The table of a sweep as text in one of the report formats. Used by `sweep` and `report`.
// Stateless; errors are those of reports::build_table, and `invalid_argument` for a format.
#pragma once

#include <string>
#include <string_view>

#include "harness/api/result.h"
#include "harness/store/reader.h"
#include "reports/report.h"

namespace qfs::cli {

/// `format`: markdown, latex, json or csv. Program version and store name of the request are filled
/// in.
Result<std::string> report_text(store::Reader& reader, const std::string& store_path,
                                reports::ReportRequest request, std::string_view format);

/// The same of a sweep whose facts are read already, or the text about it for a paper's evaluation
/// section (`methods_text`), which is not written as CSV.
Result<std::string> report_text(store::Reader& reader, const std::string& store_path,
                                reports::SweepFacts facts, reports::ReportRequest request,
                                std::string_view format, bool methods_text = false);

}  // namespace qfs::cli

// The table of a sweep as text in one of the report formats. Used by `sweep` and `report`.
// Stateless; errors are those of reports::build_table, curves_of, fronts_of and make_page, and
// `invalid_argument` for a format.
#pragma once

#include <string>
#include <string_view>

#include "harness/api/result.h"
#include "harness/store/reader.h"
#include "reports/report.h"

namespace qfs::cli {

/// The table itself, for a signature line with program version and store name.
Result<reports::Table> report_table(store::Reader& reader, const std::string& store_path,
                                    reports::SweepFacts facts, reports::ReportRequest request);

/// `format`: markdown, latex, json, csv, html or svg.
Result<std::string> report_text(store::Reader& reader, const std::string& store_path,
                                reports::ReportRequest request, std::string_view format);

/// The same of a sweep whose facts are read already, or the text about it for a paper's evaluation
/// section (`methods_text`), which is Markdown, LaTeX or JSON. The logs of a `foreign` store are
/// not read.
struct ReportForm {
  std::string format;
  std::string figure = "curves";  ///< of svg: curves or front
  bool methods_text = false;
  bool foreign = false;
};
Result<std::string> report_text(store::Reader& reader, const std::string& store_path,
                                reports::SweepFacts facts, reports::ReportRequest request,
                                const ReportForm& form);

}  // namespace qfs::cli

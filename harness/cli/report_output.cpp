#include "harness/cli/report_output.h"

#include <filesystem>

#include "harness/core/build_info.h"
#include "reports/writers/csv.h"
#include "reports/writers/json.h"
#include "reports/writers/latex.h"
#include "reports/writers/markdown.h"

namespace qfs::cli {

Result<std::string> report_text(store::Reader& reader, const std::string& store_path,
                                reports::ReportRequest request, std::string_view format) {
  Result<reports::SweepFacts> facts = reports::load_sweep_facts(reader, request.sweep);
  if (!facts) return facts.error();
  return report_text(reader, store_path, *std::move(facts), std::move(request), format);
}

Result<std::string> report_text(store::Reader& reader, const std::string& store_path,
                                reports::SweepFacts facts, reports::ReportRequest request,
                                std::string_view format) {
  request.program = "qfs-bench v" + std::string(build_info().version);
  request.store_name = std::filesystem::path(store_path).filename().string();
  Result<reports::Table> table = reports::build_table(reader, std::move(facts), request);
  if (!table) return table.error();
  if (format == "markdown") return reports::write_markdown(*table);
  if (format == "json") return reports::write_json(*table);
  if (format == "latex") return reports::write_latex(*table);
  if (format == "csv") return reports::write_csv(*table);
  return invalid_argument("no report format '" + std::string(format) +
                          "' (valid: markdown, latex, json, csv)");
}

}  // namespace qfs::cli

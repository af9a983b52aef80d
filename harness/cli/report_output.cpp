#include "harness/cli/report_output.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "harness/core/build_info.h"
#include "reports/methods_text.h"
#include "reports/writers/csv.h"
#include "reports/writers/json.h"
#include "reports/writers/latex.h"
#include "reports/writers/markdown.h"

namespace qfs::cli {
namespace {

Result<std::string> evaluation_text(store::Reader& reader, const reports::SweepFacts& facts,
                                    const reports::ReportRequest& request,
                                    const reports::Table& table, std::string_view format) {
  std::vector<const reports::PlaceFacts*> places;
  for (size_t i = 0; i < facts.places.size(); ++i) {
    const bool shown = !request.positions || std::ranges::count(*request.positions, i) > 0;
    if (shown) places.push_back(&facts.places[i]);
  }
  const Result<reports::MethodsText> text = reports::methods_text(reader, facts, places, table);
  if (!text) return text.error();
  if (format == "latex") return reports::write_methods_latex(*text);
  return format == "json" ? reports::write_methods_json(*text)
                          : reports::write_methods_markdown(*text);
}

}  // namespace

Result<std::string> report_text(store::Reader& reader, const std::string& store_path,
                                reports::ReportRequest request, std::string_view format) {
  Result<reports::SweepFacts> facts = reports::load_sweep_facts(reader, request.sweep);
  if (!facts) return facts.error();
  return report_text(reader, store_path, *std::move(facts), std::move(request), format);
}

Result<std::string> report_text(store::Reader& reader, const std::string& store_path,
                                reports::SweepFacts facts, reports::ReportRequest request,
                                std::string_view format, bool methods_text) {
  const reports::SweepFacts all = methods_text ? facts : reports::SweepFacts{};
  request.program = "qfs-bench v" + std::string(build_info().version);
  request.store_name = std::filesystem::path(store_path).filename().string();
  Result<reports::Table> table = reports::build_table(reader, std::move(facts), request);
  if (!table) return table.error();
  if (methods_text) return evaluation_text(reader, all, request, *table, format);
  if (format == "markdown") return reports::write_markdown(*table);
  if (format == "json") return reports::write_json(*table);
  if (format == "latex") return reports::write_latex(*table);
  if (format == "csv") return reports::write_csv(*table);
  return invalid_argument("no report format '" + std::string(format) +
                          "' (valid: markdown, latex, json, csv)");
}

}  // namespace qfs::cli

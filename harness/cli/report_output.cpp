#include "harness/cli/report_output.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "harness/core/build_info.h"
#include "harness/score/text_matches.h"
#include "reports/figures/figure.h"
#include "reports/figures/front.h"
#include "reports/methods_text.h"
#include "reports/page/page.h"
#include "reports/writers/csv.h"
#include "reports/writers/html.h"
#include "reports/writers/json.h"
#include "reports/writers/latex.h"
#include "reports/writers/markdown.h"
#include "reports/writers/svg.h"

namespace qfs::cli {
namespace {

/// The places of a sweep that the request asks for.
std::vector<const reports::PlaceFacts*> shown_places(const reports::SweepFacts& facts,
                                                     const reports::ReportRequest& request) {
  std::vector<const reports::PlaceFacts*> places;
  for (size_t i = 0; i < facts.places.size(); ++i) {
    const bool shown = !request.positions || std::ranges::count(*request.positions, i) > 0;
    if (shown) places.push_back(&facts.places[i]);
  }
  return places;
}

Result<std::string> evaluation_text(store::Reader& reader, const reports::SweepFacts& facts,
                                    const std::vector<const reports::PlaceFacts*>& places,
                                    const reports::Table& table, std::string_view format) {
  const Result<reports::MethodsText> text = reports::methods_text(reader, facts, places, table);
  if (!text) return text.error();
  if (format == "latex") return reports::write_methods_latex(*text);
  return format == "json" ? reports::write_methods_json(*text)
                          : reports::write_methods_markdown(*text);
}

/// Marks what texts have in common, by the scores' own words.
class Matcher {
 public:
  Result<std::optional<reports::MarkedTexts>> match(std::string_view signature,
                                                    std::string_view prediction,
                                                    std::string_view reference) {
    auto [known, is_new] = matches_.try_emplace(std::string(signature));
    if (is_new) known->second = score::TextMatches::of_signature(signature);
    if (known->second == nullptr) return std::optional<reports::MarkedTexts>();
    Result<score::MatchedTexts> matched = known->second->match(prediction, reference);
    if (!matched) return matched.error();
    return std::optional(
        reports::MarkedTexts{plain(matched->prediction), plain(matched->reference)});
  }

 private:
  static reports::MarkedRuns plain(const std::vector<score::MatchRun>& runs) {
    reports::MarkedRuns marked;
    for (const score::MatchRun& run : runs) marked.emplace_back(run.bytes, run.bits);
    return marked;
  }

  std::map<std::string, std::unique_ptr<score::TextMatches>> matches_;
};

Result<std::string> page_text(store::Reader& reader,
                              const std::vector<const reports::PlaceFacts*>& places,
                              const reports::Table& table, const std::string& logs_folder) {
  Matcher matcher;
  reports::PageRequest request;
  request.logs_folder = logs_folder;
  request.match = [&matcher](std::string_view signature, std::string_view prediction,
                             std::string_view reference) {
    return matcher.match(signature, prediction, reference);
  };
  const Result<reports::Page> page = reports::make_page(reader, places, table, request);
  if (!page) return page.error();
  return reports::write_html(*page);
}

Result<std::string> figure_text(const reports::Table& table, const std::string& name) {
  if (name == "front") {
    const Result<reports::Front> front = reports::fronts_of(table);
    if (!front) return front.error();
    return reports::write_svg(*front);
  }
  const Result<reports::Figure> figure = reports::curves_of(table);
  if (!figure) return figure.error();
  return reports::write_svg(*figure);
}

}  // namespace

Result<std::string> report_text(store::Reader& reader, const std::string& store_path,
                                reports::ReportRequest request, std::string_view format) {
  Result<reports::SweepFacts> facts = reports::load_sweep_facts(reader, request.sweep);
  if (!facts) return facts.error();
  return report_text(reader, store_path, *std::move(facts), std::move(request),
                     {.format = std::string(format)});
}

Result<reports::Table> report_table(store::Reader& reader, const std::string& store_path,
                                    reports::SweepFacts facts, reports::ReportRequest request) {
  request.program = "qfs-bench v" + std::string(build_info().version);
  request.store_name = std::filesystem::path(store_path).filename().string();
  return reports::build_table(reader, std::move(facts), request);
}

Result<std::string> report_text(store::Reader& reader, const std::string& store_path,
                                reports::SweepFacts facts, reports::ReportRequest request,
                                const ReportForm& form) {
  const std::string& format = form.format;
  const bool with_places = form.methods_text || format == "html";
  const reports::SweepFacts all = with_places ? facts : reports::SweepFacts{};
  Result<reports::Table> table = report_table(reader, store_path, std::move(facts), request);
  if (!table) return table.error();
  if (form.methods_text) {
    return evaluation_text(reader, all, shown_places(all, request), *table, format);
  }
  if (format == "markdown") return reports::write_markdown(*table);
  if (format == "json") return reports::write_json(*table);
  if (format == "latex") return reports::write_latex(*table);
  if (format == "csv") return reports::write_csv(*table);
  if (format == "svg") return figure_text(*table, form.figure);
  if (format == "html") {
    const std::string logs =
        form.foreign ? "" : std::filesystem::absolute(store_path).parent_path().string();
    return page_text(reader, shown_places(all, request), *table, logs);
  }
  return invalid_argument("no report format '" + format +
                          "' (valid: markdown, latex, json, csv, html, svg)");
}

}  // namespace qfs::cli

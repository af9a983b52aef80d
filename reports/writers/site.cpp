#include "reports/writers/site.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "reports/escape.h"
#include "reports/page/page_code.h"
#include "reports/writers/html.h"

namespace qfs::reports {
namespace {

constexpr std::string_view kGenerator = "<meta name=\"generator\" content=\"qfs-bench site\">";

/// A text in YAML, which JSON's texts are.
std::string yaml_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string link(const std::string& file, const char* text) {
  return file.empty() ? "" : fmt::format(" · <a href=\"{}\">{}</a>", xml_text(file), text);
}

}  // namespace

std::string write_site_index(const std::vector<SiteRun>& runs, const std::string& store,
                             const std::string& program) {
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{}\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {}; "
      "base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<main id=\"page\">\n<h1>{}</h1>\n",
      kGenerator, policy_digest(kPageStyle), xml_text(store), kPageStyle, xml_text(store));
  for (const SiteRun& run : runs) {
    text += fmt::format("<section>\n<h2><a href=\"{}\">{}</a></h2>\n", xml_text(run.page),
                        xml_text(run.name));
    if (!run.description.empty()) text += fmt::format("<p>{}</p>\n", xml_text(run.description));
    text += fmt::format("<p class=\"facts\">{} · {} cells{}{}</p>\n</section>\n",
                        xml_text(run.created_at.substr(0, 10)), run.cells,
                        link(run.table, "table as Markdown"), link(run.citation, "how to cite"));
  }
  return text + fmt::format("<p class=\"facts foot\">{}</p>\n</main>\n</body>\n</html>\n",
                            xml_text(program));
}

bool is_site_index(std::string_view html) { return html.find(kGenerator) != html.npos; }

std::string write_citation(const Table& table, const std::string& created_at,
                           const std::vector<std::string>& authors,
                           const std::string& program_version) {
  std::string title = table.name;
  if (!table.description.empty()) title += ": " + table.description;
  std::string text = fmt::format(
      "cff-version: 1.2.0\nmessage: \"If you use these results, please cite them.\"\n"
      "type: dataset\ntitle: {}\nauthors:\n",
      yaml_text(title));
  for (const std::string& author : authors)
    text += fmt::format("  - name: {}\n", yaml_text(author));
  text += fmt::format(
      "date-released: {}\nversion: {}\nabstract: {}\nidentifiers:\n  - type: other\n    value: "
      "{}\n    description: \"id of the run; the tables' signature is the abstract\"\n",
      yaml_text(created_at.substr(0, 10)), yaml_text(table.sweep_id.substr(0, 12)),
      yaml_text(table.signature), yaml_text(table.sweep_id));
  return text + fmt::format(
                    "references:\n  - type: software\n    title: \"qfs-bench\"\n    version: {}\n"
                    "    authors:\n      - name: \"The qfs-bench contributors\"\n",
                    yaml_text(program_version));
}

}  // namespace qfs::reports

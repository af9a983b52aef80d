#include "reports/writers/sections.h"

#include <nlohmann/json.hpp>

#include "harness/core/log.h"
#include "reports/escape.h"
#include "reports/writers/json.h"
#include "reports/writers/markdown.h"

namespace qfs::reports {

std::string write_sections_markdown(const std::string& name, const std::string& description,
                                    std::span<const ShownSection> sections) {
  std::string text = "# " + markdown_text(name) + "\n";
  if (!description.empty()) text += "\n" + markdown_text(description) + "\n";
  for (const ShownSection& section : sections) {
    text += "\n## " + markdown_text(section.title) + "\n\n";
    if (!section.text.empty()) text += markdown_text(section.text) + "\n\n";
    text += section.table ? markdown_body(*section.table)
                          : "Not shown: " + markdown_text(section.absence) + "\n";
  }
  return text;
}

std::string write_sections_json(const std::string& name, const std::string& description,
                                std::span<const ShownSection> sections) {
  using nlohmann::json;
  json page = {{"schema", "qfs-bench/page/1"},
               {"name", name},
               {"description", description},
               {"sections", json::array()}};
  for (const ShownSection& section : sections) {
    json object = {{"title", section.title}, {"text", section.text}};
    if (section.table) {
      object["table"] = json::parse(write_json(*section.table));
    } else {
      object["absence"] = section.absence;
    }
    page["sections"].push_back(std::move(object));
  }
  return terminal_safe_json(page.dump(2, ' ', false, json::error_handler_t::replace)) + "\n";
}

}  // namespace qfs::reports

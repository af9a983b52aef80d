// The page of a sweep: tables of one store one below the other, each with words above it.
//
// Called by `report --page`. Pure functions, thread-safe, cannot fail; foreign text is escaped.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "reports/table.h"

namespace qfs::reports {

struct ShownSection {
  std::string title;
  std::string text;            ///< a paragraph; may be empty
  std::optional<Table> table;  ///< absent: why it is not shown
  std::string absence;
};

/// Markdown (GitHub flavoured): a heading of its own for each section.
std::string write_sections_markdown(const std::string& name, const std::string& description,
                                    std::span<const ShownSection> sections);
/// Schema "qfs-bench/page/1": "sections", each with its "table" as write_json has it, or "absence".
std::string write_sections_json(const std::string& name, const std::string& description,
                                std::span<const ShownSection> sections);

}  // namespace qfs::reports

// Markdown (GitHub flavoured) of a report table, for people and for papers' repositories.
//
// Called by the command line and by sections.h. Pure function, thread-safe, cannot fail; foreign
// text is escaped.
#pragma once

#include <string>

#include "reports/table.h"

namespace qfs::reports {

/// One table a value, or one with the values as columns; then notes and the signature line. Pipes
/// are aligned, so that it reads well on a terminal too.
std::string write_markdown(const Table& table);
/// The same without name and description.
std::string markdown_body(const Table& table);

}  // namespace qfs::reports

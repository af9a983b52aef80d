// One Markdown table with aligned pipes, so that it reads well on a terminal too.
//
// Used by the Markdown writers. Pure; thread-safe; cannot fail. Cells are escaped already
// (reports/escape.h).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace qfs::reports {

/// A heading and rows of as many cells; the first `labels` columns are left-aligned, the others
/// right-aligned.
std::string markdown_grid(const std::vector<std::vector<std::string>>& lines, size_t labels);

}  // namespace qfs::reports

// `export --site`: the runs of a store as pages that can be put on a web server or into a
// repository. Not thread-safe; errors are those of reports and of files.
#pragma once

#include <string>
#include <vector>

#include "harness/api/result.h"
#include "harness/cli/commands.h"

namespace qfs::cli {

struct SiteOptions {
  std::string folder;
  std::vector<std::string> authors;  ///< of the results; none: no citations are written
};

/// The latest run of each name: a page, its table as Markdown and, with authors, how it is cited;
/// and index.html, the list of them, which comes last.
Result<ExitCode> export_site(const SiteOptions& options, const GlobalOptions& global);

}  // namespace qfs::cli

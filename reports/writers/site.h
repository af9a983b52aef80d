// What stands around the pages of a store's runs where they are published together: the list of
// them, and how one is cited (Citation File Format 1.2.0).
//
// Called by `export --site`. Equal values give equal bytes. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/table.h"

namespace qfs::reports {

/// One run and the files beside the list that are of it.
struct SiteRun {
  std::string name;
  std::string description;
  std::string created_at;
  int64_t cells = 0;
  std::string page;
  std::string table;
  std::string citation;  ///< empty: there is none
};

/// HTML that asks for nothing outside its file. `store`: its name; `program`: with its version.
std::string write_site_index(const std::vector<SiteRun>& runs, const std::string& store,
                             const std::string& program);

/// Whether a file is such a list.
bool is_site_index(std::string_view html);

/// CITATION.cff of a run, a data set by `authors` (at least one); `created_at`: its date and time.
std::string write_citation(const Table& table, const std::string& created_at,
                           const std::vector<std::string>& authors,
                           const std::string& program_version);

}  // namespace qfs::reports

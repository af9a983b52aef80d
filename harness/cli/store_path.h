// Which store file a subcommand works on when --store is not given. Reads the current folder only.
// Errors are `not_found` and `invalid_argument`, and name the option.
#pragma once

#include <string>

#include "harness/api/result.h"
#include "harness/cli/commands.h"
#include "harness/store/reader.h"

namespace qfs::cli {

/// `given`, or "<sweep name>.sqlite" in the current folder: where a sweep writes.
std::string sweep_store_path(const std::string& given, const std::string& sweep_name);

/// `given`, or the only *.sqlite file of the current folder: what the reading subcommands open.
Result<std::string> existing_store_path(const std::string& given);

/// A regular file that begins as SQLite databases do (sqlite.org/fileformat, 1.3.1).
bool is_store_file(const std::string& path);

/// Opens it for reading; a stranger's store is copied and checked first.
Result<store::Reader> open_existing_store(const GlobalOptions& global);

}  // namespace qfs::cli

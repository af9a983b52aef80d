// Where results go: standard output, or a file that appears whole or not at all. Used by every
// subcommand. Errors are `unavailable`: a full disk is never taken for success.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/api/result.h"

namespace qfs::cli {

/// Writes to standard output and flushes it; the last thing a command does.
Status print_result(std::string_view text);

/// Writes atomically to `path`, or to standard output when it is empty or "-". Error
/// `invalid_argument` where a store stands at `path`.
Status write_result(std::string_view text, const std::string& path);

/// `invalid_argument` where writing `path` would lose a store, or its log, index or lock.
Status keep_stores(const std::string& path);

/// An option that names a file to be written, and its value.
using OutputOption = std::pair<std::string_view, std::string>;

/// `invalid_argument` when two of them are one file, however it is named.
Status keep_apart(std::span<const OutputOption> outputs);

/// `invalid_argument` when writing `path`, the value of `option`, would replace one of the files
/// that the command reads.
Status keep_inputs(std::string_view option, const std::string& path,
                   std::span<const std::string> inputs);

/// {"schema": "qfs-bench/<name>/<version>", …members of `body`}, sorted keys, as a line-ended text.
std::string json_document(std::string_view name, const nlohmann::json& body, int version = 1);

/// Rows of text with aligned columns, for terminals: two spaces between columns, control characters
/// made visible, the first row is the heading. A row may be shorter than the heading.
std::string aligned(const std::vector<std::vector<std::string>>& rows);

}  // namespace qfs::cli

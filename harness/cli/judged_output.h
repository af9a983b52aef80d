// Prints a published table with its verdicts, in one of the report formats. Used by
// `report --table` and `reproduce`. Errors are those of the store, and `invalid_argument` for a
// format.
#pragma once

#include <string>
#include <string_view>

#include "harness/api/result.h"
#include "harness/cli/claims_session.h"

namespace qfs::cli {

/// `format`: markdown, latex, json or csv; `output`: a file, or empty for standard output. The
/// value: how many numbers could be measured here and are not.
Result<size_t> print_judged(ClaimsSession& session, const claims::ShownTable& table,
                            std::string_view format, const std::string& output);

}  // namespace qfs::cli

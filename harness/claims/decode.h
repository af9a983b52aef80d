// Decoding of experiments/claims/*.json, its labels.json and reports/tables/*.json: every key
// known, every type right, every label and erratum defined.
//
// Called by Collection and by tests. Pure; thread-safe. Errors are `invalid_argument` at
// "file#/json/pointer" and name what was expected.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"
#include "harness/claims/claim.h"

namespace qfs::claims {

/// What a printed label means, by paper and label.
using Labels = std::map<std::string, std::map<std::string, MethodQuery>>;

Result<Labels> decode_labels(std::string_view text, const std::string& path);

Result<Paper> decode_paper(std::string_view text, const std::string& path, const Labels& labels);

Result<std::vector<PublishedTable>> decode_tables(std::string_view text, const std::string& path);

}  // namespace qfs::claims

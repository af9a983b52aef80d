// Published tables as text: what a paper prints, what was measured, its interval and the verdict,
// with a footnote an erratum.
//
// Called by `claims`, `report --table` and `reproduce`. Pure; thread-safe; cannot fail. Text of
// foreign origin is escaped as each format needs it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"
#include "harness/claims/collection.h"
#include "harness/claims/evaluate.h"

namespace qfs::reports {

/// A published table with the findings of its claims, in the order of ShownTable::claims.
struct JudgedTable {
  claims::ShownTable shown;
  std::vector<claims::Finding> findings;
  std::string program;                       ///< "qfs-bench v0.1.0"
  std::string store;                         ///< file name; empty: there was none
  std::vector<std::string> places = {};      ///< what the user named, "llama-2#9e556afd44213b6b"
  std::vector<std::string> statements = {};  ///< for a review form, under the table
};

/// One claim as an object: id, row, column, published, state, measured number and ids.
nlohmann::json finding_json(const claims::Finding& finding);

std::string judged_markdown(const JudgedTable& table);
/// A `table` with booktabs for each part, several for a long one, and behind it errata and the
/// reasons of its gaps.
std::string judged_latex(const JudgedTable& table);
std::string judged_json(const JudgedTable& table);
std::string judged_csv(const JudgedTable& table);

/// One of these by its name: markdown, latex, json or csv; another is `invalid_argument`.
Result<std::string> judged_text(const JudgedTable& table, std::string_view format);

}  // namespace qfs::reports

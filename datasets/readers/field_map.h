// The field map of a user's file: which field of a record is the document, the query, the
// references.
//
// A field is named by its key, by a dotted path ("meta.title", "answers.0") or by a JSON pointer
// ("/meta/title"); a key that holds dots is found first. "=text" is the constant `text` for every
// record; an empty name says that the data have no such field; "a,b,c" for the references are
// several fields with a reference each. Unmapped: document, query and
// references are fields of these names and must be there; id, document_id, group and language are
// used where a record has them. Thread-safe.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "harness/api/result.h"
#include "harness/core/json_dom.h"

namespace qfs::datasets {

struct FieldRule {
  std::string name;       ///< theirs; "=text" is a constant; empty: not in the data
  bool required = false;  ///< absence in a record is an error
};

/// Rules for document, query, references, id, document_id, group and language.
using FieldMap = std::map<std::string, FieldRule, std::less<>>;

/// Completes a user's map; an unknown field of ours is `invalid_argument` with the nearest name.
Result<FieldMap> make_field_map(const std::map<std::string, std::string>& chosen);

/// The map as an identity holds it: our field -> theirs.
std::map<std::string, std::string> field_names(const FieldMap& map);

/// The value under a key, dotted path or JSON pointer; nullptr when absent.
const nlohmann::json* find_field(const nlohmann::json& record, std::string_view name);

}  // namespace qfs::datasets

// Text forms: named, versioned rewritings of a data set's text, as papers prescribe them.
//
// `raw` is the text as it was published; `ideal` and `dyle` are what the released code of those
// papers makes of QMSum. They differ in the marks: both delete { vocalsound } { disfmarker }
// { pause } { nonvocalsound } { gap }, `ideal` also { comment }. Of a document without turns `dyle`
// makes pieces of sentences. A form's version is raised when it gives other bytes; it is part of
// dataset_id. Thread-safe, cannot fail.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/api/example.h"

namespace qfs::datasets {

/// The rewriting of each part of a meeting, or of a document without turns and of its summaries.
struct TextForm {
  std::string_view name;
  int version = 1;
  std::string (*speaker)(std::string_view) = nullptr;
  std::string (*turn)(std::string_view) = nullptr;
  std::string (*query)(std::string_view) = nullptr;
  std::string (*reference)(std::string_view) = nullptr;
  /// Of a document without turns; null: it stays as it was published, and so do its summaries.
  std::vector<std::string> (*pieces)(std::string_view document) = nullptr;

  /// "ideal@1", as manifests and ids hold it.
  std::string versioned_name() const;
};

/// Rewrites an example whose document has no turns, if the form says how.
void apply_text_form(const TextForm& form, Example& example);

/// The form with this name; nullptr when there is none.
const TextForm* find_text_form(std::string_view name);

}  // namespace qfs::datasets

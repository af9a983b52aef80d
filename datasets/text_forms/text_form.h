// Text forms: named, versioned rewritings of a data set's text, as papers prescribe them.
//
// `raw` is the text as it was published. `ideal` is the preprocessing of the IDEAL paper's released
// code for QMSum: lower case, word tokens joined by blanks, noise marks removed and spelled
// acronyms rewritten in turns and queries (references keep both). A form's version is raised when
// it gives other bytes; it is part of dataset_id. Thread-safe, cannot fail.
#pragma once

#include <string>
#include <string_view>

namespace qfs::datasets {

/// The rewriting of each part of a meeting.
struct TextForm {
  std::string_view name;
  int version = 1;
  std::string (*speaker)(std::string_view) = nullptr;
  std::string (*turn)(std::string_view) = nullptr;
  std::string (*query)(std::string_view) = nullptr;
  std::string (*reference)(std::string_view) = nullptr;

  /// "ideal@1", as manifests and ids hold it.
  std::string versioned_name() const;
};

/// The form named "raw" or "ideal"; nullptr for another name.
const TextForm* find_text_form(std::string_view name);

}  // namespace qfs::datasets

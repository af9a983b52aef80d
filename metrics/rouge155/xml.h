// parse_xml: an XML file as a tree, read by expat as ROUGE-1.5.5 reads its configurations.
//
// Called by read_configuration. Files come from strangers: depth and number of elements are
// bounded, and a document type may declare nothing (entities). Thread-safe. Errors: `data` with
// file:line for anything ill-formed.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/api/result.h"

namespace qfs::metrics::rouge155 {

inline constexpr size_t kMaxXmlDepth = 64;
inline constexpr size_t kMaxXmlElements = size_t{1} << 24;

struct XmlElement {
  std::string name;
  size_t line = 0;  ///< of its start tag
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<XmlElement> children;
  /// The last run of text directly in this element; comments and elements separate runs.
  std::optional<std::string> last_text;

  const std::string* attribute(std::string_view name) const;
};

/// The root element of `text`; `name` is the file for messages.
Result<XmlElement> parse_xml(std::string_view text, const std::string& name);

}  // namespace qfs::metrics::rouge155

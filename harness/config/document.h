// Files that people write (sweeps, gate policies, claims) as one tree: JSON with comments, and YAML
// where the name ends in .yaml or .yml.
//
// Called by the decoders of harness/config, harness/gate and harness/claims. Of YAML only what
// means the same to every reader of it is taken: a tree of texts, JSON's numbers, true, false and
// null, with anchors; keys are texts and occur once. What YAML 1.1 and 1.2 or JSON read differently
// (no, 010, 1:20) is refused with how to write it. Pure; thread-safe. Errors are `data` at
// "path:line:column", and `unavailable` for YAML in a build without libyaml-cpp.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "harness/api/result.h"

namespace qfs::config {

/// YAML is read up to this size, and its aliases may copy as much.
inline constexpr size_t kMaxYamlBytes = size_t{1} << 20;

/// `max_bytes` bounds JSON.
Result<nlohmann::json> parse_document(std::string_view text, const std::string& path,
                                      size_t max_bytes);

/// The tree of a YAML text of well-formed UTF-8 without zero bytes.
Result<nlohmann::json> parse_yaml(std::string_view text, const std::string& path);

}  // namespace qfs::config

// In place of yaml.cpp where the build found no libyaml-cpp.
#include <nlohmann/json.hpp>

#include "harness/config/document.h"

namespace qfs::config {

Result<nlohmann::json> parse_yaml(std::string_view /*text*/, const std::string& path) {
  return Error{ErrorKind::unavailable,
               "this build of qfs-bench reads no YAML (libyaml-cpp was not there); write the file "
               "as JSON, which may have comments",
               path};
}

}  // namespace qfs::config

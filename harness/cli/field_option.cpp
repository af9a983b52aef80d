#include "harness/cli/field_option.h"

#include <algorithm>

namespace qfs::cli {

Result<std::map<std::string, std::string>> parse_field_map(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> fields;
  for (const std::string& text : texts) {
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = std::min(text.find(',', begin), text.size());
      const std::string part = text.substr(begin, end - begin);
      const size_t equals = part.find('=');
      if (equals == std::string::npos || equals == 0) {
        return invalid_argument("--fields '" + part + "' is not of the form field=name");
      }
      if (!fields.emplace(part.substr(0, equals), part.substr(equals + 1)).second) {
        return invalid_argument("--fields names '" + part.substr(0, equals) + "' twice");
      }
      begin = end + 1;
    }
  }
  return fields;
}

}  // namespace qfs::cli

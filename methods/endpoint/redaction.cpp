#include "methods/endpoint/redaction.h"

namespace qfs::endpoint {

std::string Redactor::without(std::string_view text, size_t shortest) const {
  std::string result(text);
  for (const std::string& secret : secrets_) {
    if (secret.size() < shortest || secret.empty()) continue;
    constexpr std::string_view kMark = "[secret]";
    for (size_t at = result.find(secret); at != result.npos;
         at = result.find(secret, at + kMark.size())) {
      result.replace(at, secret.size(), kMark);
    }
  }
  return result;
}

}  // namespace qfs::endpoint

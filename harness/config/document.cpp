#include "harness/config/document.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/core/json_dom.h"
#include "harness/core/utf8.h"

namespace qfs::config {
namespace {

/// Where the comment that begins at `at` ends; std::nullopt where none begins, npos for one without
/// an end.
std::optional<size_t> end_of_comment(std::string_view text, size_t at) {
  if (text.substr(at).starts_with("//")) return std::min(text.find('\n', at), text.size());
  if (!text.substr(at).starts_with("/*")) return std::nullopt;
  const size_t end = text.find("*/", at + 2);
  return end == text.npos ? end : end + 2;
}

/// JSON with spaces in the place of its comments, a space a character, so that lines and columns
/// stay; a comment without an end stays, and the reader of JSON finds it. `text`: UTF-8.
std::string without_comments(std::string_view text) {
  std::string plain;
  bool in_string = false;
  for (size_t i = 0; i < text.size();) {
    const std::optional<size_t> end = in_string ? std::nullopt : end_of_comment(text, i);
    if (end && *end != text.npos) {
      for (; i < *end; ++i) {
        if (text[i] == '\n') plain += '\n';
        const bool continues = (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U;
        if (text[i] != '\n' && !continues) plain += ' ';
      }
      continue;
    }
    const size_t length = in_string && text[i] == '\\' ? std::min<size_t>(2, text.size() - i) : 1;
    if (text[i] == '"') in_string = !in_string;
    plain.append(text.substr(i, length));
    i += length;
  }
  return plain;
}

}  // namespace

Result<nlohmann::json> parse_document(std::string_view text, const std::string& path,
                                      size_t max_bytes) {
  // What is no text at all, or too much of it, is refused alike.
  const bool plain =
      text.size() > max_bytes || first_ill_formed_utf8(text) || text.find('\0') != text.npos;
  const bool yaml = path.ends_with(".yaml") || path.ends_with(".yml");
  if (plain) {
    auto refused = parse_json(text, path, {.max_bytes = max_bytes});
    if (refused || !yaml) return refused;
    Error error = refused.error();
    constexpr std::string_view kJson = "not valid JSON";
    if (error.message.starts_with(kJson)) error.message.replace(0, kJson.size(), "not valid YAML");
    return error;
  }
  if (yaml) return parse_yaml(text, path);
  if (text.find('/') == text.npos) return parse_json(text, path, {.max_bytes = max_bytes});
  return parse_json(without_comments(text), path, {.max_bytes = max_bytes});
}

}  // namespace qfs::config

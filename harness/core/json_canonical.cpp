#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/core/json_dom.h"
#include "harness/core/utf8.h"

namespace qfs {
namespace {

constexpr size_t kDeepestCanonical = 64;

Error not_canonical(const std::string& path, const std::string& reason) {
  return internal_error("canonical JSON: " + reason + " at '" + path + "'");
}

/// Keys are identifiers of this program: printable ASCII.
bool is_identifier_key(std::string_view key) {
  for (const char c : key) {
    if (c < 0x20 || c > 0x7E) return false;
  }
  return !key.empty();
}

Status append(std::string& out, const nlohmann::json& value, const std::string& path, size_t depth);

Status append_object(std::string& out, const nlohmann::json& value, const std::string& path,
                     size_t depth) {
  out += '{';
  bool first = true;
  for (const auto& [key, member] : value.items()) {  // std::map: sorted bytewise
    if (!is_identifier_key(key)) return not_canonical(path, "a key is not printable ASCII");
    if (!first) out += ',';
    first = false;
    append_json_string(out, key);
    out += ':';
    if (Status status = append(out, member, path + "/" + key, depth + 1); !status) return status;
  }
  out += '}';
  return {};
}

Status append_array(std::string& out, const nlohmann::json& value, const std::string& path,
                    size_t depth) {
  out += '[';
  size_t index = 0;
  for (const nlohmann::json& element : value) {
    if (index > 0) out += ',';
    const std::string element_path = path + "/" + std::to_string(index);
    if (Status status = append(out, element, element_path, depth + 1); !status) return status;
    ++index;
  }
  out += ']';
  return {};
}

Status append(std::string& out, const nlohmann::json& value, const std::string& path,
              size_t depth) {
  using Type = nlohmann::json::value_t;
  switch (value.type()) {
    case Type::object:
    case Type::array:
      if (depth >= kDeepestCanonical) return not_canonical(path, "nested deeper than 64 levels");
      return value.is_object() ? append_object(out, value, path, depth)
                               : append_array(out, value, path, depth);
    case Type::string: {
      const auto& text = value.get_ref<const std::string&>();
      if (first_ill_formed_utf8(text)) return not_canonical(path, "a string is not UTF-8");
      append_json_string(out, text);
      return {};
    }
    case Type::boolean:
      out += value.get<bool>() ? "true" : "false";
      return {};
    case Type::number_integer:
      out += std::to_string(value.get<int64_t>());
      return {};
    case Type::number_unsigned:
      out += std::to_string(value.get<uint64_t>());
      return {};
    case Type::number_float: {
      const double number = value.get<double>();
      if (!std::isfinite(number)) return not_canonical(path, "a number is not finite");
      // -0 equals 0, and equal values have equal bytes.
      append_json_string(out, shortest_decimal(number == 0 ? 0.0 : number));
      return {};
    }
    case Type::null:
      return not_canonical(path, "a null");
    case Type::binary:
    case Type::discarded:
      break;
  }
  return not_canonical(path, "a value that JSON does not have");
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          constexpr std::string_view kHex = "0123456789abcdef";
          out += "\\u00";
          out += kHex[static_cast<size_t>(c) >> 4];
          out += kHex[static_cast<size_t>(c) & 15];
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

Result<Json> canonical_json(const nlohmann::json& value) {
  Json canonical{std::string()};
  if (Status status = append(canonical.text, value, "", 0); !status) return status.error();
  return canonical;
}

std::string shortest_decimal(double value) {
  std::array<char, 512> digits{};  // the longest, -5e-324, has 327
  const std::to_chars_result end =
      std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed);
  return {digits.data(), end.ptr};
}

}  // namespace qfs

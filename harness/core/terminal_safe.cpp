#include <array>
#include <cstdint>
#include <cstdio>

#include "harness/core/log.h"
#include "harness/core/utf8.h"

namespace qfs {
namespace {

struct CodePoint {
  uint32_t value;
  size_t bytes;
};

/// The code point at the front of well-formed text.
CodePoint decode_front(std::string_view text) {
  const auto byte = [&](size_t i) {
    return static_cast<uint32_t>(static_cast<unsigned char>(text[i]));
  };
  const uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xE0) return {(lead & 0x1FU) << 6 | (byte(1) & 0x3FU), 2};
  if (lead < 0xF0) return {(lead & 0x0FU) << 12 | (byte(1) & 0x3FU) << 6 | (byte(2) & 0x3FU), 3};
  return {
      (lead & 0x07U) << 18 | (byte(1) & 0x3FU) << 12 | (byte(2) & 0x3FU) << 6 | (byte(3) & 0x3FU),
      4};
}

bool is_control(uint32_t c) {
  return (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7F && c <= 0x9F);
}

/// U+2028 and U+2029 end lines as well.
bool is_separator(uint32_t c) { return c == 0x2028 || c == 0x2029; }

/// Marks, embeddings, overrides and isolates of the bidirectional algorithm (UAX #9), which can
/// make a line read as something else.
bool is_bidirectional(uint32_t c) {
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

std::string escaped(std::string_view text, bool json) {
  const std::string repaired = repair_utf8(text).text;
  std::string safe;
  safe.reserve(repaired.size());
  for (std::string_view rest = repaired; !rest.empty();) {
    const CodePoint front = decode_front(rest);
    if (is_control(front.value) || is_separator(front.value) || is_bidirectional(front.value)) {
      std::array<char, 16> escape{};
      const bool byte = front.value <= 0xFF && !json;
      std::snprintf(escape.data(), escape.size(), byte ? "\\x%02x" : "\\u%04x", front.value);
      safe += escape.data();
    } else {
      safe += rest.substr(0, front.bytes);
    }
    rest.remove_prefix(front.bytes);
  }
  return safe;
}

}  // namespace

std::string terminal_safe(std::string_view text) { return escaped(text, false); }

std::string terminal_safe_json(std::string_view json) { return escaped(json, true); }

std::string line_safe(std::string_view text) {
  std::string line;
  for (const char c : terminal_safe(text)) {
    if (c == '\n') {
      line += "\\n";
    } else {
      line += c;
    }
  }
  return line;
}

}  // namespace qfs

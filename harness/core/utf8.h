// UTF-8: validation, repair and counting. Readers validate, hosts repair model output.
//
// Thread-safe, no allocation except in `repair_utf8`; ill-formed input is an answer, not an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace qfs {

/// Offset of the first ill-formed byte, or std::nullopt when well-formed (Unicode 15, table 3-7).
std::optional<size_t> first_ill_formed_utf8(std::string_view text);

struct RepairedText {
  std::string text;
  int64_t replaced_bytes = 0;
};

/// Replaces every maximal ill-formed subpart by U+FFFD, as Python's errors="replace" does.
RepairedText repair_utf8(std::string_view text);

/// The length of the longest prefix of at most `limit` bytes that ends at a whole code point.
size_t whole_code_points(std::string_view text, size_t limit);

/// Number of code points of well-formed text.
int64_t count_code_points(std::string_view text);

}  // namespace qfs

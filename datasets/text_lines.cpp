#include "datasets/text_lines.h"

#include <algorithm>

#include "harness/core/utf8.h"

namespace qfs::datasets {

Status check_utf8(std::string_view text, const std::string& source) {
  const std::optional<size_t> bad = first_ill_formed_utf8(text);
  if (!bad) return {};
  return data_error("ill-formed UTF-8 at byte " + std::to_string(*bad),
                    line_place(text, *bad, source));
}

std::string line_place(std::string_view text, size_t at, const std::string& source) {
  const std::string_view before = text.substr(0, at);
  return source + ":" + std::to_string(1 + std::ranges::count(before, '\n'));
}

}  // namespace qfs::datasets

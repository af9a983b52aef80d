// Places in a text as JavaScript counts them: UTF-16 code units of well-formed UTF-8. Used by the
// files of reports/page. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <string_view>

namespace qfs::reports {

/// Units before byte `offset`, asked for in ascending order: one pass over the text.
class Utf16Places {
 public:
  explicit Utf16Places(std::string_view text) : text_(text) {}

  /// Offsets beyond the end are the end.
  size_t at(size_t offset) {
    for (; byte_ < offset && byte_ < text_.size(); ++byte_) {
      const auto byte = static_cast<unsigned char>(text_[byte_]);
      if ((byte & 0xC0U) != 0x80U) units_ += byte >= 0xF0 ? 2 : 1;
    }
    return units_;
  }

 private:
  std::string_view text_;
  size_t byte_ = 0;
  size_t units_ = 0;
};

}  // namespace qfs::reports

#include "metrics/chinese/plain_segmenters.h"

#include "harness/core/text/unicode.h"

namespace qfs::metrics {
namespace {

bool is_ascii_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

}  // namespace

Status CharSegmenter::segment(std::string_view text, std::vector<std::string_view>& words) const {
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && is_ascii_alphanumeric(text[end])) ++end;
    if (end == i) {
      const CodePoint point = code_point_at(text, i);
      end += point.bytes;
      if (!is_python_space(point.value)) words.push_back(text.substr(i, point.bytes));
    } else {
      words.push_back(text.substr(i, end - i));
    }
    i = end;
  }
  return {};
}

Status PretokSegmenter::segment(std::string_view text, std::vector<std::string_view>& words) const {
  size_t begin = 0;
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = code_point_at(text, i);
    if (is_python_space(point.value)) {
      if (i > begin) words.push_back(text.substr(begin, i - begin));
      begin = i + point.bytes;
    }
    i += point.bytes;
  }
  if (begin < text.size()) words.push_back(text.substr(begin));
  return {};
}

}  // namespace qfs::metrics

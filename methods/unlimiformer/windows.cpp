#include "methods/unlimiformer/windows.h"

#include <algorithm>

namespace qfs::unlimiformer {

std::vector<Window> windows_of(int64_t tokens, int64_t window, double overlap) {
  if (tokens <= window) return {{0, tokens, 0, tokens}};
  const auto margin = static_cast<int64_t>(static_cast<double>(window) * overlap / 2);
  const int64_t stride = std::max<int64_t>(window - 2 * margin, 1);
  std::vector<Window> windows;
  int64_t kept = 0;
  for (int64_t begin = 0; kept < tokens; begin += stride) {
    const bool last = begin + window >= tokens;
    if (last) begin = tokens - window;
    const int64_t kept_end = last ? tokens : begin + window - margin;
    windows.push_back({begin, begin + window, kept, kept_end});
    kept = kept_end;
  }
  return windows;
}

}  // namespace qfs::unlimiformer

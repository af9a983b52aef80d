// SuspiciousLines: finds the first line of a line file that is probably not a whole text but a
// piece of one, because somebody wrote texts with line breaks inside.
//
// Used for messages only, when line counts differ. Not thread-safe; cannot fail.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace qfs::datasets {

class SuspiciousLines {
 public:
  void look_at(std::string_view line, int64_t number);

  /// "line 17 is blank", or empty when no line stands out.
  std::string describe() const;

 private:
  int64_t first_ = 0;  ///< 0: none yet
  std::string why_;
  bool sentences_start_upper_ = false;  ///< the first line starts with a capital
};

}  // namespace qfs::datasets

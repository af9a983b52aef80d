// The style and the script of the HTML report: the files .css and .js of this folder, compiled in
// by cmake/EmbedTexts.cmake.
#pragma once

#include <string_view>

namespace qfs::reports {

extern const std::string_view kPageStyle;
extern const std::string_view kPageScript;

}  // namespace qfs::reports

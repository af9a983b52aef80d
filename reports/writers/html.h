// A page as one HTML file that stands alone: opened from disk, it asks for nothing.
//
// All that others wrote is JSON with '<' escaped, which the page's script shows as text; the
// Content Security Policy allows that script and its style by their digests, and nothing else.
// Called by report_page.cpp. Equal pages give equal bytes. Pure; thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "reports/page/page.h"

namespace qfs::reports {

std::string write_html(const Page& page);

/// "'sha256-…'", as a Content Security Policy names a script or a style that stands in the page.
std::string policy_digest(std::string_view text);

}  // namespace qfs::reports

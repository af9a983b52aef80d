// Figures as SVG 1.1 files that stand alone: no script, no font, no other file. Equal figures give
// equal bytes. Colours follow the reader's light or dark scheme, on a ground of their own; markers
// and dashes tell apart what colours do.
//
// Called by `report` and `compare`. Pure; thread-safe.
#pragma once

#include <string>

#include "reports/figures/differences.h"
#include "reports/figures/figure.h"
#include "reports/figures/front.h"

namespace qfs::reports {

std::string write_svg(const Figure& figure);
std::string write_svg(const Front& front);
std::string write_svg(const Differences& differences);

}  // namespace qfs::reports

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "harness/core/utf8.h"
#include "reports/escape.h"
#include "reports/writers/svg.h"
#include "reports/writers/svg_parts.h"

namespace qfs::reports {
namespace {

using namespace svg;  // NOLINT(google-build-using-namespace): what pictures are made of

constexpr double kRow = 20;

/// Each kind has a marker and a colour of its own, and a place in the legend.
struct KindStyle {
  DifferenceKind kind;
  size_t series;
  const char* name;
};
constexpr std::array<KindStyle, 4> kKinds = {
    {{DifferenceKind::better, 2, "B is better"},
     {DifferenceKind::worse, 1, "B is worse"},
     {DifferenceKind::differs, 0, "B differs"},
     {DifferenceKind::not_shown, 7, "no difference is shown"}}};

size_t series_of(DifferenceKind kind) {
  return std::ranges::find(kKinds, kind, &KindStyle::kind)->series;
}

std::string signed_text(double number, int decimals) {
  const std::string text = fmt::format("{:+.{}f}", number, decimals);
  return text.find_first_not_of("+-0.") == text.npos ? text.substr(1) : text;
}

class DifferenceDrawing {
 public:
  DifferenceDrawing(const DifferencePanel& panel, double top, double left, double right)
      : panel_(panel),
        top_(top + 26),
        bottom_(top_ + static_cast<double>(panel.lines.size()) * kRow + 8),
        left_(left),
        right_(right),
        ticks_(ticks()),
        x_(ticks_.low, ticks_.high, left + 10, right - 10, false) {}

  std::string draw(double& bottom) const {
    std::string text = text_at(kLeft, top_ - 12, "start", "t", panel_.title) + axis();
    double y = top_ + kRow / 2 + 4;
    for (const DifferenceLine& line : panel_.lines) {
      text += drawn(line, y);
      y += kRow;
    }
    bottom = bottom_ + 30;
    return text;
  }

 private:
  Ticks ticks() const {
    Range range;
    range.take(0);
    for (const DifferenceLine& line : panel_.lines) {
      range.take(line.difference);
      if (line.interval) range.take(line.interval->low);
      if (line.interval) range.take(line.interval->high);
      if (line.margin) range.take(*line.margin);
    }
    return ticks_between(range.low, range.high);
  }

  std::string axis() const {
    std::string text;
    for (int i = 0; ticks_.low + i * ticks_.step <= ticks_.high + ticks_.step / 2; ++i) {
      const double number = ticks_.low + i * ticks_.step;
      text += fmt::format("<path class=\"grid\" d=\"M{} {}V{}\"/>\n", at(x_(number)), at(top_),
                          at(bottom_));
      text += text_at(x_(number), bottom_ + 17, "middle", "q n", ticks_.text(number));
    }
    return text + fmt::format("<path class=\"rule\" d=\"M{} {}V{}\"/>\n", at(x_(0)), at(top_),
                              at(bottom_));
  }

  std::string drawn(const DifferenceLine& line, double y) const {
    const size_t series = series_of(line.kind);
    std::string text = fmt::format(
        "<g><title>{}: B higher on {}, equal on {}, lower on {}; p (Holm) {:.4f}</title>\n",
        xml_text(line.name), line.higher, line.equal, line.lower, line.p_holm);
    text += text_at(left_ - 8, y + 4, "end", "", shortened(line.name));
    if (line.margin) {
      text += fmt::format("<path class=\"rule\" stroke-dasharray=\"2 2\" d=\"M{} {}v14\"/>\n",
                          at(x_(*line.margin)), at(y - 7));
    }
    if (line.interval) {
      text += fmt::format("<path class=\"line c{}\" d=\"M{} {}H{}\"/>\n", series % kColours,
                          at(x_(line.interval->low)), at(y), at(x_(line.interval->high)));
    }
    text += marker(series, x_(line.difference), y) + "\n";
    text += text_at(kWidth - 20, y + 4, "end", "n", signed_text(line.difference, panel_.decimals));
    return text + "</g>\n";
  }

  const DifferencePanel& panel_;
  double top_;
  double bottom_;
  double left_;
  double right_;
  Ticks ticks_;
  Scale x_;
};

/// In one row, the kinds that the picture has.
std::string legend(const Differences& differences, double y) {
  std::string text;
  double x = kLeft + 4;
  for (const KindStyle& style : kKinds) {
    const bool there = std::ranges::any_of(differences.panels, [&](const DifferencePanel& panel) {
      return std::ranges::count(panel.lines, style.kind, &DifferenceLine::kind) > 0;
    });
    if (!there) continue;
    text += legend_entry(style.series, x, y, style.name);
    x += 120;
  }
  return text;
}

}  // namespace

std::string write_svg(const Differences& differences) {
  int64_t longest = 4;
  for (const DifferencePanel& panel : differences.panels) {
    for (const DifferenceLine& line : panel.lines) {
      longest = std::max(longest, count_code_points(shortened(line.name)));
    }
  }
  const double left = std::max(kLeft, 24 + static_cast<double>(longest) * kCharacter);
  constexpr double kNumbers = 90;  // the column of differences
  std::string body;
  double y = 40;
  for (const DifferencePanel& panel : differences.panels) {
    double bottom = 0;
    body += DifferenceDrawing(panel, y, left, kWidth - kNumbers).draw(bottom);
    y = bottom + 8;
  }
  body += legend(differences, y);
  return document(differences.title, differences.signature, body, y + 22, differences.notes);
}

}  // namespace qfs::reports

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <ranges>
#include <vector>

#include "reports/escape.h"
#include "reports/writers/svg.h"
#include "reports/writers/svg_parts.h"

namespace qfs::reports {
namespace {

using namespace svg;  // NOLINT(google-build-using-namespace): what pictures are made of

constexpr size_t kMostTroubles = 12;
constexpr double kLongestLeader = 40;
constexpr std::array<const char*, 3> kDashes = {"", " stroke-dasharray=\"7 3\"",
                                                " stroke-dasharray=\"2 3\""};

class PanelDrawing {
 public:
  PanelDrawing(const Figure& figure, const FigurePanel& panel, double top, double right)
      : figure_(figure),
        panel_(panel),
        top_(top + 26),
        bottom_(top_ +
                std::max(kPlotHeight, static_cast<double>(panel.lines.size()) * kLineHeight)),
        right_(right),
        ticks_(ticks()),
        x_(figure.xs.front(), figure.xs.back(), kLeft + 10, right - 10,
           is_logarithmic(figure.xs.front(), figure.xs.back())),
        y_(ticks_.low, ticks_.high, bottom_, top_, false) {}

  /// The drawing; `bottom` is set to where it ends.
  std::string draw(double& bottom) {
    std::string text = text_at(kLeft, top_ - 12, "start", "t", panel_.title);
    text += axes();
    for (const FigureLine& line : panel_.lines) text += band(line);
    for (const FigureLine& line : panel_.lines) text += curve(line);
    text += labels();
    bottom = bottom_ + 40;
    return text + troubles(bottom);
  }

 private:
  /// Of everything that is drawn.
  Ticks ticks() const {
    Range range;
    if (figure_.differences) range.take(0);
    for (const FigureLine& line : panel_.lines) {
      if (line.constant) range.take(*line.constant);
      for (const FigurePoint& point : line.points) {
        if (!point.y) continue;
        range.take(*point.y);
        if (point.spread) range.take(point.spread->low);
        if (point.spread) range.take(point.spread->high);
      }
    }
    return range.empty() ? ticks_between(0, 1) : ticks_between(range.low, range.high);
  }

  std::string axes() const {
    std::string text;
    for (int i = 0; ticks_.low + i * ticks_.step <= ticks_.high + ticks_.step / 2; ++i) {
      const double number = ticks_.low + i * ticks_.step;
      text += fmt::format("<path class=\"grid\" d=\"M{} {}H{}\"/>\n", at(kLeft), at(y_(number)),
                          at(right_));
      text += text_at(kLeft - 8, y_(number) + 4, "end", "q n", ticks_.text(number));
    }
    text += fmt::format("<path class=\"rule\" d=\"M{} {}H{}\"/>\n", at(x_(figure_.xs.front())),
                        at(bottom_), at(x_(figure_.xs.back())));
    if (figure_.differences) {
      text +=
          fmt::format("<path class=\"rule\" d=\"M{} {}H{}\"/>\n", at(kLeft), at(y_(0)), at(right_));
    }
    double free = 0;
    for (const double number : figure_.xs) {
      const std::string name = tick_text(number);
      const double half = static_cast<double>(name.size()) * kCharacter / 2;
      text += fmt::format("<path class=\"rule\" d=\"M{} {}v4\"/>\n", at(x_(number)), at(bottom_));
      if (x_(number) - half < free) continue;  // its mark stays
      free = x_(number) + half + kCharacter;
      text += text_at(x_(number), bottom_ + 17, "middle", "q n", name);
    }
    return text + text_at((kLeft + right_) / 2, bottom_ + 33, "middle", "q", figure_.axis);
  }

  /// Neighbours with a spread share a band; one alone has a bar.
  std::string band(const FigureLine& line) const {
    std::string text;
    const std::vector<FigurePoint>& points = line.points;
    for (size_t begin = 0; begin < points.size(); ++begin) {
      if (!points[begin].spread) continue;
      size_t end = begin;
      while (end < points.size() && points[end].spread) ++end;
      const size_t colour = line.series % kColours;
      if (end - begin == 1) {
        const Spread& spread = *points[begin].spread;
        text += fmt::format("<path class=\"c{}\" stroke-opacity=\".6\" d=\"M{} {}V{}\"/>\n", colour,
                            at(x_(points[begin].x)), at(y_(spread.low)), at(y_(spread.high)));
      } else {
        std::string corners;
        for (size_t i = begin; i < end; ++i) {
          corners += fmt::format("{},{} ", at(x_(points[i].x)), at(y_(points[i].spread->high)));
        }
        for (size_t i = end; i-- > begin;) {
          corners += fmt::format("{},{} ", at(x_(points[i].x)), at(y_(points[i].spread->low)));
        }
        corners.pop_back();
        text += fmt::format("<polygon class=\"f{}\" fill-opacity=\".12\" points=\"{}\"/>\n", colour,
                            corners);
      }
      begin = end;
    }
    return text;
  }

  /// The line breaks where a cell has no number.
  std::string curve(const FigureLine& line) const {
    const FigureSeries& series = figure_.series[line.series];
    std::string path;
    std::string markers;
    const auto name = [&](const std::string& words) {
      return "<title>" + xml_text(series.name + words) + "</title>";
    };
    if (line.constant) {
      path = fmt::format("M{} {}H{}", at(kLeft), at(y_(*line.constant)), at(right_));
    }
    bool drawing = false;
    for (const FigurePoint& point : line.points) {
      if (point.y) {
        path += fmt::format("{}{} {}", drawing ? "L" : "M", at(x_(point.x)), at(y_(*point.y)));
        markers += marker(line.series, x_(point.x), y_(*point.y)) + "\n";
      }
      drawing = point.y.has_value();
    }
    if (path.empty()) return "";
    const char* const dash =
        line.constant ? kDashes[2] : kDashes[line.series / kColours % kDashes.size()];
    return fmt::format("<g>{}<path class=\"line c{}\"{} d=\"{}\"/>\n{}</g>\n", name(""),
                       line.series % kColours, dash, path, markers);
  }

  std::string labels() const {
    std::vector<Label> labels;
    for (const FigureLine& line : panel_.lines) {
      Label label{line.series, 0, right_, 0};
      const auto last = std::ranges::find_if(line.points | std::views::reverse,
                                             [](const FigurePoint& p) { return p.y.has_value(); });
      if (line.constant) {
        label.wanted = y_(*line.constant);
      } else if (last != std::ranges::end(line.points | std::views::reverse)) {
        label.wanted = y_(*last->y);
        label.x = x_(last->x);
      } else {
        continue;
      }
      labels.push_back(label);
    }
    spread_out(labels, top_, bottom_);
    std::string text;
    for (const Label& label : labels) {
      const size_t series = label.series;
      if (label.x > right_ - kLongestLeader) {  // from far away it would be read as a line
        text += fmt::format(
            "<path class=\"c{}\" stroke-opacity=\".45\" stroke-dasharray=\"1 2\" d=\"M{} {}L{} "
            "{}\"/>\n",
            series % kColours, at(label.x + 6), at(label.wanted), at(right_ + 8), at(label.y));
      }
      text += legend_entry(series, right_ + 14, label.y, figure_.series[series].name);
    }
    return text;
  }

  /// "× zero_shot at 256: OOM", under the plot; a cross in it says where the axis applies.
  std::string troubles(double& bottom) const {
    std::string text;
    size_t count = 0;
    std::map<double, size_t> crosses;  // how many stand beside each other
    const auto say = [&](const FigureLine& line, const std::string& words) {
      if (++count > kMostTroubles) return;
      bottom += kLineHeight;
      text +=
          text_at(kLeft, bottom - 4, "start", "q", "× " + figure_.series[line.series].name + words);
    };
    for (const FigureLine& line : panel_.lines) {
      if (!line.trouble.empty()) say(line, ": " + line.trouble);
      for (const FigurePoint& point : line.points) {
        if (point.y) continue;
        const double x = x_(point.x) - 8 * static_cast<double>(crosses[point.x]++);
        text += fmt::format("<path class=\"c{}\" d=\"M{} {}l6 6m0 -6l-6 6\"/>\n",
                            line.series % kColours, at(x - 3), at(bottom_ - 10));
        say(line, fmt::format(" at {}: {}", tick_text(point.x), point.trouble));
      }
    }
    if (count > kMostTroubles) {
      bottom += kLineHeight;
      text += text_at(kLeft, bottom - 4, "start", "q",
                      fmt::format("× and {} more", count - kMostTroubles));
    }
    return text;
  }

  const Figure& figure_;
  const FigurePanel& panel_;
  double top_;
  double bottom_;
  double right_;
  Ticks ticks_;
  Scale x_;
  Scale y_;
};

}  // namespace

std::string write_svg(const Figure& figure) {
  std::string body;
  double y = 40;
  std::vector<std::string> names;
  for (const FigureSeries& series : figure.series) names.push_back(series.name);
  const double right = right_edge(names);
  for (const FigurePanel& panel : figure.panels) {
    double bottom = 0;
    body += PanelDrawing(figure, panel, y, right).draw(bottom);
    y = bottom + 14;
  }
  return document(figure.title, figure.signature, body, y, figure.notes);
}

}  // namespace qfs::reports

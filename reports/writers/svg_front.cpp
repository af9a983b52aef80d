#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/core/utf8.h"
#include "reports/escape.h"
#include "reports/writers/svg.h"
#include "reports/writers/svg_parts.h"

namespace qfs::reports {
namespace {

using namespace svg;  // NOLINT(google-build-using-namespace): what pictures are made of

constexpr double kFrontHeight = 280;

Range range_of(const FrontPanel& panel, double FrontPoint::*number,
               std::optional<Spread> FrontPoint::*spread) {
  Range range;
  for (const FrontPoint& point : panel.points) {
    range.take(point.*number);
    if (point.*spread) range.take((point.*spread)->low);
    if (point.*spread) range.take((point.*spread)->high);
  }
  return range;
}

const char* direction(Better better) { return better == Better::higher ? " →" : " ←"; }

struct Box {
  double left;
  double right;
  double top;
  double bottom;
};

Box around(double x, double y, double half_width, double half_height) {
  return {x - half_width, x + half_width, y - half_height, y + half_height};
}

bool meet(const Box& a, const Box& b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

class FrontDrawing {
 public:
  FrontDrawing(const Front& front, const FrontPanel& panel, double top, double right)
      : front_(front),
        panel_(panel),
        top_(top + 26),
        bottom_(top_ + kFrontHeight),
        right_(right),
        x_range_(range_of(panel, &FrontPoint::x, &FrontPoint::x_spread)),
        y_range_(range_of(panel, &FrontPoint::y, &FrontPoint::y_spread)),
        logarithmic_(is_logarithmic(x_range_.low, x_range_.high)),
        x_ticks_(ticks_between(x_range_.low, x_range_.high)),
        y_ticks_(ticks_between(y_range_.low, y_range_.high)),
        x_(logarithmic_ ? x_range_.low : x_ticks_.low, logarithmic_ ? x_range_.high : x_ticks_.high,
           kLeft + 10, right - 10, logarithmic_),
        y_(y_ticks_.low, y_ticks_.high, bottom_, top_, false) {}

  std::string draw(double& bottom) const {
    const std::string title = panel_.y_title + " over " + panel_.x_title +
                              (panel_.title.empty() ? "" : ", ") + panel_.title;
    std::string text = text_at(kLeft, top_ - 12, "start", "t", title) + axes() + front();
    for (const FrontPoint& point : panel_.points) text += bars(point);
    for (const FrontPoint& point : panel_.points) text += drawn(point);
    bottom = bottom_ + 44;
    return text + labels() + names();
  }

 private:
  std::vector<double> x_numbers() const {
    if (logarithmic_) return logarithmic_ticks(x_range_.low, x_range_.high);
    std::vector<double> numbers;
    for (int i = 0; x_ticks_.low + i * x_ticks_.step <= x_ticks_.high + x_ticks_.step / 2; ++i) {
      numbers.push_back(x_ticks_.low + i * x_ticks_.step);
    }
    return numbers;
  }

  std::string axes() const {
    std::string text;
    for (int i = 0; y_ticks_.low + i * y_ticks_.step <= y_ticks_.high + y_ticks_.step / 2; ++i) {
      const double number = y_ticks_.low + i * y_ticks_.step;
      text += fmt::format("<path class=\"grid\" d=\"M{} {}H{}\"/>\n", at(kLeft), at(y_(number)),
                          at(right_));
      text += text_at(kLeft - 8, y_(number) + 4, "end", "q n", y_ticks_.text(number));
    }
    text += fmt::format("<path class=\"rule\" d=\"M{} {}H{}\"/>\n", at(kLeft + 10), at(bottom_),
                        at(right_ - 10));
    for (const double number : x_numbers()) {
      text += fmt::format("<path class=\"rule\" d=\"M{} {}v4\"/>\n", at(x_(number)), at(bottom_));
      text += text_at(x_(number), bottom_ + 17, "middle", "q n",
                      logarithmic_ ? tick_text(number) : x_ticks_.text(number));
    }
    return text + text_at((kLeft + right_) / 2, bottom_ + 34, "middle", "q",
                          panel_.x_title + ", better" + direction(panel_.x_better));
  }

  std::string front() const {
    std::map<std::string_view, std::vector<const FrontPoint*>> best;
    for (const FrontPoint& point : panel_.points) {
      if (point.best) best[point.comparable].push_back(&point);
    }
    std::string text;
    for (auto& [comparable, points] : best) text += line(points);
    return text;
  }

  /// In steps: between two points one has at least the worse of both.
  std::string line(std::vector<const FrontPoint*>& best) const {
    std::ranges::stable_sort(best, {}, [](const FrontPoint* point) { return point->x; });
    std::string path;
    for (size_t i = 0; i < best.size(); ++i) {
      const double x = x_(best[i]->x);
      const double y = y_(best[i]->y);
      if (i == 0) {
        path = fmt::format("M{} {}", at(x), at(y));
      } else if (panel_.x_better == Better::higher) {  // the next is worth less
        path += fmt::format("V{}H{}", at(y), at(x));
      } else {
        path += fmt::format("H{}V{}", at(x), at(y));
      }
    }
    if (best.size() < 2) return "";
    return fmt::format(
        "<path class=\"rule\" stroke-opacity=\".5\" stroke-dasharray=\"4 3\" d=\"{}\"/>\n", path);
  }

  std::string bars(const FrontPoint& point) const {
    std::string path;
    if (point.x_spread) {
      path += fmt::format("M{} {}H{}", at(x_(point.x_spread->low)), at(y_(point.y)),
                          at(x_(point.x_spread->high)));
    }
    if (point.y_spread) {
      path += fmt::format("M{} {}V{}", at(x_(point.x)), at(y_(point.y_spread->low)),
                          at(y_(point.y_spread->high)));
    }
    if (path.empty()) return "";
    return fmt::format("<path class=\"c{}\" stroke-opacity=\".4\" d=\"{}\"/>\n",
                       point.series % kColours, path);
  }

  std::string drawn(const FrontPoint& point) const {
    const std::string name =
        front_.series[point.series] + (point.label.empty() ? "" : " at " + point.label);
    return fmt::format("<g><title>{}</title>{}</g>\n", xml_text(name),
                       marker(point.series, x_(point.x), y_(point.y)));
  }

  /// At the points on the line, on a side where no other point and no other label is.
  std::string labels() const {
    constexpr double kGap = 6;
    std::string text;
    std::vector<Box> taken;
    for (const FrontPoint& point : panel_.points) {
      taken.push_back(around(x_(point.x), y_(point.y), kGap, kGap));
    }
    for (const FrontPoint& point : panel_.points) {
      if (!point.best || point.label.empty()) continue;
      const std::string label = shortened(point.label);
      const double half = static_cast<double>(count_code_points(label) + 1) * kCharacter / 2;
      const double x = x_(point.x);
      const double y = y_(point.y);
      const auto free = [&](const Box& box) {
        return std::ranges::none_of(taken, [&](const Box& other) { return meet(box, other); });
      };
      for (const auto& [right, down] :
           {std::pair{1, -1}, {1, 1}, {-1, -1}, {-1, 1}, {1, 0}, {-1, 0}}) {
        const double middle = x + right * (half + kGap + 1);  // clear of its own point
        const double centre = y + down * (kLineHeight / 2 + 1);
        const Box box = around(middle, centre, half, kLineHeight / 2 - 2);
        if (box.left < kLeft || box.right > right_ || !free(box)) continue;
        taken.push_back(box);
        text += text_at(middle, centre + 4, "middle", "n", label);
        break;
      }
    }
    return text;
  }

  std::string names() const {
    std::string text;
    double y = top_ + 6;
    for (size_t i = 0; i < front_.series.size(); ++i) {
      const bool shown = std::ranges::any_of(
          panel_.points, [&](const FrontPoint& point) { return point.series == i; });
      if (!shown) continue;
      text += legend_entry(i, right_ + 14, y, front_.series[i]);
      y += kLineHeight;
    }
    return text;
  }

  const Front& front_;
  const FrontPanel& panel_;
  double top_;
  double bottom_;
  double right_;
  Range x_range_;
  Range y_range_;
  bool logarithmic_;
  Ticks x_ticks_;
  Ticks y_ticks_;
  Scale x_;
  Scale y_;
};

}  // namespace

std::string write_svg(const Front& front) {
  std::string body;
  double y = 40;
  const double right = right_edge(front.series);
  for (const FrontPanel& panel : front.panels) {
    double bottom = 0;
    body += FrontDrawing(front, panel, y, right).draw(bottom);
    y = bottom + 14;
  }
  return document(front.title, front.signature, body, y, front.notes);
}

}  // namespace qfs::reports

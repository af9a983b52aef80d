// What SVG pictures of reports are made of: style, coordinates, axes, markers, names beside lines.
// Private to the writers svg_*.cpp. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace qfs::reports::svg {

inline constexpr double kWidth = 760;
inline constexpr double kLeft = 56;  ///< where plots begin
inline constexpr double kLineHeight = 16;
inline constexpr double kCharacter = 6.6;  ///< mean width of one at 12 px; texts are not measured
inline constexpr double kPlotHeight = 220;
inline constexpr size_t kColours = 8;

/// A coordinate: two decimals at most, no "-0".
std::string at(double number);

/// Classes: h, t titles; q quiet; n numbers.
std::string text_at(double x, double y, const char* anchor, const char* classes,
                    const std::string& text);

/// A long name is cut, at a whole character.
std::string shortened(const std::string& name);

/// "0.5", "4096": the shortest text of a number on an axis.
std::string tick_text(double number);

/// An axis: numbers to coordinates.
class Scale {
 public:
  Scale(double low, double high, double from, double to, bool logarithmic);
  double operator()(double number) const;

 private:
  double mapped(double number) const;

  bool logarithmic_;
  double low_;
  double high_;
  double from_;
  double to_;
};

/// Positive numbers that span a factor of eight are shown by their logarithms.
bool is_logarithmic(double low, double high);

/// Steps of 1, 2 or 5 times a power of ten, about four of them.
struct Ticks {
  double step = 1;
  double low = 0;
  double high = 1;
  int decimals = 0;

  std::string text(double number) const;
};
Ticks ticks_between(double low, double high);

/// 1, 2 and 5 times powers of ten between two positive numbers; powers alone where these are many.
std::vector<double> logarithmic_ticks(double low, double high);

/// The smallest and largest of the numbers that were taken.
struct Range {
  double low;
  double high;
  Range();
  void take(double number);
  bool empty() const { return low > high; }
};

/// Circle, square, diamond, triangle: a series' marker tells it apart without colour.
std::string marker(size_t series, double x, double y);

/// A series in a legend: its marker in the middle of (x, y), and its name beside it.
std::string legend_entry(size_t series, double x, double y, const std::string& name);

/// A name beside a plot.
struct Label {
  size_t series = 0;
  double wanted = 0;  ///< height of what it names
  double x = 0;       ///< where that ends
  double y = 0;       ///< set by spread_out
};

/// Names in their order, apart by a line of text, inside the plot.
void spread_out(std::vector<Label>& labels, double top, double bottom);

/// Where plots end, so that the longest of the names has room beside them.
double right_edge(const std::vector<std::string>& names);

/// The whole file: a title, the body, which ends at `bottom`, and notes below it.
std::string document(const std::string& title, const std::string& description,
                     const std::string& body, double bottom, const std::vector<std::string>& notes);

}  // namespace qfs::reports::svg

#include "reports/writers/svg_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <ranges>

#include "harness/core/utf8.h"
#include "reports/escape.h"

namespace qfs::reports::svg {
namespace {

constexpr size_t kLongestName = 32;

/// Light on the left, dark on the right: each at least 4.5 : 1 on its ground.
constexpr std::array<std::array<const char*, 2>, kColours> kPalette = {{{"#1f5fa8", "#85b4ee"},
                                                                        {"#b5471b", "#f2a07a"},
                                                                        {"#22764f", "#79cda5"},
                                                                        {"#80429a", "#cda5e0"},
                                                                        {"#86601a", "#dfbc6e"},
                                                                        {"#0c7485", "#6fd0de"},
                                                                        {"#ad2e5c", "#f095b5"},
                                                                        {"#515a66", "#aeb7c3"}}};
std::string style() {
  std::string text =
      "text{font:12px Charter,'Bitstream Charter','Source Serif 4',Georgia,serif;fill:#1d1d1b}"
      ".h{font-size:15px}.t{font-size:13px}.q{fill:#5c5b57}.n{font-variant-numeric:tabular-nums}"
      ".ground{fill:#fffdf9}.grid{stroke:#e4e1d9}.rule{stroke:#1d1d1b}"
      "path{fill:none}.line{stroke-width:1.6}";
  std::string dark =
      "text{fill:#e9e6df}.q{fill:#a5a199}.ground{fill:#191a1c}.grid{stroke:#34353a}"
      ".rule{stroke:#e9e6df}";
  for (size_t i = 0; i < kColours; ++i) {
    const auto rule = [&](const char* colour) {
      return fmt::format(".c{0}{{stroke:{1}}}.f{0}{{fill:{1}}}", i, colour);
    };
    text += rule(kPalette[i][0]);
    dark += rule(kPalette[i][1]);
  }
  return text + "@media (prefers-color-scheme:dark){" + dark + "}";
}

}  // namespace

std::string at(double number) {
  std::string text = fmt::format("{:.2f}", number);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string text_at(double x, double y, const char* anchor, const char* classes,
                    const std::string& text) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n", at(x),
                     at(y), anchor, classes, xml_text(text));
}

std::string shortened(const std::string& name) {
  if (count_code_points(name) <= static_cast<int64_t>(kLongestName)) return name;
  size_t end = 0;
  for (size_t i = 0; i + 1 < kLongestName; ++i) {
    do ++end;
    while (end < name.size() && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U);
  }
  return name.substr(0, end) + "…";
}

std::string tick_text(double number) { return fmt::format("{}", number); }

Scale::Scale(double low, double high, double from, double to, bool logarithmic)
    : logarithmic_(logarithmic), low_(mapped(low)), high_(mapped(high)), from_(from), to_(to) {}

double Scale::operator()(double number) const {
  return from_ + (mapped(number) - low_) / (high_ - low_) * (to_ - from_);
}

double Scale::mapped(double number) const { return logarithmic_ ? std::log2(number) : number; }

bool is_logarithmic(double low, double high) { return low > 0 && high / low >= 8; }

std::string Ticks::text(double number) const {
  return fmt::format("{:.{}f}", std::abs(number) < step / 2 ? 0 : number, decimals);
}

Ticks ticks_between(double low, double high) {
  if (high - low < 1e-9 * std::max(1.0, std::abs(high))) {  // one number
    const double half = high == 0 ? 1 : std::abs(high) * 0.1;
    low -= half;
    high += half;
  }
  const double rough = (high - low) / 4;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double share = rough / power;
  Ticks ticks;
  ticks.step = power * (share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10);
  ticks.low = std::floor(low / ticks.step + 1e-9) * ticks.step;
  ticks.high = std::ceil(high / ticks.step - 1e-9) * ticks.step;
  ticks.decimals = std::max(0, -static_cast<int>(std::floor(std::log10(ticks.step) + 1e-9)));
  return ticks;
}

std::vector<double> logarithmic_ticks(double low, double high) {
  constexpr size_t kMany = 9;
  std::vector<double> all;
  std::vector<double> powers;
  for (int power = static_cast<int>(std::floor(std::log10(low))); std::pow(10, power) <= high;
       ++power) {
    for (const int digit : {1, 2, 5}) {
      const double number = digit * std::pow(10, power);
      if (number < low || number > high) continue;
      all.push_back(number);
      if (digit == 1) powers.push_back(number);
    }
  }
  return all.size() <= kMany ? all : powers;
}

Range::Range()
    : low(std::numeric_limits<double>::infinity()),
      high(-std::numeric_limits<double>::infinity()) {}

void Range::take(double number) {
  low = std::min(low, number);
  high = std::max(high, number);
}

std::string marker(size_t series, double x, double y) {
  const std::string colour = fmt::format("class=\"f{}\"", series % kColours);
  constexpr double r = 3.2;
  // Each colour comes with another shape when it comes again.
  switch ((series + series / kColours) % 4) {
    case 0:
      return fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" {}/>", at(x), at(y), at(r), colour);
    case 1:
      return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" {}/>", at(x - r + 0.3),
                         at(y - r + 0.3), at(2 * r - 0.6), at(2 * r - 0.6), colour);
    case 2:
      return fmt::format("<polygon points=\"{},{} {},{} {},{} {},{}\" {}/>", at(x), at(y - r - 1),
                         at(x + r + 1), at(y), at(x), at(y + r + 1), at(x - r - 1), at(y), colour);
    default:
      return fmt::format("<polygon points=\"{},{} {},{} {},{}\" {}/>", at(x), at(y - r - 1),
                         at(x + r + 0.6), at(y + r - 0.4), at(x - r - 0.6), at(y + r - 0.4),
                         colour);
  }
}

std::string legend_entry(size_t series, double x, double y, const std::string& name) {
  return marker(series, x, y) + "\n" + text_at(x + 8, y + 4, "start", "", shortened(name));
}

void spread_out(std::vector<Label>& labels, double top, double bottom) {
  std::ranges::stable_sort(labels, {}, &Label::wanted);
  double free = top;
  for (Label& label : labels) {
    label.y = std::max(label.wanted, free);
    free = label.y + kLineHeight;
  }
  free = bottom;
  for (Label& label : labels | std::views::reverse) {
    label.y = std::min(label.y, free);
    free = label.y - kLineHeight;
  }
}

double right_edge(const std::vector<std::string>& names) {
  int64_t longest = 4;
  for (const std::string& name : names) {
    longest = std::max(longest, count_code_points(shortened(name)));
  }
  return kWidth - 30 - static_cast<double>(longest) * kCharacter;
}

std::string document(const std::string& title, const std::string& description,
                     const std::string& body, double bottom,
                     const std::vector<std::string>& notes) {
  std::string text = text_at(kLeft, 28, "start", "h", title) + body;
  for (const std::string& note : notes) {
    text += text_at(kLeft, bottom + 4, "start", "q", note);
    bottom += kLineHeight;
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" role=\"img\">\n<title>{2}</title>\n<desc>{3}</desc>\n<style>{4}</style>\n<rect "
      "class=\"ground\" width=\"{0}\" height=\"{1}\"/>\n{5}</svg>\n",
      at(kWidth), at(bottom + 8), xml_text(title), xml_text(description), style(), text);
}

}  // namespace qfs::reports::svg

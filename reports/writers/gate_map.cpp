#include "reports/writers/gate_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "reports/escape.h"

namespace qfs::reports {

namespace {

using nlohmann::json;

/// What outputs keep for 1.
constexpr int64_t kParts = 10000;
constexpr double kFloor = 1e-5;  // of the extractor's weights, as in training
constexpr size_t kMostCells = size_t{1} << 22;

constexpr int kCellWidth = 12;
constexpr int kCellHeight = 5;
constexpr int kLeft = 44;
constexpr int kTop = 58;
constexpr int kGap = 4;  // behind the extractor's row
constexpr int kShades = 16;

Error bad_map(const std::string& what) { return data_error("the gate map of the output " + what); }

/// Shares with the sum 1; empty: they are none.
std::vector<double> shares_of(const json& list) {
  std::vector<double> shares;
  if (!list.is_array()) return shares;
  double sum = 0;
  for (const json& part : list) {
    if (!part.is_number_integer()) return {};
    const auto value = part.get<int64_t>();
    if (value < 0 || value > kParts) return {};
    shares.push_back(static_cast<double>(value));
    sum += shares.back();
  }
  if (sum <= 0) return {};
  for (double& share : shares) share /= sum;
  return shares;
}

double entropy_of(const std::vector<double>& weights) {
  double entropy = 0;
  for (const double weight : weights) {
    if (weight > 0) entropy -= weight * std::log(weight);
  }
  return entropy;
}

/// Cells of each shade as one path; white ones are not drawn.
class Shades {
 public:
  void add(double weight, int x, int y, int height) {
    const int shade = std::clamp(static_cast<int>(std::ceil(weight * kShades)), 0, kShades);
    if (weight * 2 * kShades < 1) return;
    paths_[static_cast<size_t>(std::max(shade, 1) - 1)] +=
        fmt::format("M{} {}h{}v{}h-{}z", x, y, kCellWidth, height, kCellWidth);
  }
  std::string text() const {
    std::string text;
    for (int shade = 0; shade < kShades; ++shade) {
      const std::string& path = paths_[static_cast<size_t>(shade)];
      if (path.empty()) continue;
      const int gray = 240 - shade * 240 / (kShades - 1);
      text += fmt::format("<path fill=\"rgb({0},{0},{0})\" d=\"{1}\"/>\n", gray, path);
    }
    return text;
  }

 private:
  std::vector<std::string> paths_ = std::vector<std::string>(kShades);
};

std::string label(int x, int y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     xml_text(text));
}

}  // namespace

Result<GateMap> read_gate_map(const std::string& extra) {
  const json facts = json::parse(extra, nullptr, false);
  if (!facts.is_object() || !facts.contains("gate")) {
    return not_found("the output keeps no gate map; ask for it with \"gate_map\": \"output\"");
  }
  GateMap map;
  map.extractor = shares_of(facts.value("extractor", json()));
  if (map.extractor.empty()) return bad_map("has no weights of the extractor");
  const json& steps = facts.at("gate");
  if (!steps.is_array() || steps.empty()) return bad_map("has no steps");
  if (steps.size() > kMostCells / map.extractor.size()) return bad_map("is too large");
  for (const json& step : steps) {
    map.steps.push_back(shares_of(step));
    if (map.steps.back().size() != map.extractor.size()) {
      return bad_map(fmt::format("has at step {} no weights of {} snippets", map.steps.size(),
                                 map.extractor.size()));
    }
  }
  for (const json& snippet : facts.value("snippets", json::array())) {
    if (!snippet.is_number_integer())
      return bad_map("names snippets by something else than places");
    map.snippets.push_back(snippet.get<int64_t>());
  }
  return map;
}

GateNumbers numbers_of(const GateMap& map) {
  GateNumbers numbers;
  std::vector<double> mean(map.extractor.size(), 0);
  for (const std::vector<double>& step : map.steps) {
    numbers.entropy += entropy_of(step);
    std::vector<double> falling = step;
    std::ranges::sort(falling, std::greater{});
    const auto most =
        falling.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(falling.size(), 3));
    numbers.top_three += std::accumulate(falling.begin(), most, 0.0);
    for (size_t k = 0; k < step.size(); ++k) mean[k] += step[k];
  }
  const auto steps = static_cast<double>(map.steps.size());
  numbers.entropy /= steps;
  numbers.top_three /= steps;
  double floored = 0;
  for (const double weight : map.extractor) floored += std::max(weight, kFloor);
  for (size_t k = 0; k < mean.size(); ++k) {
    const double share = mean[k] / steps;
    if (share <= 0) continue;
    numbers.divergence += share * std::log(share / (std::max(map.extractor[k], kFloor) / floored));
  }
  return numbers;
}

std::string gate_text(const GateMap& map) {
  const GateNumbers numbers = numbers_of(map);
  return fmt::format(
      "{} steps, {} snippets: mean entropy {:.2f} of at most {:.2f}, mass of the top 3 {:.1f} %, "
      "divergence of the mean from the extractor {:.2f}",
      map.steps.size(), map.extractor.size(), numbers.entropy,
      std::log(static_cast<double>(map.extractor.size())), 100 * numbers.top_three,
      numbers.divergence);
}

std::string write_gate_svg(const GateMap& map, const std::string& title) {
  const auto snippets = static_cast<int>(map.extractor.size());
  const auto steps = static_cast<int>(map.steps.size());
  const std::string numbers = gate_text(map);
  // A letter of the sans-serif face takes about six pixels.
  const int words = kLeft + 6 * static_cast<int>(std::max(numbers.size(), title.size()));
  const int width = std::max(kLeft + snippets * kCellWidth + 8, words);
  const int first = kTop + kCellWidth + kGap;
  const int height = first + steps * kCellHeight + 8;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" font-family=\"sans-serif\" font-size=\"10\">\n<rect width=\"{0}\" height=\"{1}\" "
      "fill=\"white\"/>\n",
      width, height);
  svg += label(4, 14, "start", title);
  svg += label(4, 28, "start", numbers);
  Shades shades;
  for (int k = 0; k < snippets; ++k) {
    const auto column = static_cast<size_t>(k);
    const int x = kLeft + k * kCellWidth;
    shades.add(map.extractor[column], x, kTop, kCellWidth);
    for (int t = 0; t < steps; ++t) {
      shades.add(map.steps[static_cast<size_t>(t)][column], x, first + t * kCellHeight,
                 kCellHeight);
    }
    // Copies have no place of their own.
    if (column < map.snippets.size()) {
      svg += fmt::format("<text transform=\"translate({},{}) rotate(-90)\">{}</text>\n", x + 9,
                         kTop - 3, map.snippets[column]);
    }
  }
  svg += shades.text();
  svg += label(kLeft - 3, kTop + 10, "end", "extractor");
  constexpr int kEvery = 10;
  for (int t = 0; t < steps; t += kEvery) {
    svg += label(kLeft - 3, first + t * kCellHeight + 6, "end", std::to_string(t + 1));
  }
  for (const auto& [y, tall] :
       {std::pair{kTop, kCellWidth}, std::pair{first, steps * kCellHeight}}) {
    svg += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"gray\"/>\n",
        kLeft, y, snippets * kCellWidth, tall);
  }
  return svg + "</svg>\n";
}

}  // namespace qfs::reports

#include "metrics/bertscore/baseline.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

namespace qfs::metrics {
namespace {

constexpr std::string_view kHeader = "LAYER,P,R,F";

/// Four numbers between commas.
std::optional<std::array<double, 4>> numbers_of(std::string_view line) {
  std::array<double, 4> numbers{};
  for (size_t i = 0; i < numbers.size(); ++i) {
    const size_t end = line.find(',');
    if ((end == line.npos) != (i + 1 == numbers.size())) return std::nullopt;
    const std::string_view field = line.substr(0, end);
    const auto [stop, error] =
        std::from_chars(field.data(), field.data() + field.size(), numbers[i]);
    if (error != std::errc() || stop != field.data() + field.size()) return std::nullopt;
    if (!std::isfinite(numbers[i])) return std::nullopt;
    line.remove_prefix(end == line.npos ? line.size() : end + 1);
  }
  return numbers;
}

Error wrong_line(std::string_view source, int64_t line, const std::string& expected) {
  return data_error("expected " + expected, std::string(source) + ":" + std::to_string(line));
}

}  // namespace

Result<BertScores> read_baseline(std::string_view text, std::string_view source, int64_t layer) {
  int64_t number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (++number == 1) {
      if (line != kHeader) return wrong_line(source, 1, "the header LAYER,P,R,F");
      continue;
    }
    if (line.empty()) continue;
    const auto numbers = numbers_of(line);
    if (!numbers) return wrong_line(source, number, "a layer and three numbers between commas");
    const auto [row, precision, recall, f] = *numbers;
    if (row != static_cast<double>(layer)) continue;
    if (precision >= 1 || recall >= 1 || f >= 1) {
      return wrong_line(source, number, "baselines below 1");
    }
    return BertScores{precision, recall, f};
  }
  return data_error("there is no baseline for layer " + std::to_string(layer), std::string(source));
}

BertScores rescaled(const BertScores& scores, const BertScores& baseline) {
  const auto scale = [](double value, double base) { return (value - base) / (1 - base); };
  return {scale(scores.precision, baseline.precision), scale(scores.recall, baseline.recall),
          scale(scores.f, baseline.f)};
}

}  // namespace qfs::metrics

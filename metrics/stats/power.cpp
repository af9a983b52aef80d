#include "metrics/stats/power.h"

#include <math.h>  // lgamma_r: std::lgamma writes a global

#include <algorithm>
#include <cmath>
#include <numbers>

#include "metrics/stats/cluster_sums.h"

namespace qfs::metrics {
namespace {

/// The value that a standard normal variable exceeds with chance `p` in (0, 1), by bisection.
double normal_upper(double p) {
  double low = -40;
  double high = 40;
  for (int step = 0; step < 100; ++step) {
    const double middle = (low + high) / 2;
    (std::erfc(middle / std::numbers::sqrt2) / 2 > p ? low : high) = middle;
  }
  return low;
}

double normal_below(double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; }

/// How far, in standard errors, a mean of so many clusters must lie away to be significant; 0 where
/// none is. It is the t whose approximation below has the chance `level` without a gap.
double critical_t(int64_t clusters, double level) {
  const auto freedom = static_cast<double>(clusters - 1);
  const double z = normal_upper(level);
  const double shrunk = 1 - 1 / (4 * freedom);
  const double rest = shrunk * shrunk - z * z / (2 * freedom);
  return rest > 0 ? z / std::sqrt(rest) : 0;
}

/// The chance that a chi-square variable is below `x`, by the series of the incomplete gamma
/// function (Abramowitz & Stegun 1964, 6.5.29).
double chi_square_below(double freedom, double x) {
  constexpr double kPrecision = 1e-15;
  int sign = 1;
  double power = freedom / 2 + 1;
  double term = std::exp((power - 1) * std::log(x / 2) - x / 2 - ::lgamma_r(power, &sign));
  double sum = 0;
  for (; term > sum * kPrecision; ++power) {
    sum += term;
    term *= x / 2 / power;
  }
  return sum;
}

/// The value that a chi-square variable is below with chance `p`, by bisection; `p` within what ten
/// standard deviations hold.
double chi_square_quantile(double freedom, double p) {
  double low = 0;
  double high = freedom + 10 * std::sqrt(2 * freedom) + 20;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (chi_square_below(freedom, middle) < p ? low : high) = middle;
  }
  return high;
}

}  // namespace

Result<double> cluster_standard_error(std::span<const Statistics> items,
                                      std::span<const std::string> clusters) {
  const Result<ClusterSums> data = sum_by_cluster(items, clusters);
  if (!data) return data.error();
  const auto count = static_cast<double>(data->clusters());
  if (count < 2) return 0.0;
  double sum = 0;
  double size = 0;
  for (size_t k = 0; k < data->clusters(); ++k) {
    sum += data->sums[k];
    size += data->sizes[k];
  }
  double squares = 0;
  for (size_t k = 0; k < data->clusters(); ++k) {
    const double residual = data->sums[k] - data->sizes[k] * sum / size;
    squares += residual * residual;
  }
  return std::sqrt(squares * count / (count - 1)) / size;
}

ErrorBounds standard_error_bounds(int64_t clusters, double standard_error) {
  constexpr double kOutside = 0.025;  // on either side
  const auto freedom = static_cast<double>(clusters - 1);
  const auto bound = [&](double p) {
    return standard_error * std::sqrt(freedom / chi_square_quantile(freedom, p));
  };
  return {bound(1 - kOutside), bound(kOutside)};
}

int64_t clusters_needed(int64_t clusters, double standard_error, double gap, double level) {
  const double errors = (normal_upper(level) + normal_upper(1 - kPower)) * standard_error / gap;
  constexpr double kMost = 1e15;
  const double needed = std::ceil(static_cast<double>(clusters) * errors * errors);
  return static_cast<int64_t>(std::min(needed, kMost));
}

int64_t clusters_to_show(int64_t clusters, double standard_error, double gap, double level) {
  return std::max(clusters + 1, clusters_needed(clusters, standard_error, gap, level));
}

double power_to_show(int64_t clusters, double standard_error, double gap, double level) {
  if (clusters < 2) return 0;
  const double t = critical_t(clusters, level);
  if (t <= 0) return 0;
  const auto freedom = static_cast<double>(clusters - 1);
  const double from = t * (1 - 1 / (4 * freedom)) - gap / standard_error;
  return 1 - normal_below(from / std::sqrt(1 + t * t / (2 * freedom)));
}

std::optional<double> gap_to_show(int64_t clusters, double standard_error, double level) {
  if (clusters < 2) return std::nullopt;
  const double t = critical_t(clusters, level);
  if (t <= 0) return std::nullopt;
  const auto freedom = static_cast<double>(clusters - 1);
  const double beyond = normal_upper(1 - kPower) * std::sqrt(1 + t * t / (2 * freedom));
  return (t * (1 - 1 / (4 * freedom)) + beyond) * standard_error;
}

}  // namespace qfs::metrics

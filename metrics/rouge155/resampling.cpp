#include "metrics/rouge155/resampling.h"

#include <algorithm>

#include "metrics/rouge155/scorer.h"

namespace qfs::metrics::rouge155 {
namespace {

/// The sums of all samples, one row a sample.
std::vector<double> sums(std::span<const double> values, size_t columns, int64_t samples) {
  const size_t rows = values.size() / columns;
  std::vector<double> sums(static_cast<size_t>(samples) * columns, 0);
  for (size_t k = 0; k < static_cast<size_t>(samples); ++k) {
    PerlRandom random(static_cast<uint32_t>(k));
    double* sum = sums.data() + k * columns;
    for (size_t i = 0; i < rows; ++i) {
      const double* row = values.data() + random.below(static_cast<double>(rows)) * columns;
      for (size_t c = 0; c < columns; ++c) sum[c] += row[c];
    }
  }
  return sums;
}

/// ROUGE-1.5.5 mixes two neighbours at both ends with the fraction of the *upper* end; what lies
/// beyond the last sample counts as 0 (it does with one sample).
Estimate estimate(std::vector<double>& samples, double confidence) {
  std::sort(samples.begin(), samples.end());
  Estimate result;
  double sum = 0;
  for (double sample : samples) sum += sample;
  const auto count = static_cast<double>(samples.size());
  result.average = sum / count;
  const double delta = count * ((100 - confidence) / 2.0) / 100.0;
  const auto upper = static_cast<int64_t>(count - delta - 1);
  const auto lower = static_cast<int64_t>(delta);
  const double fraction = count - delta - 1 - static_cast<double>(upper);
  const auto at = [&](int64_t index) {
    const auto i = static_cast<size_t>(index);
    return i < samples.size() ? samples[i] : 0.0;
  };
  const auto mixed = [&](int64_t i) { return at(i) + (at(i + 1) - at(i)) * fraction; };
  result.lower = mixed(lower);
  result.upper = mixed(upper);
  return result;
}

std::vector<Estimate> estimates(std::span<const double> samples, size_t columns,
                                double confidence) {
  std::vector<Estimate> all;
  std::vector<double> column;
  for (size_t c = 0; c < columns; ++c) {
    column.clear();
    for (size_t at = c; at < samples.size(); at += columns) column.push_back(samples[at]);
    all.push_back(estimate(column, confidence));
  }
  return all;
}

}  // namespace

Status check(const ResamplingOptions& options) {
  if (options.samples < 1 || options.samples > kMaxSamples) {
    return invalid_argument("-r is " + std::to_string(options.samples) + ", expected 1 to " +
                            std::to_string(kMaxSamples));
  }
  if (!(options.confidence >= 0 && options.confidence <= 100)) {
    return invalid_argument("-c is " + std::to_string(options.confidence) +
                            ", expected 0 to 100 percent");
  }
  return {};
}

std::vector<Estimate> resample_means(std::span<const double> values, size_t columns,
                                     const ResamplingOptions& options) {
  std::vector<double> samples = sums(values, columns, options.samples);
  const auto rows = static_cast<double>(values.size() / columns);
  for (double& sample : samples) sample /= rows;
  return estimates(samples, columns, options.confidence);
}

std::vector<Estimate> resample_pooled(std::span<const double> counts, size_t columns, double alpha,
                                      const ResamplingOptions& options) {
  std::vector<double> samples = sums(counts, columns, options.samples);
  for (size_t at = 0; at < samples.size(); at += 3) {
    const double recall = samples[at] > 0 ? samples[at + 2] / samples[at] : 0;
    const double precision = samples[at + 1] > 0 ? samples[at + 2] / samples[at + 1] : 0;
    samples[at] = recall;
    samples[at + 1] = precision;
    samples[at + 2] = f_measure(recall, precision, alpha);
  }
  return estimates(samples, columns, options.confidence);
}

}  // namespace qfs::metrics::rouge155

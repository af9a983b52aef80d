// Paired tests of corpus values that are no means of items: BLEU, chrF, a geometric mean of means.
//
// Called by `compare`. As bootstrap_differences and randomization_p, with one difference: what is
// resampled or swapped are the columns of both systems, and the values are made of their means by
// `values`. In a trial of the randomisation test each cluster's rows are exchanged between the
// systems or not (sacreBLEU's paired approximate randomisation, by cluster). Same resamples and
// assignments as there. Stateless, thread-safe, deterministic. Sources: Riezler & Maxwell 2005; for
// the drop Koehn 2004 and Efron & Tibshirani 1993, 13.3.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "metrics/stats/bootstrap.h"
#include "metrics/stats/randomization.h"

namespace qfs::metrics {

/// Per column values(a) - values(b) with its interval. Errors as bootstrap_differences.
Result<std::vector<PairedDifference>> bootstrap_corpus_differences(
    std::span<const Statistics> a, std::span<const Statistics> b,
    std::span<const std::string> clusters, const MeansTransform& values,
    const BootstrapOptions& options = {});

/// Two-sided p-values per column: (k + 1) / (trials + 1), or the exact share when 2^clusters <=
/// trials. Errors as randomization_p.
Result<std::vector<double>> randomization_corpus_p(std::span<const Statistics> a,
                                                   std::span<const Statistics> b,
                                                   std::span<const std::string> clusters,
                                                   const MeansTransform& values,
                                                   const RandomizationOptions& options = {});

/// Whether values(a) - values(b) is below, and whether it is above, -margin.
struct CorpusMargin {
  double p_below = 1;  ///< of "it is not below"
  double p_above = 1;  ///< of "it is not above"
  double low = 0;      ///< one-sided bounds of the difference, each at `level`
  double high = 0;
  double standard_error = 0;  ///< of the difference: the resamples' standard deviation
};

/// The one-sided paired bootstrap. Exchanging rows would need rows of a shifted by the margin,
/// which counts cannot be; so both systems are drawn together, as for their interval, and p_below
/// is the share of resamples in which the difference of one `column` is not below -margin, (k + 1)
/// / (resamples + 1) (Koehn 2004: the share in which the better system does not win; the same as an
/// upper percentile bound, at 1 - p, of -margin); p_above likewise. Errors as
/// bootstrap_differences, and fewer than kMinimumClusters clusters, a column that is not there, a
/// negative margin.
Result<CorpusMargin> bootstrap_corpus_margin(std::span<const Statistics> a,
                                             std::span<const Statistics> b,
                                             std::span<const std::string> clusters,
                                             const MeansTransform& values, size_t column,
                                             double margin, const BootstrapOptions& options = {});

}  // namespace qfs::metrics

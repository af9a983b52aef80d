// Paired tests of corpus values that are no means of items: BLEU, chrF, a geometric mean of means.
//
// Called by `compare`. As bootstrap_differences and randomization_p, with one difference: what is
// resampled or swapped are the columns of both systems, and the values are made of their means by
// `values`. In a trial of the randomisation test each cluster's rows are exchanged between the
// systems or not (sacreBLEU's paired approximate randomisation, by cluster). Same resamples and
// assignments as there. Stateless, thread-safe, deterministic. Source: Riezler & Maxwell 2005.
#pragma once

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

}  // namespace qfs::metrics

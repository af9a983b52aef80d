// Recounter: stored scores computed again from the stored outputs, by the metric and chain that
// their signature names.
//
// Called by `doctor --rescore`. Writes nothing. Not thread-safe (one reader). What this program
// cannot compute again (imported scores, external programs, absent data, another version) is said
// with the reason; it is neither equal nor different.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/api/dataset.h"
#include "harness/api/metric.h"
#include "harness/api/result.h"
#include "harness/score/item_source.h"
#include "harness/store/reader.h"

namespace qfs::score {

/// Something that a score job says and its outputs do not give.
struct Difference {
  std::string what;  ///< "rouge1.f", "rouge1.f of example 3", "the upper end of rouge1.f"
  std::string stored;
  std::string counted;
};

struct Recount {
  std::vector<Difference> differences;  ///< corpus values, intervals, then examples
  std::string unchecked;  ///< what could not be computed again, and why; empty: nothing
};

class Recounter {
 public:
  /// Both outlive the recounter.
  Recounter(store::Reader& reader, const MetricCatalog& catalog)
      : reader_(reader), catalog_(catalog), source_(reader) {}

  /// See Scorer::use_dataset.
  Status use_dataset(std::shared_ptr<const Dataset> dataset) {
    return source_.use_dataset(std::move(dataset));
  }

  /// Numbers count as equal within 1e-9, those of a metric with an encoder within 1e-4 (another
  /// processor rounds otherwise). Imported scores are looked at as means of their examples.
  Result<Recount> recount(const store::ScoreJobRow& job);

 private:
  /// The metric of a signature with its options.
  Result<std::shared_ptr<const Metric>> metric_of(const store::ScoreJobRow& job);

  store::Reader& reader_;
  const MetricCatalog& catalog_;
  ItemSource source_;
  /// By signature, with the chain that is a part of it.
  std::map<std::pair<std::string, std::string>, Result<std::shared_ptr<const Metric>>> metrics_;
};

}  // namespace qfs::score

// Which examples of a data set a sweep runs on. Pure functions of the data set and the numbers
// asked for, so that every machine and every resumption selects the same. Used by make_plan.
// Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "harness/api/dataset.h"
#include "harness/api/json.h"
#include "harness/api/method.h"
#include "harness/api/result.h"

namespace qfs::plan {

struct Selection {
  std::optional<int64_t> sample;      ///< that many, chosen by hash
  std::optional<int64_t> limit;       ///< the first N of those
  std::optional<uint64_t> draw = {};  ///< of the sample: another one for each number
};

/// Ordinals, ascending. A sample of K holds the K examples whose SHA-256(dataset_id + key) is
/// smallest: adding a method or a length never changes it, and a larger sample contains a smaller.
/// A draw is hashed behind the key.
std::vector<int64_t> select_examples(const Dataset& dataset, const Selection& selection);

/// The same rule within `ordinals`: what is measured is a part of what is run.
std::vector<int64_t> select_measured(const Dataset& dataset, std::span<const int64_t> ordinals,
                                     int64_t examples);

/// For each of `ordinals` an example with another document_id, or another query: one of those that
/// follow its own in the order of SHA-256(dataset_id + document_id, or query), cyclically.
/// `words`: documents without a word are passed over. Empty when for some there is none.
std::map<int64_t, int64_t> other_examples(const Dataset& dataset, std::span<const int64_t> ordinals,
                                          std::string Example::*of, bool words = false);

/// What of the selection is not everything, as ids and stores hold it:
/// {"draw":…,"limit":…,"sample":…}.
Result<Json> selection_json(const Dataset& dataset, const Selection& selection);

/// Mean lengths in words (runs of bytes other than ASCII white space) of the examples selected.
DatasetStats dataset_stats(const Dataset& dataset, std::span<const int64_t> ordinals);

}  // namespace qfs::plan

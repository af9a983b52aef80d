// StoredResults: the cells of a store that answer a claim, and what they say.
//
// Called by the evaluator. Reads on demand; not thread-safe. A cell answers when its method,
// version, parameters (those not named have their defaults), backbone and whole data set are those
// of the claim, in whichever sweep it stands. Errors are those of the store.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/claims/surroundings.h"
#include "harness/claims/verdict.h"
#include "harness/store/reader.h"

namespace qfs::claims {

/// A measured number, or why there is none yet.
struct Answer {
  std::optional<Measured> measured;
  std::string missing;  ///< "incomplete (12/20)", "failed (oom_host)", "no run in the store"
};

class StoredResults {
 public:
  /// `reader` outlives this.
  static Result<StoredResults> read(store::Reader& reader);

  /// What a claim says of a metric over a method's outputs; of several seeds the smallest.
  Result<Answer> score(const ResolvedMethod& method, const DatasetRequest& data,
                       const Metric& metric, const Claim& claim);

  /// The longest of these lengths at which the method was trained on a device of so much memory,
  /// where the next one that was tried ran out of it, or there is none.
  Result<Answer> longest(const ResolvedMethod& method, const DatasetRequest& data,
                         const LengthQuery& lengths);

  /// The mean of document tokens over the outputs of `lead` on all of `data`.
  Result<Answer> document_tokens(const ResolvedMethod& lead, std::span<const DatasetRequest> data);

 private:
  explicit StoredResults(store::Reader& reader) : reader_(&reader) {}
  /// Whether a training's identity names so many examples (0: all) of the data set's own training
  /// split.
  bool learnt_from(const nlohmann::json& recipe, DatasetRequest data, int64_t train_examples) const;
  Result<bool> answers(const store::CellRow& cell, const ResolvedMethod& method,
                       const DatasetRequest& data);
  /// Whether a training fitted a device of so much memory; nothing: it was not tried there.
  Result<std::optional<bool>> fitted(const store::CellRow& training, int64_t device_memory_mib);
  /// Complete results of the cells that answer, the smallest seed first; else what they lack.
  Result<std::vector<store::ResultRow>> complete(const ResolvedMethod& method,
                                                 const DatasetRequest& data, std::string& missing);

  store::Reader* reader_;
  std::vector<store::DatasetRow> datasets_;
  std::vector<store::CellRow> cells_;  ///< that predict
  std::vector<store::CellRow> trainings_;
};

}  // namespace qfs::claims

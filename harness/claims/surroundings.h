// Surroundings: what this program and this machine have for a claim: methods, data sets, metrics,
// and the places that the user named. Lookups decides by them what stands in a claim's way, so that
// a claim about a method that does not exist becomes runnable when the method is registered.
//
// Used by the evaluator and by `reproduce`. Not thread-safe (it remembers what it looked up).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "harness/api/dataset.h"
#include "harness/api/method.h"
#include "harness/api/metric.h"
#include "harness/claims/claim.h"

namespace qfs::claims {

/// Folders and files by the names that claims have for them: "llama-2" -> "…/tokenizer.model".
using Places = std::map<std::string, std::string>;

struct Surroundings {
  const MethodCatalog& methods;
  const DatasetCatalog& datasets;
  const MetricCatalog& metrics;
  Places places = {};
};

/// Why a claim is not measured: for good, or until the user does what `why` says.
struct Obstacle {
  bool for_good = true;
  std::string why;
};

/// A method query resolved against the catalogue.
struct ResolvedMethod {
  const MethodSpec* spec = nullptr;
  Params params;  ///< with defaults
  std::optional<Resource> backbone;
  std::map<std::string, Resource> backbones = {};  ///< by role
  BackboneFacts facts;
  /// By whose tokens documents are cut, a name: those that the query says, or of a method that
  /// counts some its backbone's; empty: any.
  std::string counter = {};
  std::optional<Resource> tokenizer = {};  ///< the counter
  int64_t train_examples = 0;              ///< as the query's
};

/// What a query gives a method that declares these parameters: its own, and what it shares.
std::vector<NamedValue> given_values(const MethodQuery& query,
                                     const std::vector<ParamSpec>& declared);

class Lookups {
 public:
  explicit Lookups(Surroundings surroundings) : here_(std::move(surroundings)) {}

  const Surroundings& surroundings() const { return here_; }

  /// std::nullopt: it can be measured. Loads no data.
  std::optional<Obstacle> obstacle(const Claim& claim);

  Result<ResolvedMethod> method(const MethodQuery& query);
  /// The query with the texts of its files as parameters; `not_found` says how to name their
  /// places.
  Result<MethodQuery> with_files(const MethodQuery& query);
  Result<std::shared_ptr<const Metric>> metric(const std::string& name);
  /// One request a split, defaults filled in and checked.
  Result<std::vector<DatasetRequest>> requests(const DatasetQuery& query) const;
  /// What a name stands for: its place, else the name itself.
  std::string place_of(const std::string& name) const;
  /// Places that were looked up so far, "llama-2#9e556afd44213b6b": what numbers rest on that the
  /// user named.
  std::vector<std::string> used_places() const;

 private:
  /// The model of a claim's name; `not_found` says how to name its place.
  Result<Resource> weights(const std::string& name);

  /// Of what a method does on a data set.
  std::optional<Obstacle> obstacle_of_cell(const Claim& claim);
  std::optional<Obstacle> obstacle_of_length(const Claim& claim);
  std::optional<Obstacle> obstacle_of_score(const Claim& claim);
  std::optional<Obstacle> obstacle_of_data(const Claim& claim);
  void note_use(const std::string& name, const std::string& digest);

  Surroundings here_;
  std::map<std::string, Result<std::shared_ptr<const Metric>>> metrics_;
  std::map<std::string, Result<Resource>> backbones_;
  std::map<std::string, std::string> used_;  ///< digest by name; of folders none
};

}  // namespace qfs::claims

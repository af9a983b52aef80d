// ResourceResolver: the models and tokenizers that the cells of a sweep name, looked up once each.
// Used by make_plan. Not thread-safe. Errors keep the catalogue's kind (`unavailable` for a missing
// checkpoint) and point at the key that names the resource, or at the method that lacks one.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/plan/expand.h"
#include "harness/plan/plan.h"

namespace qfs::plan {

class ResourceResolver {
 public:
  /// Both outlive the resolver.
  ResourceResolver(const Experiment& experiment, const MethodCatalog& catalog)
      : experiment_(experiment), catalog_(catalog) {}

  /// Gives a cell the models and the tokenizer that its method needs, as far as they are there: all
  /// that are missing are told by `all_found`. An error where one is not given, is not read, or is
  /// of no kind that the method reads with these parameters.
  Status find_models(const MethodRow& row, Cell& cell);
  /// Names every model that some cell lacks.
  Status all_found() const;

 private:
  /// The backbone of a method that needs one. A backbone that nothing would read is an error.
  Status find_backbone(const MethodRow& row, Cell& cell);
  /// Its further models by role. `invalid_argument` for a role that the method does not have, or
  /// that is not given.
  Status find_further(const MethodRow& row, Cell& cell);
  /// The tokenizer of a method that counts tokens: its own, else its backbone's, else the sweep's.
  Status find_tokenizer(const MethodRow& row, Cell& cell);
  /// What a lookup found; none where it is missing. `pointer`: where the sweep file names it.
  std::optional<Resource> found(const Result<Resource>& looked_up, const std::string& pointer);
  std::optional<Resource> model(const std::string& name, const std::string& pointer);
  /// What is known of the cell's backbone, and whether the method reads such a one.
  Status check_backbone(const MethodRow& row, Cell& cell);
  /// `unavailable`: the model is of none of the kinds that the method reads in this role.
  Status check_type(const Needs& needs, const std::string& role, const Resource& model,
                    const std::string& pointer);

  const Experiment& experiment_;
  const MethodCatalog& catalog_;
  std::map<std::string, Result<Resource>> backbones_;   // by name
  std::map<std::string, Result<BackboneFacts>> facts_;  // by digest
  std::map<std::string, Result<Resource>> tokenizers_;  // by name
  std::vector<Error> missing_;                          // each once
};

}  // namespace qfs::plan

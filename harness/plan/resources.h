// ResourceResolver: the backbones and tokenizers that the cells of a sweep name, looked up once
// each. Used by make_plan. Not thread-safe. Errors keep the catalogue's kind (`unavailable` for a
// missing checkpoint) and point at the key that names the resource, or at the method that lacks
// one.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "harness/plan/expand.h"

namespace qfs::plan {

class ResourceResolver {
 public:
  /// Both outlive the resolver.
  ResourceResolver(const Experiment& experiment, const MethodCatalog& catalog)
      : experiment_(experiment), catalog_(catalog) {}

  /// The backbone of a method that needs one. A backbone that nothing would read is an error.
  Result<std::optional<Resource>> backbone(const MethodRow& row, const Needs& needs);
  /// The further models of a method by role. `invalid_argument` for a role that it does not have,
  /// or that is not given.
  Result<std::map<std::string, Resource>> backbones(const MethodRow& row, const Needs& needs);
  /// `unavailable`: the backbone is of no kind that the method reads with these parameters; names
  /// the choice of a parameter with which it would be.
  Status check_backbone_type(const MethodRow& row, const Params& params, const Needs& needs,
                             const Resource& backbone);
  /// What is known of it; nothing where there is none.
  Result<BackboneFacts> facts(const MethodRow& row, const std::optional<Resource>& backbone);
  /// The tokenizer of a method that counts tokens: its own, else its backbone's, else the sweep's.
  Result<std::optional<Resource>> tokenizer(const MethodRow& row, const Needs& needs);

 private:
  /// The model of this name; `pointer`: where the sweep file names it.
  Result<Resource> model(const std::string& name, const std::string& pointer);
  /// `unavailable`: the model is of none of the kinds that the method reads in this role.
  Status check_type(const Needs& needs, const std::string& role, const Resource& model,
                    const std::string& pointer);

  const Experiment& experiment_;
  const MethodCatalog& catalog_;
  std::map<std::string, Result<Resource>> backbones_;   // by name
  std::map<std::string, Result<BackboneFacts>> facts_;  // by digest
  std::map<std::string, Result<Resource>> tokenizers_;  // by name
};

}  // namespace qfs::plan

// ModelRules: what few specs say, besides what MethodSpec asks of all, about the further models and
// the trained file that a cell names.
//
// A spec that has such rules derives from both; the planner asks it before the first cell runs.
// Stateless and thread-safe, as MethodSpec.
#pragma once

#include <string>
#include <string_view>

#include "harness/api/method.h"

namespace qfs {

class ModelRules {
 public:
  virtual ~ModelRules() = default;

  /// Rules between a cell's parameters and the model of a role of Needs::backbones.
  virtual Status check_model(const Params& params, const std::string& role,
                             const Resource& model) const = 0;

  /// Rules between what a cell asks for and the recipe of the trained file that it predicts with;
  /// empty: the file says none. Of its own training's it is asked with `params` twice.
  virtual Status check_file(const Params& params, const Params& recipe) const = 0;

  /// Whether a cell may ask for another value of a parameter of both stages than its file was
  /// trained with. The plan notes where one does.
  virtual bool may_differ(std::string_view name) const = 0;
};

}  // namespace qfs

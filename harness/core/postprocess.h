// Postprocess: a chain of named text transforms that makes scored texts of raw ones.
//
// Written as a list of steps, "strip_special" or "replace:pattern=^A: ,with=" (a comma in a value
// is
// "\,"), in a sweep's "postprocess" and as `score --postprocess`. Every step has the parameter
// `to`: predictions (the default) or both, which transforms references too. Immutable and
// thread-safe once parsed. An unknown step or parameter is an error with the nearest valid name; a
// pattern is checked by ICU when the chain is made and runs under its time and stack limits. Text
// that is not UTF-8 stays as it is: whoever scores it says where.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/json.h"
#include "harness/api/result.h"

namespace qfs {

struct PostprocessParameter {
  std::string name;
  std::string default_value;  ///< empty: must be given, unless `optional`
  std::string doc;
  bool optional = false;
};

/// A step as `list postprocess` shows it.
struct PostprocessStep {
  std::string name;
  std::vector<PostprocessParameter> parameters;
  std::string doc;
};

/// All steps, `to` left out of their parameters.
const std::vector<PostprocessStep>& postprocess_steps();

class Postprocess {
 public:
  Postprocess() = default;  ///< the identity

  static Result<Postprocess> parse(std::span<const std::string> steps);

  /// The chain that chain() gave, as stores and signatures have it. `data` when it is no list of
  /// texts.
  static Result<Postprocess> of_chain(const Json& chain);

  bool empty() const { return steps_.empty(); }
  /// A list of steps with the parameters that are not at their default, as an identity holds it.
  Json chain() const;

  Result<std::string> prediction(std::string text) const { return run(std::move(text), true); }
  Result<std::string> reference(std::string text) const { return run(std::move(text), false); }

 private:
  struct Step {
    std::string text;  ///< canonical
    bool references = false;
    std::function<Result<std::string>(std::string)> apply;
  };
  Result<std::string> run(std::string text, bool prediction) const;

  std::vector<Step> steps_;
};

}  // namespace qfs

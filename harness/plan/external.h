// ExternalDescriber: how the plan learns the name, version and parameters of a method that is the
// user's own program. Implemented by harness/run on top of the session protocol's `describe`.
#pragma once

#include <memory>

#include "harness/api/experiment.h"
#include "harness/api/method.h"
#include "harness/api/result.h"

namespace qfs::plan {

class ExternalDescriber {
 public:
  virtual ~ExternalDescriber() = default;
  /// Starts the program, asks it what it is and ends it. Called once per method entry of a sweep,
  /// and only when external programs are allowed. An error leaves that method out, not the others.
  virtual Result<std::shared_ptr<const MethodSpec>> describe(const ExternalCommand& command) = 0;
};

}  // namespace qfs::plan

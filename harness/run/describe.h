// HostDescriber: asks external programs what they are, over the session protocol.
// Used by the command line when it plans a sweep with external methods. Not thread-safe.
#pragma once

#include "harness/plan/external.h"
#include "harness/run/run.h"

namespace qfs::run {

class HostDescriber : public plan::ExternalDescriber {
 public:
  /// The sweep's limits hold here, too: `open_seconds` is the time for the answer.
  explicit HostDescriber(const HostLimits& limits) : limits_(limits) {}
  Result<std::shared_ptr<const MethodSpec>> describe(const ExternalCommand& command) override;

 private:
  HostLimits limits_;
};

}  // namespace qfs::run

// The sweeps that claims need: one a data set, with the methods and metrics of its claims and
// nothing else.
//
// Called by `reproduce`, which plans and runs them as every other sweep. Reads no data. Errors are
// those of resolving a method, which the claims' obstacles say before.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/claims/claim.h"
#include "harness/claims/surroundings.h"

namespace qfs::claims {

struct ClaimSweep {
  std::string name;        ///< "claims-qmsum-test-whole-raw"
  std::string text;        ///< a sweep file
  bool on_device = false;  ///< what is asked for is what fits a device's memory
};

/// Of the claims among these that no obstacle keeps from running in cells; by data set,
/// what outputs go through and the memory of a device.
Result<std::vector<ClaimSweep>> sweeps_of(std::span<const Claim* const> claims, Lookups& lookups);

}  // namespace qfs::claims

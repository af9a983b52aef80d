// DescribedSpec: the MethodSpec of an external method, made from its answer to `describe`, so that
// it is planned and validated like a built-in one. Immutable; thread-safe.
#pragma once

#include <memory>

#include "harness/api/method.h"
#include "harness/host/messages.h"

namespace qfs::host {

/// Checks the description (names, ranges, defaults inside their ranges, no duplicates).
Result<std::shared_ptr<const MethodSpec>> make_described_spec(Description description);

}  // namespace qfs::host

// LibTorch's process-wide settings (threads, determinism, gradient mode) and the border at which
// its exceptions become Errors: the only file that touches either.
//
// Called by the host when a session opens and by code that calls into LibTorch. The settings are
// global to the process: one session at a time.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <string_view>
#include <utility>

#include "harness/api/json.h"
#include "harness/api/method.h"
#include "harness/api/result.h"

namespace qfs::nn {

/// Applies device, dtype and threads, turns deterministic algorithms on. `unavailable` for a device
/// or dtype that this build or machine lacks, `invalid_argument` for an unknown one.
Status configure_torch(const RuntimeOptions& runtime);

/// What is in force, read back from LibTorch.
struct TorchFacts {
  Json numerics;  ///< what outputs may depend on: versions, instruction sets, threads, determinism
  Json details;   ///< further facts, stored with the environment only
};

/// Applies the settings and reads them back. Errors as configure_torch.
Result<TorchFacts> probe_torch(const RuntimeOptions& runtime);

/// Calls `body(index)` for each of [0, count) on as many threads as LibTorch was given, which stay
/// for the next call as LibTorch's own do; it cannot lend those to code without OpenMP. Callers
/// take turns; `body` must not throw, nor call this.
void for_items(int64_t count, const std::function<void(int64_t)>& body);

/// The Error for the exception in flight: out_of_memory for failed allocations, internal otherwise.
/// `doing` says what was being done. Called inside a catch block.
Error caught_torch_error(std::string_view doing);

/// Runs `body` (returning a Status or Result); exceptions become Errors.
template <class Body>
auto guarded(std::string_view doing, Body&& body) -> decltype(body()) {
  try {
    return std::forward<Body>(body)();
  } catch (...) {
    return caught_torch_error(doing);
  }
}

}  // namespace qfs::nn

// The session of `endpoint`: sends prompts to a server, several at a time, and makes predictions of
// its answers.
//
// Opened by the light host. `run` is called from one thread; the requests of a unit are made by
// workers of its own. Predictions are emitted as they come; those of a unit that fails count too.
#pragma once

#include "harness/api/method.h"

namespace qfs::endpoint {

/// Errors of `open` and `run`: `unavailable` and `timeout` where the server is away or refuses the
/// key, `not_found` for a model that it does not list, `data` for answers that are none,
/// `invalid_argument` for requests that it refuses. No message holds a secret.
SessionFactory session_factory();

}  // namespace qfs::endpoint

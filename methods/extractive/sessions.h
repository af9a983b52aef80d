// The session factories of the extractive methods, one for each of extractive_specs().
//
// Collected by methods/light_sessions. Torch-free. Opening fails when the request lacks a
// tokenizer or the tokenizer cannot be opened.
#pragma once

#include <vector>

#include "harness/api/method.h"

namespace qfs::extractive {

std::vector<SessionFactory> extractive_sessions();

}  // namespace qfs::extractive

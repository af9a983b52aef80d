// The specs of the extractive methods: lead, random, textrank, bm25, oracle, oracle_dyle.
//
// Collected by methods/families. Torch-free; every call makes new, stateless, thread-safe
// objects.
#pragma once

#include <memory>
#include <vector>

#include "harness/api/method.h"

namespace qfs::extractive {

std::vector<std::unique_ptr<const MethodSpec>> extractive_specs();

}  // namespace qfs::extractive

// The versions of shared code on which text of a language model rests.
//
// Called by the specs of methods that generate; part of their cells' ids. A version is raised when
// that code gives other outputs for equal parameters. Torch-free, pure, thread-safe.
#pragma once

#include <string>
#include <vector>

#include "harness/api/method.h"

namespace qfs::decoding {

/// "backbone-llama@3" and what all architectures share, sorted. Facts without an architecture, of
/// no cell, give what is shared alone.
std::vector<std::string> generation_layers(const BackboneFacts& facts);

}  // namespace qfs::decoding

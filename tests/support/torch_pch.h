// Precompiled header of the tests that use tensors (cmake/QfsTargets.cmake): test_pch.h and
// LibTorch's operations, which take longest to read. Never included by hand: each source names what
// it uses itself. It declares nothing of its own.
#pragma once

#include <ATen/ATen.h>

#include "tests/support/test_pch.h"

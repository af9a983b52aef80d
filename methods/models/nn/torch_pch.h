// Precompiled header of the LibTorch libraries: the tensor operations as one piece, so that a
// source file compiles in seconds. Never included by hand; headers include <ATen/core/Tensor.h>
// only.
#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/api/result.h"

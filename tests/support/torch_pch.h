// Precompiled header of the tests that use tensors; never included by hand.
#pragma once

#include <ATen/ATen.h>

#include "tests/support/test_pch.h"

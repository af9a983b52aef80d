// Precompiled header of the tests without tensors (cmake/QfsTargets.cmake): what nearly all of them
// include. Never included by hand: each source names what it uses itself. It declares nothing of
// its own.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

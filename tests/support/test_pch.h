// Precompiled header of the tests without tensors; never included by hand.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

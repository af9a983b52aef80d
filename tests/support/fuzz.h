// What a fuzz target defines: one entry for bytes of a stranger, and well-formed inputs to start
// from.
//
// tests/X.cmake adds a target with qfs_fuzz(). With GCC its main() (fuzz_main.cpp) replays the
// seeds and then mutated inputs of a fixed random sequence; with QFS_FUZZERS (clang) libFuzzer
// drives it. A target fails by crashing, by a sanitizer report or by abort() on a broken promise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// Well-formed inputs, small (a few KiB) and made in code; mutations start from them. Not empty.
std::vector<std::string> fuzz_seeds();

/// One input; returns 0. Must not keep state between calls.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

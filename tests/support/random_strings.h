// The random strings of the tokenizer tests, equal to those of
// tests/conformance/models/tokenizers/random_strings.py: words, digits, white space, punctuation,
// special tokens and code points of Unicode 14, well-formed. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace qfs::test {

std::vector<std::string> random_strings(size_t count, uint64_t seed);

}  // namespace qfs::test

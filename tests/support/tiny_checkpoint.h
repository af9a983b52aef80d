// Hugging Face folders of tiny random models, written from the cases that
// tests/conformance/models/architectures/make_tiny_*_expected.py describe: config.json and safetensors.
//
// The C++ half of tests/conformance/models/architectures/tiny_models.py. Pure but for the files.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace qfs::test {

/// offset + scale * k / 128 with k from the top bytes of SplitMix64 seeded by FNV-1a of the name.
std::vector<float> tiny_values(std::string_view name, int64_t count, float scale, float offset);

/// Writes the case's `config`, and its `tensors` as `dtype` (F32 or BF16) into `shards` files, with
/// `stored_under` in front of the names that their values are made from.
/// Returns the folder.
std::string write_tiny_checkpoint(const TemporaryFolder& folder, const nlohmann::json& test_case);

}  // namespace qfs::test

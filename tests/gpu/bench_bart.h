// Decoding of a BART-large-shaped model of random weights: one row, and four beams of one source of
// 1024 tokens; steps as recorded CUDA graphs beside the same steps launched one by one.
//
// Part of qfs_bench_device. Ends the program on an error; LibTorch's exceptions pass through.
#pragma once

#include <ATen/core/Tensor.h>

#include <nlohmann/json_fwd.hpp>

#include "methods/models/nn/device/device_services.h"

namespace qfs::test {

/// Adds "bart_decode" and "bart_beams": seconds of each repetition, seconds a step and bytes a
/// second against `copy_rate`, "with_graphs" and "without_graphs", and the ratio of the two.
void measure_bart(bool tiny, at::Device device, const nn::DeviceServices& services,
                  double copy_rate, nlohmann::json& report);

}  // namespace qfs::test

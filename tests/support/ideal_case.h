// Cases of tests/conformance/models/peft/make_ideal_expected.py: the files of their adapters, and
// gradients beside theirs.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "methods/models/training/optimizer.h"
#include "tests/support/safetensors_writer.h"
#include "tests/support/tiny_checkpoint.h"

namespace qfs::test {

/// In the release's layout.
inline SafetensorsWriter adapter_writer(const nlohmann::json& test_case) {
  SafetensorsWriter writer;
  for (const nlohmann::json& tensor : test_case.at("tensors")) {
    const std::string name = tensor.at("name");
    const std::vector<int64_t> shape = tensor.at("shape");
    writer.tensor(
        name, shape,
        tiny_values(name, c10::multiply_integers(shape), tensor.at("scale"), tensor.at("offset")));
  }
  return writer;
}

/// `rows` of adapters of this size (a rank) for heads of `dim`.
inline void expect_gradients(const training::TrainedTensors& trained, const nlohmann::json& rows,
                             int64_t size, int64_t dim) {
  for (const nlohmann::json& row : rows) {
    const at::Tensor gradient = trained.tensors().at(row.at("name")).grad().flatten();
    const std::string name = row.at("name");
    int64_t index = row.at("index");
    const bool is_bias = name.ends_with("attention.wq.bias");
    if (is_bias || name.ends_with("lora_wq_l2.weight") || name.ends_with("lora_wk_l2.weight")) {
      // Files are in the release's order of rows; what is trained is in the backbone's.
      const int64_t rank = is_bias ? 1 : size;
      const int64_t inside = index / rank % dim;
      const int64_t turned = inside / 2 + (inside % 2 == 1 ? dim / 2 : 0);
      index += (turned - inside) * rank;
    }
    const double value = row.at("value");
    EXPECT_NEAR(gradient[index].item<double>(), value, 2e-4 * std::abs(value) + 2e-5) << name;
  }
}

}  // namespace qfs::test

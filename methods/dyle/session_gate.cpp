#include "methods/dyle/session_gate.h"

#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "methods/dyle/session_losses.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/token_loss.h"

namespace qfs::dyle {

namespace {

/// Of the weights that outputs hold.
constexpr double kParts = 1e4;

std::vector<int64_t> parts_of(const at::Tensor& weights) {
  const at::Tensor values = weights.to(at::kCPU, at::kDouble).contiguous();
  std::vector<int64_t> parts;
  for (int64_t i = 0; i < values.numel(); ++i) {
    parts.push_back(std::llround(values.const_data_ptr<double>()[i] * kParts));
  }
  return parts;
}

}  // namespace

Target written_target(const std::vector<int32_t>& start, const std::vector<int32_t>& written) {
  Target target;
  target.begun = start;
  target.begun.insert(target.begun.end(), written.begin(), written.end() - 1);
  if (!start.empty()) target.labels.assign(start.size() - 1, nn::kNoLabel);
  target.labels.insert(target.labels.end(), written.begin(), written.end());
  return target;
}

Result<std::string> gate_json(const nn::Decoder& decoder, const DyleTensors& tensors,
                              const GeneratorRows& rows, const Target& target,
                              const at::Tensor& scores, const Selection& selection) {
  const auto read = read_target(decoder, rows, target, nn::Recompute::nothing);
  if (!read.ok()) return read.error();
  return nn::guarded("mapping the gate", [&]() -> Result<std::string> {
    const at::Tensor gate = gate_logits(tensors.gate, read->states);
    const at::Tensor weights =
        gate.index_select(1, at::tensor(read->labelled).to(gate.device())).softmax(0);  // [K, T]
    nlohmann::json steps = nlohmann::json::array();
    for (int64_t t = 0; t < weights.size(1); ++t) steps.push_back(parts_of(weights.select(1, t)));
    return nlohmann::json{{"gate", std::move(steps)},
                          {"extractor", parts_of(log_prior(scores, selection).exp())}}
        .dump();
  });
}

}  // namespace qfs::dyle

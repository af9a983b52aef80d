// What DYLE computes beyond its two models: the gate, the mixture and the losses but the
// extractor's on the oracle (Mao et al. 2022, equations 3 to 8; ranking/scorer_tensors.h).
//
// Called by dyle's sessions. Pure; thread-safe. Any floating type; LibTorch's exceptions pass
// through. K snippets, T positions of the decoder, d its hidden size, L visible snippets.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "methods/dyle/selection.h"
#include "methods/models/training/optimizer.h"

namespace qfs::dyle {

/// Linear(d, d), ReLU, Linear(d, d), ReLU, Linear(d, 1): "rag.dynamic_mlp.{0,2,4}.{weight,bias}",
/// as torch initializes linear layers. A pure function of seed and names.
training::NamedTensors new_gate(int64_t width, uint64_t seed);

/// The gate of states [..., d]: [...], in the gate's type.
at::Tensor gate_logits(const training::NamedTensors& gate, const at::Tensor& states);

/// log softmax over the selected snippets of their scores [L]: [K], minus infinity for copies.
at::Tensor log_prior(const at::Tensor& scores, const Selection& selection);

/// log sum over K of exp(log_probabilities + log_prior): [K, T] and [K, T] or [K, 1] to [T].
at::Tensor mixed(const at::Tensor& log_probabilities, const at::Tensor& log_prior);

/// KL(g || r): g the mean over positions of softmax over K of the gate's logits [K, T], without
/// gradients, r the softmax of the selected scores, not below 1e-5 and normalized again.
at::Tensor consistency_loss(const at::Tensor& gate_logits, const at::Tensor& scores,
                            const Selection& selection);

}  // namespace qfs::dyle

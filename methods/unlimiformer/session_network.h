// A network whose encoder reads sources of any length, in windows, and whose decoder retrieves of
// their states in the place of full cross-attention.
//
// Made of a BART by unlimiformer's sessions. Immutable; thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/nn/decoder.h"
#include "methods/models/nn/network.h"
#include "methods/models/nn/steps/retrieved_source.h"

namespace qfs::unlimiformer {

struct Retrieval {
  int64_t retrieved = 0;  ///< states that a head reads, at most; at least 1
  double overlap = 0.5;   ///< of windows (windows.h)
};

/// The encoder's states of a source: [tokens, hidden], through which gradients go. Errors: those of
/// Decoder::encode; `data` for states that are not finite.
Result<at::Tensor> windowed_states(const nn::Decoder& decoder, const nn::SequenceInput& input,
                                   double overlap,
                                   nn::Recompute recompute = nn::Recompute::nothing);

/// What reads the sources of a decoder's rows. Errors of its calls as windowed_states.
/// `unavailable` for a decoder without BART's cross-attention.
Result<nn::ReadSource> retrieving_sources(std::shared_ptr<const nn::Decoder> decoder,
                                          const Retrieval& retrieval);

/// `unavailable` unless on the CPU in float32.
Status check_place(const RuntimeOptions& runtime);

/// The same weights, whose models retrieve and read sources of any length. Models are opened where
/// check_place lets them.
std::shared_ptr<const nn::Network> retrieving_network(std::shared_ptr<const nn::Network> network,
                                                      const Retrieval& retrieval);

}  // namespace qfs::unlimiformer

// Network: the loaded weights of a checkpoint, whatever its architecture, and how they are run.
//
// Made by the rows of architectures.h; held by Backbone. Immutable; thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "harness/api/method.h"
#include "harness/api/resource_cache.h"
#include "harness/api/result.h"
#include "methods/models/nn/model_work.h"
#include "methods/models/nn/sequence_model.h"

namespace qfs::nn {

class Decoder;

class Network {
 public:
  virtual ~Network() = default;
  virtual const SequenceShape& shape() const = 0;

  /// A model on the device of `runtime`, as configure_torch accepted it. Copies of weights on a
  /// device are shared through `cache` under `digest`, which names the checkpoint. Errors:
  /// `unavailable`, `out_of_memory`.
  virtual Result<std::unique_ptr<SequenceModel>> open(const RuntimeOptions& runtime,
                                                      const std::string& digest,
                                                      ResourceCache& cache) const = 0;

  /// The weights over tensors, for whole sequences and gradients; copies are shared likewise.
  /// Errors as open.
  virtual Result<std::shared_ptr<const Decoder>> decoder(const RuntimeOptions& runtime,
                                                         const std::string& digest,
                                                         ResourceCache& cache) const = 0;

  /// The same for reading alone, without gradients: in float32 on a CPU weights may be as the
  /// checkpoint packs them, expanded where they are used, to the same bits.
  virtual Result<std::shared_ptr<const Decoder>> reader(const RuntimeOptions& runtime,
                                                        const std::string& digest,
                                                        ResourceCache& cache) const;

  /// How `open` runs it: float32 on a CPU as loaded, else all in the type that is asked for.
  virtual ElementBytes element_bytes(const RuntimeOptions& runtime) const;

  /// What running it takes.
  virtual ModelWork work(const ElementBytes& bytes) const = 0;

  /// The same weights with windowed attention in the encoder: `window` positions on both sides
  /// together, `positions` in all (led/from_bart.h). `invalid_argument`: no such conversion of this
  /// architecture, an odd window.
  virtual Result<std::shared_ptr<const Network>> windowed(int64_t window, int64_t positions) const;

  /// The same weights for sequences of up to `positions` positions, by the rotations that it has
  /// for fewer. `invalid_argument`: positions are learned here, or rotated by another rule beyond
  /// the window, or fewer than the window has.
  virtual Result<std::shared_ptr<const Network>> extended(int64_t positions) const;
};

}  // namespace qfs::nn

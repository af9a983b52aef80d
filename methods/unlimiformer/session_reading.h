// How sources beyond the encoder are read in training: in windows through which gradients go, of
// whose states each layer sees some drawn ones, or each position and head those that it scores
// highest (Unlimiformer, Bertsch et al. 2023, "random-encoded", "retrieval" and "alternating").
//
// Given to prompted trainings by unlimiformer's sessions. Pure functions of what they are given, so
// that what is computed again, or goes on after a kill, has the same bits. Thread-safe. On the CPU
// in float32. Which states are chosen has no gradient; what is read of them, and what asks, has.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/core/rng.h"
#include "methods/models/nn/model_work.h"
#include "methods/models/nn/source_reading.h"
#include "methods/models/training/sequence_task.h"
#include "methods/unlimiformer/session_network.h"

namespace qfs::unlimiformer {

struct TrainingReading {
  std::string mode;     ///< "random_encoded", "retrieval" or "alternating"
  Retrieval retrieval;  ///< states that a layer, or a position and head, reads
  uint64_t seed = 0;
};

/// Of rows of one graph. Draws are of the seed, the row's draw and the layer; those of a
/// development loss are the same each time. "alternating": retrieval in even steps, as the release
/// begins, and in development losses, drawn states in odd ones.
nn::SourceReadings readings_of(const TrainingReading& how,
                               std::span<const training::GraphRow> rows);

/// `count` of `tokens` places, all alike, rising.
std::vector<int64_t> drawn_places(Rng rng, int64_t tokens, int64_t count);

/// Operations of reading a sequence up to the logits after its last token: windows in full, with
/// all that overlaps; scores of all states and weighted sums of those that are read. `work`: of the
/// backbone, whose encoder reads `window` tokens. Of "alternating" the mean of both.
int64_t reading_flops(const TrainingReading& how, const nn::ModelWork& work, int64_t window,
                      const training::LabelledSequence& sequence);

}  // namespace qfs::unlimiformer

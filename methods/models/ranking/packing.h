// Packing: what a scorer of snippets reads: the query (where it is not read apart) and then whole
// snippets, as many as fit, one right behind the other, in chunks of a fixed length, and where each
// snippet's score stands.
//
// Called by scorer.h and by trainings of scorers; torch-free. Pure; thread-safe. Source: the
// released code of DYLE (Mao et al. 2022; section 2.1 there is only this).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "harness/api/result.h"
#include "harness/core/rng.h"

namespace qfs::ranking {

struct PackOptions {
  std::vector<int32_t> before;  ///< every text: "<s>", "[CLS]"
  std::vector<int32_t> after;   ///< and behind it: "</s></s>", "[SEP]"; not empty
  int64_t chunk_tokens = 512;
  int64_t max_chunks = 50;
  /// Fills every chunk up to its length, to be attended to as any other token (profile `released`);
  /// none: chunks end with their last snippet.
  std::optional<int32_t> padding;
  /// Chunks have snippets alone: the query is read by itself.
  bool query_apart = false;
};

struct PackedSnippets {
  std::vector<std::vector<int32_t>> chunks;
  /// Of each visible snippet, the first of all: chunk * chunk_tokens + the index of its last id.
  std::vector<int64_t> positions;
  int64_t chunk_tokens = 0;
  std::vector<int32_t> query;  ///< special ids and all
  int64_t query_tokens = 0;    ///< of it at the beginning of every chunk: all or none
  int64_t cut = 0;             ///< snippets that lost their end
  int64_t unseen = 0;          ///< those behind the last chunk

  int64_t visible() const { return static_cast<int64_t>(positions.size()); }
  /// Of all that is read.
  int64_t tokens() const;
};

/// `query` and `snippets` without special tokens. A snippet longer than a chunk is cut on its
/// right, and its last kept id stands for its end. `invalid_argument` when the query leaves no room
/// for any snippet.
Result<PackedSnippets> pack_snippets(std::span<const int32_t> query,
                                     std::span<const std::vector<int32_t>> snippets,
                                     const PackOptions& options);

/// Some chunks of a packing, and the snippets that end in them, by rising index.
struct PackedPart {
  PackedSnippets packed;
  std::vector<int64_t> snippets;
};

/// How many chunks are read at a step of a training.
struct ChunkDraw {
  int64_t chunks = 1;
  /// Of them with a wanted snippet, as far as there are others; [1, chunks].
  int64_t wanted = 1;
};

/// So many chunks, or all, in their order: drawn ones with a snippet of `wanted`, and drawn ones of
/// the others.
PackedPart drawn_part(const PackedSnippets& whole, std::span<const int64_t> wanted,
                      const ChunkDraw& draw, Rng rng);

/// What is read of an example at a step of a training, and which of its snippets are to be found.
struct Reading {
  PackedPart part;
  std::vector<int64_t> targets;  ///< indices into `part.snippets`; others are not read
};

/// All chunks. `targets`: snippets of the packing.
Reading whole_reading(const PackedSnippets& whole, std::span<const int64_t> targets);
/// Some chunks.
Reading drawn_reading(const PackedSnippets& whole, std::span<const int64_t> targets,
                      const ChunkDraw& draw, Rng rng);

}  // namespace qfs::ranking

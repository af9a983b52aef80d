// How a document is cut into what a model reads as it is and what is compressed, and how many
// memory tokens stand for each part (Gao et al. 2024, arXiv 2405.17052, section 3.2, and its
// release).
//
// Called by the sessions of this family. Pure; thread-safe; torch-free. Lengths are tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/core/rng.h"

namespace qfs::compressors {

struct Range {
  int64_t first = 0;
  int64_t count = 0;

  int64_t end() const { return first + count; }
  friend bool operator==(const Range&, const Range&) = default;
};

/// What a segment's compressor sees of those before it.
enum class Earlier { nothing, previous, all };

/// A part of the document that memory tokens stand for.
struct Segment {
  Range content;
  int64_t memory = 0;  ///< tokens or rows that it becomes
  Earlier earlier = Earlier::nothing;
  bool read = true;  ///< by the generator, too
  /// Of the segments before it, the first so many whose memory its gradients do not reach.
  int64_t held = 0;

  friend bool operator==(const Segment&, const Segment&) = default;
};

struct Plan {
  std::vector<Segment> segments;  ///< in text order
  Range kept;                     ///< read as it is; none where its count is 0
  bool memory_first = true;       ///< in the prompt, before what is kept

  friend bool operator==(const Plan&, const Plan&) = default;
};

/// Which side of the document is compressed.
enum class Side { former, latter };

enum class Rounding { ceil, floor };

/// How many tokens become one; none: they become nothing.
using Ratio = std::optional<double>;

/// Memory tokens for `tokens`: rounded up and at least one, or rounded down.
int64_t memory_tokens(int64_t tokens, Ratio ratio, Rounding rounding);

/// The longest content whose tokens and memory tokens fit `room` together.
int64_t content_in(int64_t room, Ratio ratio);

struct SplitRules {
  int64_t window = 512;  ///< of content
  Side side = Side::latter;
  Ratio ratio = 12.0;
  Rounding rounding = Rounding::ceil;
  bool compress_short = false;  ///< documents of one window, too
  bool memory_first = false;    ///< also where the latter part is compressed
};

/// Halves, of which the first is the longer one: that of `side`, without memory, and what is kept.
Plan halves(int64_t tokens, Side side);

/// Up to two windows are halved; of more, a window on the other side is kept and the rest cut
/// evenly. Segments without a memory token are left out.
Plan split(int64_t tokens, const SplitRules& rules);

/// `tokens` cut into parts of at most `window` whose lengths differ by at most one, the longer ones
/// first.
std::vector<Range> even_parts(Range all, int64_t window);

/// A text that is learned as it stands (AutoCompressor's release): two halves, or one part of fewer
/// than four tokens, each in segments of at most `window` tokens: two at least of four tokens, and
/// as many as have three quarters of the window on average, as the release's have. Their lengths
/// are drawn, or even without `rng`. Each has `memory` rows behind it; gradients of the second half
/// do not reach the first.
Plan text_plan(int64_t tokens, int64_t window, int64_t memory, Rng* rng);

/// One of the release's five ways to read the first two windows of a training example, by one draw.
Plan released_split(int64_t tokens, int64_t window, double ratio, Rng& rng);

}  // namespace qfs::compressors

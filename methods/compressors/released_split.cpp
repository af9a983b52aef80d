// How the release of SelfCP reads training examples, which is not how its paper does.
#include <algorithm>

#include "methods/compressors/split.h"

namespace qfs::compressors {

namespace {

/// Chunks of the release, each compressed behind the memory of those before it.
std::vector<Segment> chunks(int64_t tokens, int64_t length, int64_t memory, Earlier earlier) {
  std::vector<Segment> segments;
  for (int64_t first = 0; first < tokens; first += length) {
    segments.push_back({{first, std::min(length, tokens - first)}, memory, earlier, true});
  }
  return segments;
}

}  // namespace

Plan released_split(int64_t tokens, int64_t window, double ratio, Rng& rng) {
  const double draw = rng.uniform();
  tokens = std::min(tokens, 2 * window);
  const auto floor_of = [&](int64_t length) {
    return memory_tokens(length, ratio, Rounding::floor);
  };
  Plan plan;
  const int64_t chunk = std::min(window, tokens / 2);
  if (draw < 0.5) {
    const Side side = draw < 0.25 ? Side::latter : Side::former;
    const bool former = side == Side::former;
    if (2 * tokens < 3 * window) {
      plan = halves(tokens, side);
      plan.segments.front().memory = floor_of((tokens + 1) / 2);
    } else {
      // The cut is the same on both sides.
      const Range front = {0, std::min(window, tokens)};
      const Range back = {front.count, tokens - front.count};
      plan = {{{former ? front : back}}, former ? back : front, former};
      plan.segments.front().memory = floor_of(plan.segments.front().content.count);
    }
  } else if (draw < 0.7) {
    plan.segments = chunks(tokens, chunk + 1, floor_of(chunk + 1), Earlier::previous);
    for (size_t i = 0; i + 1 < plan.segments.size(); ++i) plan.segments[i].read = false;
  } else if (draw < 0.8 && chunk > 0) {
    plan.segments = chunks(tokens, chunk, floor_of(chunk), Earlier::all);
  } else {
    plan.segments = {{{0, tokens}, floor_of(tokens)}};
  }
  std::erase_if(plan.segments, [](const Segment& segment) {
    return segment.memory == 0 || segment.content.count == 0;
  });
  return plan;
}

}  // namespace qfs::compressors

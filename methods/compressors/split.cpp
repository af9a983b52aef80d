#include "methods/compressors/split.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace qfs::compressors {

namespace {

int64_t up(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

int64_t memory_tokens(int64_t tokens, Ratio ratio, Rounding rounding) {
  if (!ratio || tokens == 0) return 0;
  const double exact = static_cast<double>(tokens) / *ratio;
  if (rounding == Rounding::floor) return static_cast<int64_t>(std::floor(exact));
  return std::max<int64_t>(1, static_cast<int64_t>(std::ceil(exact)));
}

int64_t content_in(int64_t room, Ratio ratio) {
  if (!ratio) return room;
  return room - static_cast<int64_t>(std::ceil(static_cast<double>(room) / (*ratio + 1)));
}

std::vector<Range> even_parts(Range all, int64_t window) {
  std::vector<Range> parts;
  const int64_t count = up(all.count, window);
  int64_t first = all.first;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t length = all.count / count + (i < all.count % count ? 1 : 0);
    parts.push_back({first, length});
    first += length;
  }
  return parts;
}

Plan halves(int64_t tokens, Side side) {
  const Range first = {0, up(tokens, 2)};
  const Range second = {first.count, tokens - first.count};
  const bool former = side == Side::former;
  return {{{former ? first : second}}, former ? second : first, former};
}

Plan split(int64_t tokens, const SplitRules& rules) {
  if (tokens <= rules.window && !rules.compress_short) return {{}, {0, tokens}, true};
  Plan plan;
  if (tokens <= 2 * rules.window) {
    plan = halves(tokens, rules.side);
  } else {
    const bool former = rules.side == Side::former;
    const int64_t rest = tokens - rules.window;
    plan.kept = {former ? rest : 0, rules.window};
    plan.memory_first = former;
    for (const Range& part : even_parts({former ? 0 : rules.window, rest}, rules.window)) {
      plan.segments.push_back({part});
    }
  }
  for (Segment& segment : plan.segments) {
    segment.memory = memory_tokens(segment.content.count, rules.ratio, rules.rounding);
  }
  std::erase_if(plan.segments, [](const Segment& segment) { return segment.memory == 0; });
  plan.memory_first = plan.memory_first || rules.memory_first;
  return plan;
}

namespace {

/// Lengths of `count` parts of so many tokens, at most `window` each: drawn, or even without `rng`
/// and where there is no room to draw in.
std::vector<int64_t> part_lengths(int64_t tokens, int64_t count, int64_t window, Rng* rng) {
  std::vector<int64_t> lengths(static_cast<size_t>(count), tokens / count);
  for (int64_t i = 0; i < tokens % count; ++i) ++lengths[static_cast<size_t>(i)];
  if (rng == nullptr || count < 2) return lengths;
  const int64_t least = std::max<int64_t>(up(std::max<int64_t>(tokens - window, 0), count - 1), 2);
  const int64_t room = tokens - count * least;
  if (room < count - 1) return lengths;
  std::set<int64_t> cuts;
  while (std::ssize(cuts) < count - 1) {
    cuts.insert(static_cast<int64_t>(rng->below(static_cast<uint64_t>(room))));
  }
  cuts.insert(room);
  int64_t last = 0;
  auto length = lengths.begin();
  for (const int64_t cut : cuts) {
    *length++ = least + cut - last;
    last = cut;
  }
  return lengths;
}

}  // namespace

Plan text_plan(int64_t tokens, int64_t window, int64_t memory, Rng* rng) {
  Plan plan;
  int64_t first = 0;
  for (const Range& half : even_parts({0, tokens}, tokens < 4 ? tokens : up(tokens, 2))) {
    const int64_t held = std::ssize(plan.segments);
    const int64_t wanted = std::min(up(4 * half.count, 3 * window), half.count);
    const int64_t least = half.count < 4 ? 1 : 2;
    const int64_t count = std::max({least, up(half.count, window), wanted});
    for (const int64_t length : part_lengths(half.count, count, window, rng)) {
      plan.segments.push_back({{first, length}, memory, Earlier::all, true, held});
      first += length;
    }
  }
  return plan;
}

}  // namespace qfs::compressors

#include "metrics/rouge/union_marks.h"

#include <bit>

namespace qfs::metrics {
namespace {

/// Row i is bit i + 1. Bit 0 stands below all rows and stops every walk, so that a walk that is at
/// its end needs no test.
constexpr uint64_t kNoRow = 1;

}  // namespace

void UnionMarks::set_candidate(std::span<const LocalId> tokens,
                               std::span<const size_t> sentence_ends, LocalId types) {
  if (rows_.size() <= types) rows_.resize(size_t{types} + 1, 0);
  columns_.resize(tokens.size());
  size_t kept = 0;
  size_t begin = 0;
  for (size_t s = 0; s < sentence_ends.size(); ++s) {
    for (size_t i = begin; i < sentence_ends[s]; ++i) {
      columns_[kept] = {tokens[i], static_cast<uint32_t>(i + s),
                        static_cast<uint32_t>(sentence_ends[s] - 1 + s)};
      kept += tokens[i] != types;
    }
    begin = sentence_ends[s];
  }
  columns_.resize(kept);
  matches_.resize(kept + 1);
}

size_t UnionMarks::find_matches() {
  size_t count = 0;
  for (const Column& column : columns_) {
    Match& match = matches_[count];
    match.rows = rows_[column.token];
    match.place = column.place;
    match.end = column.end;
    count += match.rows != 0;
  }
  matches_[count].place = matches_[count].end = ~uint32_t{0};
  return count;
}

void UnionMarks::run_recurrence(size_t count) {
  uint64_t flat = ~uint64_t{0};  // rows that do not step
  uint32_t end = ~uint32_t{0};
  for (size_t i = 0; i < count; ++i) {
    Match& match = matches_[i];
    flat = match.end == end ? flat : ~uint64_t{0};
    end = match.end;
    flat = (flat + (flat & match.rows)) | (flat & ~match.rows);
    match.steps = ~flat | kNoRow;
  }
}

uint64_t UnionMarks::walk_back(size_t count) const {
  uint64_t marks = 0;
  uint64_t below = ~uint64_t{0};  // rows that the walk has not passed, and bit 0
  for (size_t i = count; i-- > 0;) {
    const Match& match = matches_[i];
    const Match& next = matches_[i + 1];
    below = next.end == match.end ? below : ~uint64_t{0};
    // With columns between this match and the next one, or the end, the walk comes from above to
    // the first row that steps; without, a row that matches stops it as well.
    const auto gap = static_cast<uint64_t>(match.place != match.end) &
                     static_cast<uint64_t>(next.place != match.place + 1);
    const uint64_t stops = (match.steps | (match.rows & (gap - 1))) & below;
    const uint64_t stop = uint64_t{1} << (63 - std::countl_zero(stops));
    const uint64_t taken = stop & match.rows;
    marks |= taken;
    below = 2 * stop - 1 - taken;
  }
  return marks;
}

uint64_t UnionMarks::mark(std::span<const LocalId> sentence) {
  for (size_t row = 0; row < sentence.size(); ++row) rows_[sentence[row]] |= kNoRow << (row + 1);
  const size_t count = find_matches();
  for (const LocalId token : sentence) rows_[token] = 0;
  run_recurrence(count);
  return walk_back(count) >> 1U;
}

}  // namespace qfs::metrics

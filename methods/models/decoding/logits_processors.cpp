#include "methods/models/decoding/logits_processors.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

namespace qfs::decoding {

namespace {

constexpr float kBanned = -std::numeric_limits<float>::infinity();

void ban(int32_t id, std::span<float> scores) {
  if (id >= 0 && static_cast<size_t>(id) < scores.size()) scores[static_cast<size_t>(id)] = kBanned;
}

/// Keskar et al. 2019 as transformers' RepetitionPenaltyLogitsProcessor: each id once.
void penalise_repeated(std::span<const int32_t> sequence, float penalty, std::span<float> scores) {
  std::vector<int32_t> ids(sequence.begin(), sequence.end());
  std::ranges::sort(ids);
  const auto repeated = std::ranges::unique(ids);
  ids.erase(repeated.begin(), repeated.end());
  for (const int32_t id : ids) {
    if (id < 0 || static_cast<size_t>(id) >= scores.size()) continue;
    float& score = scores[static_cast<size_t>(id)];
    score = score < 0 ? score * penalty : score / penalty;
  }
}

/// Bans what would complete an n-gram that the sequence has.
void ban_repeated(std::span<const int32_t> sequence, int64_t size, std::span<float> scores) {
  const auto tail = static_cast<size_t>(size - 1);
  if (size < 1 || sequence.size() <= tail) return;
  const auto last = sequence.last(tail);
  for (size_t begin = 0; begin + tail < sequence.size(); ++begin) {
    if (std::ranges::equal(sequence.subspan(begin, tail), last)) {
      ban(sequence[begin + tail], scores);
    }
  }
}

void force(int32_t id, std::span<float> scores) {
  std::ranges::fill(scores, kBanned);
  if (id >= 0 && static_cast<size_t>(id) < scores.size()) scores[static_cast<size_t>(id)] = 0;
}

/// The token that must come after `produced` others.
std::optional<int32_t> forced_token(const DecodingOptions& options, int64_t produced) {
  const bool last = produced == options.max_new_tokens - 1;
  if (last && options.forced_last && !options.ignore_stops) return options.forced_last;
  return produced == 0 ? options.forced_first : std::nullopt;
}

}  // namespace

void apply_logits_processors(const DecodingOptions& options, std::span<const int32_t> sequence,
                             int64_t produced, std::span<float> scores) {
  if (options.repetition_penalty != 1) {
    penalise_repeated(sequence, static_cast<float>(options.repetition_penalty), scores);
  }
  ban_repeated(sequence, options.no_repeat_ngram, scores);
  if (produced < options.min_new_tokens) {
    for (const int32_t id : options.stop_ids) ban(id, scores);
  }
  if (const auto forced = forced_token(options, produced)) force(*forced, scores);
}

}  // namespace qfs::decoding

#include "metrics/chinese/jieba_hmm.h"

#include <optional>

#include "metrics/chinese/probability_table.h"

namespace qfs::metrics {
namespace {

constexpr double kImpossible = -3.14e100;  // jieba's MIN_FLOAT

// In the order of their letters: of two states with equal scores, the later one is taken.
enum State : uint8_t { kBegin, kEnd, kMiddle, kSingle };

/// The two states that may come before each state, earlier letter first.
constexpr std::array<std::array<State, 2>, 4> kBefore = {{
    {kEnd, kSingle},    // B
    {kBegin, kMiddle},  // E
    {kBegin, kMiddle},  // M
    {kEnd, kSingle},    // S
}};

std::optional<State> state_of(char32_t letter) {
  switch (letter) {
    case 'B':
      return kBegin;
    case 'E':
      return kEnd;
    case 'M':
      return kMiddle;
    case 'S':
      return kSingle;
    default:
      return std::nullopt;
  }
}

Error foreign_state(const std::string& where) {
  return data_error("a table of probabilities names a state that is none of B, E, M, S", where);
}

}  // namespace

Result<JiebaHmm> JiebaHmm::parse(std::string_view start, std::string_view transitions,
                                 std::string_view emissions, const std::string& folder) {
  JiebaHmm hmm;
  hmm.start_.fill(kImpossible);
  for (PerState& row : hmm.transitions_) row.fill(kImpossible);
  PerState none{};
  none.fill(kImpossible);
  hmm.emissions_.assign(kLast - kFirst + 1, none);

  const std::string start_name = folder + "/prob_start.py";
  const std::string transition_name = folder + "/prob_trans.py";
  const std::string emission_name = folder + "/prob_emit.py";
  auto entries = read_probability_table(start, 1, start_name);
  if (!entries) return entries.error();
  for (const TableEntry& entry : *entries) {
    const std::optional<State> state = state_of(entry.outer);
    if (!state) return foreign_state(start_name);
    hmm.start_[*state] = entry.value;
  }
  entries = read_probability_table(transitions, 2, transition_name);
  if (!entries) return entries.error();
  for (const TableEntry& entry : *entries) {
    const std::optional<State> from = state_of(entry.outer);
    const std::optional<State> to = state_of(entry.inner);
    if (!from || !to) return foreign_state(transition_name);
    hmm.transitions_[*from][*to] = entry.value;
  }
  entries = read_probability_table(emissions, 2, emission_name);
  if (!entries) return entries.error();
  for (const TableEntry& entry : *entries) {
    const std::optional<State> state = state_of(entry.outer);
    if (!state) return foreign_state(emission_name);
    if (entry.inner < kFirst || entry.inner > kLast) continue;
    hmm.emissions_[entry.inner - kFirst][*state] = entry.value;
  }
  return hmm;
}

void JiebaHmm::segment(std::u32string_view text, std::vector<size_t>& lengths) const {
  if (text.empty()) return;
  // Viterbi: scores of the column at hand, and per column and state where its best path came from.
  std::vector<std::array<State, kStates>> came_from(text.size());
  PerState scores{};
  const PerState& first = emissions_[text[0] - kFirst];
  for (size_t state = 0; state < kStates; ++state) scores[state] = start_[state] + first[state];
  for (size_t t = 1; t < text.size(); ++t) {
    const PerState& emission = emissions_[text[t] - kFirst];
    PerState next{};
    for (size_t state = 0; state < kStates; ++state) {
      const auto [one, other] = kBefore[state];
      const double by_one = scores[one] + transitions_[one][state] + emission[state];
      const double by_other = scores[other] + transitions_[other][state] + emission[state];
      const bool take_other = by_other >= by_one;
      came_from[t][state] = take_other ? other : one;
      next[state] = take_other ? by_other : by_one;
    }
    scores = next;
  }
  State state = scores[kSingle] >= scores[kEnd] ? kSingle : kEnd;
  std::vector<State> states(text.size());
  for (size_t t = text.size(); t-- > 0;) {
    states[t] = state;
    state = came_from[t][state];
  }
  size_t begin = 0;
  for (size_t t = 0; t < text.size(); ++t) {
    if (states[t] != kEnd && states[t] != kSingle) continue;
    // A word ends here; it began where the one before ended, because B follows only E and S.
    lengths.push_back(t + 1 - begin);
    begin = t + 1;
  }
}

}  // namespace qfs::metrics

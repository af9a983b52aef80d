// Beam search as transformers does it, in both of its generations (BeamRules). Sources:
// transformers 5.23, generation/utils.py; 4.30, generation/beam_search.py.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "methods/models/decoding/best_continuations.h"
#include "methods/models/decoding/logits_processors.h"
#include "methods/models/decoding/output_row.h"
#include "methods/models/decoding/search.h"

namespace qfs::decoding {

namespace {

struct Beam {
  OutputRow row;
  double sum = 0;  ///< of log-probabilities
};

struct Hypothesis {
  OutputRow row;
  double score = 0;
};

class BeamSearch final : public Search {
 public:
  explicit BeamSearch(const SearchInput& input)
      : options_(input.options),
        beams_(*input.options.beams),
        begun_(input.begun.begin(), input.begun.end()),
        vocabulary_(static_cast<size_t>(input.vocabulary)) {
    const auto ends = static_cast<int64_t>(options_.stop_ids.size());
    candidates_ = static_cast<size_t>(std::max<int64_t>(2, 1 + ends) * beams_.count);
    running_.push_back({OutputRow(input.tokenizer, options_), 0});
  }

  Result<std::vector<Continuation>> advance(std::span<float> logits) override {
    for (size_t i = 0; i < running_.size(); ++i) {
      const auto row = logits.subspan(i * vocabulary_, vocabulary_);
      if (Status status = check_logits(row); !status.ok()) return status.error();
      to_log_probabilities(row);
      std::vector<int32_t> sequence = begun_;
      const auto& ids = running_[i].row.ids();
      sequence.insert(sequence.end(), ids.begin(), ids.end());
      apply_logits_processors(options_, sequence, produced_, row);
    }
    std::vector<double> sums;
    for (const Beam& beam : running_) sums.push_back(beam.sum);
    const auto best = best_continuations(logits, sums, candidates_);
    if (best.empty()) return no_token_left();
    return branch(best);
  }

  Generated take() override {
    Generated generated = finished_.front().row.take();
    generated.score = finished_.front().score;
    return generated;
  }

 private:
  bool old_rules() const { return beams_.rules == BeamRules::scorer; }
  bool full() const { return static_cast<int64_t>(finished_.size()) >= beams_.count; }

  double normalized(double sum, int64_t length) const {
    return sum / std::pow(static_cast<double>(length), beams_.length_penalty);
  }
  /// Length of a hypothesis: see BeamRules. `ended`: its last token is an end token.
  int64_t length_of(int64_t produced, bool ended) const {
    if (!old_rules()) return produced;
    return static_cast<int64_t>(begun_.size()) + produced - (ended ? 1 : 0);
  }

  /// Adds a hypothesis; of more than `count`, the worst goes.
  void finish(OutputRow row, double score) {
    const auto worse = [](const Hypothesis& a, double b) { return a.score >= b; };
    const auto place = std::ranges::partition_point(
        finished_, [&](const Hypothesis& other) { return worse(other, score); });
    finished_.insert(place, {std::move(row), score});
    if (static_cast<int64_t>(finished_.size()) > beams_.count) finished_.pop_back();
  }

  std::vector<Continuation> branch(const std::vector<ScoredContinuation>& best) {
    ++produced_;
    const bool at_limit = produced_ >= options_.max_new_tokens;
    std::vector<Beam> next;
    std::vector<Continuation> taken;
    const bool open = !(full() && beams_.early_stopping == EarlyStopping::yes);
    for (size_t rank = 0; rank < best.size(); ++rank) {
      const ScoredContinuation& candidate = best[rank];
      OutputRow row = running_[static_cast<size_t>(candidate.row)].row;
      const size_t kept = row.ids().size();
      const bool goes_on = row.accept(candidate.token);
      const bool ended = row.ids().size() == kept;  // an end token is not kept
      // A row at its limit that did not end by itself is a running beam to the old rules.
      const bool runs = goes_on || (old_rules() && at_limit && !ended);
      if (runs && static_cast<int64_t>(next.size()) < beams_.count) {
        next.push_back({std::move(row), candidate.sum});
        taken.push_back({candidate.row, candidate.token});
      } else if (!runs && open && static_cast<int64_t>(rank) < beams_.count) {
        finish(std::move(row), normalized(candidate.sum, length_of(produced_, ended)));
      }
      if (old_rules() && static_cast<int64_t>(next.size()) == beams_.count) break;
    }
    running_ = std::move(next);
    if (!at_limit && !running_.empty() && !settled(best.front().sum)) return taken;
    if (old_rules() && !settled(best.front().sum)) {
      for (Beam& beam : running_) {
        finish(std::move(beam.row), normalized(beam.sum, length_of(produced_, false)));
      }
    }
    return {};
  }

  /// No running beam can change the outcome. `best_sum`: of all continuations of this step.
  bool settled(double best_sum) const {
    if (!full()) return false;
    if (beams_.early_stopping == EarlyStopping::yes) return true;
    if (running_.empty()) return true;
    const bool longest = beams_.early_stopping == EarlyStopping::never && beams_.length_penalty > 0;
    const int64_t produced = longest ? options_.max_new_tokens : produced_;
    const double sum = old_rules() ? best_sum : running_.front().sum;
    const double attainable = normalized(sum, length_of(produced, false));
    return finished_.back().score >= attainable;
  }

  const DecodingOptions& options_;
  const BeamOptions& beams_;
  std::vector<int32_t> begun_;
  size_t vocabulary_;
  size_t candidates_ = 0;
  int64_t produced_ = 0;
  std::vector<Beam> running_;         ///< best first
  std::vector<Hypothesis> finished_;  ///< best first
};

}  // namespace

std::unique_ptr<Search> make_beam_search(const SearchInput& input) {
  return std::make_unique<BeamSearch>(input);
}

}  // namespace qfs::decoding

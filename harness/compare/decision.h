// Decision: what may be said about a margin: is B worse than A by more than it?
//
// Called by comparisons of one command, which are decided together. There are three verdicts, since
// a test that finds nothing has not shown that there is nothing (Altman & Bland 1995):
//
// * max_drop, the rule of a gate. `worse`: a loss beyond the margin is significant. `not_worse`:
//   it is not, the loss that was observed is within the margin, and the test could have shown
//   another. `cannot_decide`: all else, that is a loss that is beyond the margin but may be chance,
//   clusters too few for any data to be significant, a baseline without so much to lose.
// * non_inferior, for a claim. `not_worse` only when that the loss is less than the margin is
//   significant (Piaggio et al. 2012, CONSORT extension) and the baseline has more to lose than
//   the margin; `worse` as above; else `cannot_decide`.
//
// Tests are one-sided at a level (kLevel), by exchanging clusters where the value is a mean of
// examples, else (BLEU) by the paired bootstrap. Several are adjusted after Holm 1979, those for
// `worse` and those for `not_worse` apart; scores that did not change at all need none. Pure;
// thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace qfs::compare {

inline constexpr double kLevel = 0.05;

enum class Rule { max_drop, non_inferior };
enum class Verdict { not_worse, worse, cannot_decide };

/// Why a verdict is `cannot_decide`.
enum class Doubt {
  none,
  too_few_clusters,  ///< no data on so few could be significant, or the test is not made of so few
  nothing_to_lose,   ///< the baseline's value is not above the margin
  may_be_chance,     ///< the data do not show it, more of them would
  beyond_margin,     ///< non_inferior: the loss that was observed is not less than the margin
  below_minimum,     ///< fewer examples than were asked for
};

struct Margin {
  Rule rule = Rule::max_drop;
  double size = 0;   ///< at least 0, on the scale of the statistics (0.01: one point of a share)
  double noise = 0;  ///< what numerics alone change, likewise; `size` is raised to it
};

/// With the bounds of its 95 % interval: so well do these clusters know their own spread.
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
};

struct Decision {
  Margin margin;
  double loss = 0;  ///< by how much B is worse than A, as observed; negative: B is better
  /// One-sided, of "the loss is not beyond the margin" and of "the loss is not less than it".
  double p_worse = 1;
  double p_not_worse = 1;
  double p_worse_holm = 1;  ///< over all decisions of the command
  double p_not_worse_holm = 1;
  bool bootstrap = false;      ///< which test it was
  std::optional<double> most;  ///< of the bootstrap: bounds of the loss, each at 1 - kLevel
  std::optional<double> least;
  double standard_error = 0;  ///< of the loss
  int64_t clusters = 0;       ///< what was exchanged or drawn
  int64_t examples = 0;
  int64_t minimum_examples = 0;
  double level = kLevel;
  bool nothing_to_lose = false;
  bool unchanged = false;  ///< every example has its score again, and that is enough
  // Filled by decide():
  int64_t tests = 1;   ///< how many decisions were adjusted together
  double least_p = 0;  ///< the smallest that any data on these clusters could have, adjusted
  Verdict verdict = Verdict::cannot_decide;
  Doubt doubt = Doubt::none;
  int64_t clusters_needed = 0;  ///< how many would do, about; 0: unknown, or no number

  /// The adjusted p that the verdict rests on, or would have.
  double p() const;
  /// Whether the bootstrap has fewer clusters than it is made of.
  bool too_few_to_draw() const;
  /// The chance that a true loss is called `worse`, and that equal results are shown to be
  /// `not_worse`, with the spread of these differences; of one loss alone in its family, about.
  /// std::nullopt where the differences have no spread.
  std::optional<Estimate> power(double loss) const;
  std::optional<Estimate> power_of_equal() const;
  /// The loss that is called `worse` with the chance metrics::kPower; std::nullopt where none is.
  std::optional<Estimate> detectable_loss() const;
};

/// Adjusts and gives the verdicts; all decisions of one command, which have one level.
void decide(std::span<Decision* const> decisions);

std::string_view to_string(Rule rule);        ///< "max_drop"
std::string_view to_string(Verdict verdict);  ///< "cannot_decide"
std::string_view to_string(Doubt doubt);

}  // namespace qfs::compare

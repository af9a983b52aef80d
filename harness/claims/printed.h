// A number as a paper prints it: its value, how much its digits leave open, and whether it is a
// bound.
//
// Called by the decoder of claims, by verdicts and by `verify`. Pure; thread-safe. Text that is no
// number is `invalid_argument`.
#pragma once

#include <string>
#include <string_view>

#include "harness/api/result.h"

namespace qfs::claims {

struct Printed {
  std::string text;      ///< "22.17", "31,664", "<1.6K", "17M", "true"
  double value = 0;      ///< with the factor of K or M; meaningless unless `number`
  double half_unit = 0;  ///< of the last printed digit: the value is within +- this
  bool number = true;    ///< false for words of a settings table ("Adam", "true")
  bool bound = false;    ///< "<1K"
};

/// Where commas may stand.
enum class Commas {
  between_thousands,
  anywhere,  ///< papers misprint them: "86,20"
};

/// Digits, with "," between thousands, an exponent or a factor K or M behind them, and "<" before.
/// Letters alone are a word.
Result<Printed> parse_printed(std::string_view text, Commas commas = Commas::between_thousands);

}  // namespace qfs::claims

// Prediction: what a method returns for one example, with the ledger of what it was able to read.
// Plain data; `text` is valid UTF-8 (hosts repair ill-formed output and count the repairs).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/json.h"

namespace qfs {

/// Bytes [begin, end) of segment `segment`'s rendered text, cut at whole code points.
struct ByteSpan {
  int64_t segment = 0;
  int64_t begin = 0;
  int64_t end = 0;

  friend bool operator==(const ByteSpan&, const ByteSpan&) = default;
};

/// The truncation ledger of one example. Tokens are those of the cell's tokenizer and count
/// document text only: prompt, query and output reserve are outside.
struct Truncation {
  int64_t document_tokens = 0;  ///< tokens of the whole document
  int64_t kept_tokens = 0;      ///< tokens of what the method could read
  int64_t query_tokens = 0;
  std::vector<ByteSpan> kept;  ///< in document order, without overlap
  bool query_whole = true;     ///< what was read has all of the query

  friend bool operator==(const Truncation&, const Truncation&) = default;
};

enum class FinishReason {
  stop,        ///< the method ended by itself (end token, stop rule, nothing left to extract)
  length,      ///< a declared output limit ended it
  overlength,  ///< the input does not fit the backbone's window and the policy was to skip it
  reasoning,   ///< the output limit was spent on reasoning; no answer was begun
  filtered,    ///< whoever runs the model withheld the answer (content filter, refusal)
};

constexpr std::string_view to_string(FinishReason reason) {
  switch (reason) {
    case FinishReason::stop:
      return "stop";
    case FinishReason::length:
      return "length";
    case FinishReason::overlength:
      return "overlength";
    case FinishReason::reasoning:
      return "reasoning";
    case FinishReason::filtered:
      return "filtered";
  }
  return "stop";
}

/// The reason with this name; std::nullopt for a name that is none of them.
constexpr std::optional<FinishReason> finish_reason_from(std::string_view name) {
  for (FinishReason reason : {FinishReason::stop, FinishReason::length, FinishReason::overlength,
                              FinishReason::reasoning, FinishReason::filtered}) {
    if (to_string(reason) == name) return reason;
  }
  return std::nullopt;
}

struct Prediction {
  std::string text;
  FinishReason finish = FinishReason::stop;
  int64_t tokens_in = 0;   ///< tokens the model read (whole prompt); 0 for methods without a model
  int64_t tokens_out = 0;  ///< tokens it produced, end token excluded
  std::optional<Truncation> truncation;
  std::string prompt;          ///< the rendered prompt, empty where there is none
  int64_t repaired_bytes = 0;  ///< ill-formed output bytes replaced by U+FFFD
  /// Method-specific facts, e.g. selected segments. Those of the run and not of the output (times,
  /// tries) are members of "observed": two outputs that differ there only are the same.
  Json extra;

  friend bool operator==(const Prediction&, const Prediction&) = default;
};

}  // namespace qfs

// SentenceSplit: where summary-level ROUGE-L cuts a text into sentences, and the metric options
// that say so.
//
// Made by the catalogue entries of `rouge` and `ideal`, used by RougeScorer. A value; thread-safe.
// `unavailable` with how to get Punkt's data when they are asked for and absent.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/metric_entry.h"
#include "metrics/punkt/punkt_splitter.h"

namespace qfs::metrics {

struct SentenceSplit {
  /// Sentences of Punkt; nullptr: a text is cut at '\n' and nowhere else.
  std::shared_ptr<const PunktSplitter> punkt;
  bool newlines_too = false;  ///< a sentence of Punkt is cut at '\n' as well
  std::string data;           ///< the path that the user gave for Punkt's data, if any

  /// "newline", "punkt(nltk-3.9,data:1c0ffee…)", "punkt+newline(…)", for signatures.
  std::string signature() const;
  /// "split=punkt,nltk=3.9", without the options whose values are the given ones.
  std::string options(std::string_view default_split, std::string_view default_nltk) const;

  friend bool operator==(const SentenceSplit&, const SentenceSplit&) = default;
};

/// split=newline|punkt|punkt-newline, nltk=3.6|3.9|3.10 and punkt=PATH.
std::vector<MetricOption> sentence_split_options(const std::string& default_split,
                                                 const std::string& default_nltk);

Result<SentenceSplit> make_sentence_split(const MetricOptionValues& values);

}  // namespace qfs::metrics

// TokenEncoder: a text as ids of its words, the form in which the metrics of this folder compare a
// prediction with its document, its query and itself.
//
// In this order: the segmenter finds words, white space is left out, words of punctuation and
// symbols alone too on request, and each word is lower-cased as Python's str.lower does. Texts of
// one encoder share its ids. Any bytes are accepted; fails only as the segmenter does. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/metric_entry.h"
#include "metrics/chinese/segmenter.h"
#include "metrics/text/intern_table.h"

namespace qfs::metrics {

using WordNumber = uint32_t;
using WordNumbers = std::vector<WordNumber>;

struct LogitsProcessors {
  std::shared_ptr<const Segmenter> segmenter;
  bool lower_case = true;
  bool drop_punctuation = false;

  /// As `seg:icu|icu:72.1|icudata:72.1|case:lower|punct:keep`.
  std::string signature() const;
};

/// The segmenter's options, case=lower|keep and punctuation=keep|drop.
std::vector<MetricOption> token_options();
/// Fails as make_segmenter does.
Result<LogitsProcessors> token_rules(const MetricOptionValues& values);

class TokenEncoder {
 public:
  explicit TokenEncoder(LogitsProcessors rules) : rules_(std::move(rules)) {}

  Result<WordNumbers> encode(std::string_view text);
  std::string_view word(WordNumber number) const { return words_.text(number); }

 private:
  LogitsProcessors rules_;
  InternTable words_;
  std::vector<std::string_view> pieces_;
  std::string lowered_;
};

}  // namespace qfs::metrics

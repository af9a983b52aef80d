// Chinese, mixed and odd texts that Python and C++ make alike: the C++ half of the generator in
// tests/conformance/metrics/make_chinese_expected.py, over the pieces in chinese_texts.json, and a
// small dictionary with tables in jieba's formats.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "metrics/chinese/jieba_dictionary.h"
#include "metrics/chinese/jieba_hmm.h"
#include "tests/support/random_texts.h"

namespace qfs::test {

class ChineseTexts {
 public:
  /// Reads tests/conformance/metrics/chinese_texts.json; tests run in the source tree's root.
  ChineseTexts();

  std::string text(SplitMix64& rng) const;
  /// The texts that the expected values belong to.
  std::vector<std::string> random_texts() const;
  /// (candidate, reference)
  std::vector<std::pair<std::string, std::string>> random_pairs() const;

  const std::vector<std::string>& sentences() const { return sentences_; }
  metrics::JiebaDictionary dictionary() const;
  metrics::JiebaHmm hmm() const;

 private:
  nlohmann::json json_;
  std::vector<std::string> sentences_;
  std::vector<std::string> pieces_;
  std::vector<std::string> separators_;
};

}  // namespace qfs::test

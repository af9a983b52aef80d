// ZhTextEncoder: a text as ids of its words and sentences, the form in which metrics/rouge
// compares.
//
// Called by RougeZhMetric and by TokenMatcher. In this order: sentences are split, a sentence is
// normalised (NFKC), segmented, and each word folded to lower case; white space and, on request,
// words of punctuation and symbols alone are left out. All texts of one encoder share its word ids.
// Not thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/chinese/segmenter.h"
#include "metrics/text/intern_table.h"
#include "metrics/text/vocabulary.h"

namespace qfs::metrics {

struct ZhTextOptions {
  enum class Sentences {
    chinese,  ///< end after 。！？； (and closing quotes and brackets behind them) and at '\n'
    newline,  ///< end at '\n' only
  };
  bool fold_case = true;
  bool nfkc = true;
  bool drop_punctuation = true;
  Sentences sentences = Sentences::chinese;

  /// As `case:fold|nfkc:on|punct:drop|sent:zh`.
  std::string signature() const;

  friend bool operator==(const ZhTextOptions&, const ZhTextOptions&) = default;
};

/// Pieces of `text` in order; together they are the text without its '\n'.
std::vector<std::string_view> split_zh_sentences(std::string_view text,
                                                 ZhTextOptions::Sentences rule);

/// Bytes [begin, end) of a text.
struct TokenPlace {
  size_t begin = 0;
  size_t end = 0;
};

class ZhTextEncoder {
 public:
  ZhTextEncoder(std::shared_ptr<const Segmenter> segmenter, ZhTextOptions options)
      : segmenter_(std::move(segmenter)), options_(options) {}

  /// `text` is well-formed UTF-8; `places`: where each token is in it. Fails as the segmenter does.
  Result<EncodedText> encode(std::string_view text, std::vector<TokenPlace>* places = nullptr);

  std::string_view word(TokenId id) const { return words_.text(id); }

 private:
  /// `places`: in the sentence.
  Status append_sentence(std::string_view sentence, EncodedText& encoded,
                         std::vector<TokenPlace>* places);

  std::shared_ptr<const Segmenter> segmenter_;
  ZhTextOptions options_;
  InternTable words_;
  std::vector<std::string_view> pieces_;
  std::string folded_;
};

}  // namespace qfs::metrics

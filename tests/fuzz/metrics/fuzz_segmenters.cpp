// Arbitrary bytes through every segmenter, the sentence splitter and the set-based packages: no
// crash, words that are views into the text in order, jieba's words covering it.
#include <cstdlib>
#include <memory>

#include "metrics/chinese/icu_segmenter.h"
#include "metrics/chinese/jieba_cut.h"
#include "metrics/chinese/plain_segmenters.h"
#include "metrics/chinese/zh_text.h"
#include "metrics/set_rouge/set_rouge.h"
#include "tests/support/fuzz.h"

namespace {

using namespace qfs::metrics;

constexpr size_t kMaxBytes = 4096;  // ROUGE-L's time grows with the square

void check_in_order(std::string_view text, const std::vector<std::string_view>& words) {
  const char* at = text.data();
  for (std::string_view word : words) {
    if (word.empty() || word.data() < at || word.data() + word.size() > text.data() + text.size()) {
      std::abort();
    }
    at = word.data() + word.size();
  }
}

const JiebaDictionary& dictionary() {
  static const JiebaDictionary words = *JiebaDictionary::parse(
      "会议 500\n北京 400\n北京大学 90\n大学 350\n的 9000\nA股 15\n京大 3\n5 1\n", "fuzz");
  return words;
}

const JiebaHmm& hmm() {
  static const JiebaHmm tables = *JiebaHmm::parse(
      "P={'B': -0.25, 'E': -3.14e+100, 'M': -3.14e+100, 'S': -1.5}",
      "P={'B': {'E': -0.5, 'M': -0.9}, 'E': {'B': -0.6, 'S': -0.8}, 'M': {'E': -0.3, 'M': -1.2}, "
      "'S': {'B': -0.7, 'S': -0.6}}",
      "P={'B': {'会': -4.0, '京': -5.0}, 'E': {'议': -4.0}, 'M': {'大': -6.0}, 'S': {'的': -2.0}}",
      "fuzz");
  return tables;
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  return {"北京大学的会议，GDP增长5.2%。\n“好！”他说……",
          "a.5 b.55% c..6 AT&T C++ \r\n\t\xE3\x80\x80 \xC2\x85",
          "\xF0\xA0\x80\x80\xE9\xBF\x95\xE9\xBF\x96 \xF0\x9F\x99\x82\xE2\x80\x8D ＡＢＣ１２３",
          "...... ？” 。’ ……a"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), std::min(size, kMaxBytes));
  const IcuSegmenter icu;
  const CharSegmenter characters;
  const PretokSegmenter spaces;
  std::vector<std::string_view> words;
  for (const Segmenter* segmenter :
       {static_cast<const Segmenter*>(&icu), static_cast<const Segmenter*>(&characters),
        static_cast<const Segmenter*>(&spaces)}) {
    words.clear();
    if (!segmenter->segment(text, words).ok()) std::abort();
    check_in_order(text, words);
  }
  for (const JiebaHmm* tables : {&hmm(), static_cast<const JiebaHmm*>(nullptr)}) {
    words.clear();
    JiebaCut(dictionary(), tables).cut(text, words);
    check_in_order(text, words);
    size_t bytes = 0;
    for (std::string_view word : words) bytes += word.size();
    if (bytes != text.size()) std::abort();
  }
  ZhTextEncoder encoder(std::make_shared<CharSegmenter>(), {});
  if (!encoder.encode(text).ok()) std::abort();
  for (SetRougePackage package :
       {SetRougePackage::pltrdy_1_0_1, SetRougePackage::rouge_chinese_1_0_3}) {
    SetRouge scorer(package);
    const WordSentences whole = scorer.encode(text);
    const WordSentences half = scorer.encode(text.substr(0, text.size() / 2));
    if (whole.empty() || half.empty()) continue;
    const SetRougeScores scores = scorer.score(whole, half);
    for (const Prf& prf : {scores.rouge1, scores.rouge2, scores.rougeL}) {
      if (!(prf.f >= 0 && prf.f <= 1)) std::abort();
    }
  }
  return 0;
}

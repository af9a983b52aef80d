// Arbitrary bytes through sacreBLEU's tokenizers, bleu and chrf: tokens without white space, scores
// in 0..100, a text against itself the best there is; ill-formed texts are errors.
#include <cmath>
#include <cstdlib>

#include "harness/core/text/unicode.h"
#include "metrics/catalog.h"
#include "metrics/sacrebleu/bleu_tokenizers.h"
#include "tests/support/fuzz.h"

namespace {

using namespace qfs;
using namespace qfs::metrics;

constexpr size_t kMaxBytes = 2048;

const std::vector<std::shared_ptr<const Metric>>& tried() {
  static const std::vector<std::shared_ptr<const Metric>> metrics = [] {
    std::vector<std::shared_ptr<const Metric>> made;
    for (const char* name : {"bleu", "bleu:tokenize=zh,smooth=floor,lowercase=on",
                             "bleu:tokenize=intl,smooth=add-k,effective_order=on",
                             "bleu:tokenize=char,smooth=none", "chrf", "chrf++:eps_smoothing=on"}) {
      made.push_back(*BuiltinMetrics().make(name));
    }
    return made;
  }();
  return metrics;
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  return {"It's 3.5, or 1,000-2; (yes).|It's 3.5 &amp; <skipped> 1-2\n|x",
          "会议GDP增5.2%→b𠀀|会议。《预算》|会", "«Sí», 3.5€ 1999.|¿Sí?|"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), std::min(size, kMaxBytes));
  for (BleuTokenizer tokenizer : {BleuTokenizer::t13a, BleuTokenizer::zh, BleuTokenizer::character,
                                  BleuTokenizer::intl, BleuTokenizer::none}) {
    std::string storage;
    for (std::string_view token : bleu_tokens(tokenizer, text, storage)) {
      if (token.empty()) std::abort();
      for (size_t i = 0; i < token.size();) {
        const CodePoint point = code_point_at(token, i);
        if (is_python_space(point.value)) std::abort();
        i += point.bytes;
      }
    }
  }
  ScoreItem item;
  size_t begin = std::min(text.find('|'), text.size());
  item.candidate = text.substr(0, begin);
  while (begin < text.size()) {
    const size_t end = std::min(text.find('|', begin + 1), text.size());
    item.references.emplace_back(text.substr(begin + 1, end - begin - 1));
    begin = end;
  }
  for (const auto& metric : tried()) {
    const auto rows = metric->measure(std::span(&item, 1));
    if (!rows) continue;
    const double corpus = metric->aggregate(*rows)[0].value;
    for (double score : {rows->front()[0], corpus}) {
      if (!(score >= 0 && score <= 100 + 1e-9)) std::abort();
    }
    static_cast<void>(metric->note(item));
  }
  return 0;
}

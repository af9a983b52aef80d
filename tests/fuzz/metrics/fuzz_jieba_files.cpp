// Arbitrary bytes as a dictionary and as a table of probabilities: no crash, errors with a place,
// and what is accepted segments a text without leaving anything out.
#include <cstdlib>

#include "metrics/chinese/jieba_cut.h"
#include "metrics/chinese/probability_table.h"
#include "tests/support/fuzz.h"

std::vector<std::string> fuzz_seeds() {
  return {"会议 500 n\n北京 400\nAT&T 3 nz\n大学 0\n", "c# 3 nz\r\n5 9007199254740991 m\n",
          "P={'B': -0.26,\n 'E': -3.14e+100,\n 'M': -3.14e+100,\n 'S': -1.5}\n",
          "from __future__ import unicode_literals\n\nP={'B': {'\\u4e00': -3.6, '会': -8.1},}"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace qfs::metrics;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto dictionary = JiebaDictionary::parse(text, "d");
  if (dictionary) {
    const std::string_view sample = "北京大学的会议AT&T，c#5.2%";
    std::vector<std::string_view> words;
    JiebaCut(*dictionary, nullptr).cut(sample, words);
    size_t bytes = 0;
    for (std::string_view word : words) bytes += word.size();
    if (bytes != sample.size()) std::abort();
  } else if (!dictionary.error().where.starts_with("d")) {
    std::abort();
  }
  for (int levels : {1, 2}) {
    const auto table = read_probability_table(text, levels, "p");
    if (!table && !table.error().where.starts_with("p:")) std::abort();
  }
  const auto hmm = JiebaHmm::parse(text, text, text, "f");
  if (!hmm && hmm.error().message.empty()) std::abort();
  return 0;
}

// Words per second of a segmenter on the lines of a file; one JSON object on stdout. Driven by
// segmenters_vs_jieba.py. Usage: qfs_bench_jieba FILE ROUNDS
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "harness/core/files.h"
#include "metrics/chinese/icu_segmenter.h"
#include "metrics/chinese/jieba_segmenter.h"
#include "metrics/chinese/plain_segmenters.h"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// All lines, one after the other; the number of words.
size_t segment_lines(const qfs::metrics::Segmenter& segmenter, std::string_view text,
                     std::vector<std::string_view>& words) {
  size_t count = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    words.clear();
    if (!segmenter.segment(text.substr(begin, end - begin), words).ok()) std::exit(1);
    count += words.size();
    begin = end + 1;
  }
  return count;
}

void measure(const qfs::metrics::Segmenter& segmenter, std::string_view text, int rounds) {
  std::vector<std::string_view> words;
  for (int round = 0; round < rounds; ++round) {
    const auto start = Clock::now();
    const size_t count = segment_lines(segmenter, text, words);
    std::printf("{\"segmenter\": \"%s\", \"words\": %zu, \"seconds\": %.6f}\n",
                segmenter.signature().c_str(), count, seconds_since(start));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto text = qfs::read_file(argv[1]);
  const auto start = Clock::now();
  const auto files = qfs::metrics::find_jieba({});
  if (!text || !files) {
    std::fprintf(stderr, "%s\n", (text ? files.error() : text.error()).to_string().c_str());
    return 1;
  }
  const qfs::metrics::JiebaSegmenter jieba(*files);
  std::vector<std::string_view> words;
  segment_lines(jieba, "词", words);
  std::printf("{\"segmenter\": \"load jieba\", \"words\": 1, \"seconds\": %.6f}\n",
              seconds_since(start));
  const int rounds = std::atoi(argv[2]);
  measure(jieba, *text, rounds);
  measure(qfs::metrics::IcuSegmenter(), *text, rounds);
  measure(qfs::metrics::CharSegmenter(), *text, rounds);
  return 0;
}

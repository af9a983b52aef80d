#include "metrics/rouge155/sentences.h"

#include <algorithm>

namespace qfs::metrics::rouge155 {
namespace {

struct Words {
  int64_t count = 0;
  size_t end_of_last = 0;  ///< where the last counted word ends
};

/// Words of a sentence, at most `limit`: pieces between runs of blanks, an empty piece before a
/// leading run included, empty pieces at the end not.
Words count_words(std::string_view sentence, int64_t limit) {
  Words words;
  bool in_word = false;
  for (size_t i = 0; i < sentence.size(); ++i) {
    const bool blank = is_blank(sentence[i]);
    if (!blank && !in_word) {
      if (words.count == 0 && i > 0) words.count = 1;  // the empty piece at the front
      if (words.count >= limit) return words;
      ++words.count;
    }
    in_word = !blank;
    if (in_word) words.end_of_last = i + 1;
  }
  return words;
}

Sentences limited_words(const Sentences& sentences, int64_t limit) {
  Sentences kept;
  int64_t total = 0;
  for (std::string_view sentence : sentences) {
    const int64_t left = limit - total;
    const Words words = count_words(sentence, left);
    if (words.count >= left) {
      kept.push_back(sentence.substr(0, words.end_of_last));
      break;
    }
    total += words.count;
    kept.push_back(sentence);
  }
  return kept;
}

Sentences limited_bytes(const Sentences& sentences, int64_t limit, bool add_up) {
  Sentences kept;
  auto left = static_cast<size_t>(limit);
  for (std::string_view sentence : sentences) {
    if (sentence.size() >= left) {
      kept.push_back(sentence.substr(0, left));
      break;
    }
    if (add_up) left -= sentence.size();
    kept.push_back(sentence);
  }
  return kept;
}

}  // namespace

Sentences split_lines(std::string_view text) {
  Sentences sentences;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) sentences.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return sentences;
}

Sentences limited(Sentences sentences, const Limit& limit) {
  if (limit.unit == LimitUnit::words) return limited_words(sentences, limit.size);
  if (limit.unit == LimitUnit::bytes) return limited_bytes(sentences, limit.size, true);
  return sentences;
}

Sentences limited_for_lcs(Sentences sentences, const Limit& limit) {
  if (limit.unit == LimitUnit::words) return limited_words(sentences, limit.size);
  if (limit.unit == LimitUnit::bytes) return limited_bytes(sentences, limit.size, false);
  return sentences;
}

}  // namespace qfs::metrics::rouge155

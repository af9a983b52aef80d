#include "metrics/chinese/jieba_cut.h"

#include <limits>

#include "harness/core/text/unicode.h"

namespace qfs::metrics {
namespace {

bool is_digit(char32_t c) { return c >= '0' && c <= '9'; }

bool is_alphanumeric(char32_t c) {
  return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

bool is_han_of_jieba(char32_t c) { return c >= JiebaHmm::kFirst && c <= JiebaHmm::kLast; }

bool in_block(char32_t c) {
  if (is_han_of_jieba(c) || is_alphanumeric(c)) return true;
  return c < 0x80 && std::string_view("+#&._%-").find(static_cast<char>(c)) != std::string::npos;
}

}  // namespace

void JiebaCut::cut(std::string_view text, std::vector<std::string_view>& words) {
  text_ = text;
  words_ = &words;
  block_.clear();
  offsets_.clear();
  size_t i = 0;
  while (i < text.size()) {
    const CodePoint point = code_point_at(text, i);
    if (in_block(point.value)) {
      block_.push_back(point.value);
      offsets_.push_back(i);
      i += point.bytes;
      continue;
    }
    offsets_.push_back(i);
    cut_block();
    const size_t bytes = text.substr(i).starts_with("\r\n") ? 2 : point.bytes;
    words.push_back(text.substr(i, bytes));
    i += bytes;
  }
  offsets_.push_back(i);
  cut_block();
}

void JiebaCut::cut_block() {
  if (!block_.empty()) {
    find_path();
    size_t single = 0;  // start of the run of single characters before `at`
    for (size_t at = 0; at < block_.size();) {
      const size_t next = path_[at].next;
      // Without the HMM only letters and digits wait to be joined.
      if (next == at + 1 && (hmm_ != nullptr || is_alphanumeric(block_[at]))) {
        at = next;
        continue;
      }
      flush(single, at);
      emit(at, next);
      at = single = next;
    }
    flush(single, block_.size());
  }
  block_.clear();
  offsets_.clear();
}

void JiebaCut::find_path() {
  const WordTrie& words = dictionary_.words();
  path_.resize(block_.size() + 1);
  path_[block_.size()].score = 0;
  for (size_t at = block_.size(); at-- > 0;) {
    Step best;
    bool found = false;
    WordTrie::Node node = WordTrie::kRoot;
    for (size_t end = at; end < block_.size();) {
      node = words.child(node, block_[end]);
      if (node == WordTrie::kNone) break;
      ++end;
      const double weight = words.weight(node);
      if (weight != weight) continue;  // the beginning of words only
      const double score = weight + path_[end].score;
      if (!found || score >= best.score) best = {score, static_cast<uint32_t>(end)};
      found = true;
    }
    if (!found) {
      best = {dictionary_.unknown() + path_[at + 1].score, static_cast<uint32_t>(at + 1)};
    }
    path_[at] = best;
  }
}

void JiebaCut::flush(size_t begin, size_t end) {
  if (begin == end) return;
  if (hmm_ == nullptr || end - begin == 1) {
    emit(begin, end);
  } else if (dictionary_.contains(std::u32string_view(block_).substr(begin, end - begin))) {
    for (size_t i = begin; i < end; ++i) emit(i, i + 1);
  } else {
    cut_unknown(begin, end);
  }
}

void JiebaCut::cut_unknown(size_t begin, size_t end) {
  for (size_t at = begin; at < end;) {
    const bool han = is_han_of_jieba(block_[at]);
    size_t stop = at;
    while (stop < end && is_han_of_jieba(block_[stop]) == han) ++stop;
    if (han) {
      lengths_.clear();
      hmm_->segment(std::u32string_view(block_).substr(at, stop - at), lengths_);
      for (size_t length : lengths_) {
        emit(at, at + length);
        at += length;
      }
    } else {
      cut_latin(at, stop);
      at = stop;
    }
  }
}

/// Words are [a-zA-Z0-9]+(\.[0-9]+)?%? and what lies between them (finalseg's re_skip).
void JiebaCut::cut_latin(size_t begin, size_t end) {
  size_t between = begin;
  for (size_t at = begin; at < end;) {
    if (!is_alphanumeric(block_[at])) {
      ++at;
      continue;
    }
    if (at > between) emit(between, at);
    const size_t word = at;
    while (at < end && is_alphanumeric(block_[at])) ++at;
    if (at + 1 < end && block_[at] == '.' && is_digit(block_[at + 1])) {
      ++at;
      while (at < end && is_digit(block_[at])) ++at;
    }
    if (at < end && block_[at] == '%') ++at;
    emit(word, at);
    between = at;
  }
  if (end > between) emit(between, end);
}

}  // namespace qfs::metrics

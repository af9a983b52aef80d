#include "methods/models/tokenizers/pipeline/aligned_text.h"

#include <algorithm>

namespace qfs::tokenizers {

void AlignedText::set(std::string text, std::vector<SourceSpan> spans) {
  storage_ = std::move(text);
  owned_ = true;
  spans_ = std::move(spans);
}

std::string& AlignedText::bytes_in_place() {
  if (!owned_) storage_.assign(view_);
  owned_ = true;
  return storage_;
}

void AlignedText::make_spans() {
  if (!spans_.empty()) return;
  const std::string_view from = text();
  spans_.resize(from.size());
  for_each_code_point(from, [&](char32_t, size_t begin, size_t end) {
    const SourceSpan span{static_cast<uint32_t>(base_ + begin), static_cast<uint32_t>(base_ + end)};
    std::fill(spans_.begin() + static_cast<std::ptrdiff_t>(begin),
              spans_.begin() + static_cast<std::ptrdiff_t>(end), span);
  });
}

AlignedText AlignedText::slice(size_t begin, size_t end) const {
  AlignedText part(text().substr(begin, end - begin), base_ + begin);
  if (!spans_.empty()) {
    part.spans_.assign(spans_.begin() + static_cast<std::ptrdiff_t>(begin),
                       spans_.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return part;
}

void AlignedText::transform(std::span<const Change> changes, size_t removed) {
  make_spans();
  const std::string_view old = text();
  std::string result;
  std::vector<SourceSpan> spans;
  result.reserve(old.size());
  spans.reserve(old.size());
  size_t position = 0;
  const auto skip = [&] {
    if (position < old.size()) next_code_point(old, position);
  };
  for (size_t i = 0; i < removed; ++i) skip();
  for (const Change& change : changes) {
    SourceSpan span;
    if (change.change > 0) {
      if (position > 0) span = spans_[position - 1];
    } else {
      if (position < old.size()) span = spans_[position];
      for (int32_t i = 0; i <= -change.change; ++i) skip();
    }
    append_code_point(result, change.code_point);
    spans.resize(result.size(), span);
  }
  set(std::move(result), std::move(spans));
}

void AlignedText::replace(std::span<const Match> matches, std::string_view content) {
  if (std::none_of(matches.begin(), matches.end(), [](const Match& m) { return m.matched; })) {
    return;
  }
  make_spans();
  const std::string_view old = text();
  std::string result;
  std::vector<SourceSpan> spans;
  result.reserve(old.size() + old.size() / 2);
  spans.reserve(old.size() + old.size() / 2);
  for (const Match& match : matches) {
    if (match.matched) {
      result.append(content);
      spans.resize(result.size(), match.end > 0 ? spans_[match.end - 1] : SourceSpan());
    } else {
      result.append(old.substr(match.begin, match.end - match.begin));
      spans.insert(spans.end(), spans_.begin() + static_cast<std::ptrdiff_t>(match.begin),
                   spans_.begin() + static_cast<std::ptrdiff_t>(match.end));
    }
  }
  set(std::move(result), std::move(spans));
}

void AlignedText::prepend(std::string_view content) {
  if (text().empty()) return;
  make_spans();
  size_t first_end = 0;
  next_code_point(text(), first_end);
  const SourceSpan first = spans_.front();
  std::fill_n(spans_.begin(), first_end, first);
  spans_.insert(spans_.begin(), content.size(), first);
  std::string result;
  result.reserve(content.size() + text().size());
  result.append(content).append(text());
  set(std::move(result), std::move(spans_));
}

void AlignedText::trim(size_t begin, size_t end) {
  if (begin == 0 && end == text().size()) return;
  if (!spans_.empty()) {
    spans_.resize(end);
    spans_.erase(spans_.begin(), spans_.begin() + static_cast<std::ptrdiff_t>(begin));
  } else {
    base_ += begin;
  }
  if (owned_) {
    storage_ = storage_.substr(begin, end - begin);
  } else {
    view_ = view_.substr(begin, end - begin);
  }
}

}  // namespace qfs::tokenizers

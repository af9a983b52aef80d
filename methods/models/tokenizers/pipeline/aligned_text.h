// AlignedText: a text on its way through normalizers, that knows for each of its bytes which bytes
// of the original it comes from.
//
// Used inside one encode call. Not thread-safe. As long as nothing changed lengths it is a view and
// bytes map one to one; afterwards each byte maps to the whole code points it came from, by the
// rules of NormalizedString of Hugging Face tokenizers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "methods/models/tokenizers/pipeline/code_points.h"

namespace qfs::tokenizers {

struct SourceSpan {
  uint32_t begin = 0;
  uint32_t end = 0;
};

/// One code point of a new text. change 0: it replaces the next old one; 1: it is put in and has
/// the source of what stands before; -n: it replaces one and n old ones after it go.
struct Change {
  char32_t code_point;
  int32_t change;
};

/// A stretch of text that a pattern found, or one between those.
struct Match {
  size_t begin;
  size_t end;
  bool matched;
};

class AlignedText {
 public:
  /// `base` is where `text` begins in the original. `text` must outlive this.
  AlignedText(std::string_view text, size_t base) : view_(text), base_(base) {}
  AlignedText(AlignedText&&) = default;
  AlignedText& operator=(AlignedText&&) = default;

  std::string_view text() const { return owned_ ? std::string_view(storage_) : view_; }
  /// The bytes of the original behind bytes [begin, end) of the text, which are not none.
  SourceSpan source(size_t begin, size_t end) const {
    if (spans_.empty()) {
      return {static_cast<uint32_t>(base_ + begin), static_cast<uint32_t>(base_ + end)};
    }
    return {spans_[begin].begin, spans_[end - 1].end};
  }
  /// A part as a text of its own; views and sources are those of this one.
  AlignedText slice(size_t begin, size_t end) const;

  /// The text for changes that keep every length (ASCII case, white space to space).
  std::string& bytes_in_place();

  /// Replaces the whole text; the first `removed` code points go without replacement.
  void transform(std::span<const Change> changes, size_t removed = 0);
  /// Keeps the code points for which `keep` is true.
  template <class Keep>
  void filter(Keep keep);
  /// Replaces the matched stretches, each by `content` with the source of its last code point.
  void replace(std::span<const Match> matches, std::string_view content);
  /// Puts `content` before the first code point and gives it that one's source; nothing on no text.
  void prepend(std::string_view content);
  /// Leaves only bytes [begin, end).
  void trim(size_t begin, size_t end);

 private:
  void make_spans();
  void set(std::string text, std::vector<SourceSpan> spans);

  std::string_view view_;
  size_t base_ = 0;
  bool owned_ = false;
  std::string storage_;
  std::vector<SourceSpan> spans_;  ///< empty: one to one from base_
};

/// Calls visit(code_point, begin, end).
template <class Visit>
void for_each_code_point(std::string_view text, Visit visit);

}  // namespace qfs::tokenizers

namespace qfs::tokenizers {

template <class Visit>
void for_each_code_point(std::string_view text, Visit visit) {
  for (size_t position = 0; position < text.size();) {
    const size_t begin = position;
    const char32_t c = next_code_point(text, position);
    visit(c, begin, position);
  }
}

template <class Keep>
void AlignedText::filter(Keep keep) {
  std::string kept;
  std::vector<SourceSpan> spans;
  bool any = false;
  for_each_code_point(text(), [&](char32_t c, size_t, size_t) { any = any || !keep(c); });
  if (!any) return;
  make_spans();
  for_each_code_point(text(), [&](char32_t c, size_t begin, size_t end) {
    if (!keep(c)) return;
    kept.append(text().substr(begin, end - begin));
    for (size_t i = begin; i < end; ++i) spans.push_back(spans_[i]);
  });
  set(std::move(kept), std::move(spans));
}

}  // namespace qfs::tokenizers

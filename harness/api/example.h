// Example: one thing to summarize (a document, a query, its references), as data sets deliver it
// and methods receive it. Plain data; every string is valid UTF-8.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/json.h"

namespace qfs {

/// A turn, paragraph or sentence; `speaker` is empty where the data has none.
struct Segment {
  std::string text;
  std::string speaker;

  friend bool operator==(const Segment&, const Segment&) = default;
};

/// Segments [first, last] of a document, inclusive, zero-based.
struct SegmentSpan {
  int64_t first = 0;
  int64_t last = 0;

  friend bool operator==(const SegmentSpan&, const SegmentSpan&) = default;
};

struct Example {
  std::string key;          ///< unique inside its data set and view
  std::string document_id;  ///< the cluster of statistics and of prefix reuse
  std::string group;        ///< rows of one question (views with one row per reference)
  std::string language;     ///< BCP 47, "en" or "zh"
  std::vector<Segment> document;
  std::string query;  ///< empty for data without queries
  std::vector<std::string> references;
  std::vector<SegmentSpan> evidence;  ///< gold spans; seen only by methods that declare it
  Json extra;                         ///< what the reader kept besides; never sent undeclared
  /// Of another example, in cells of Documents::other_memory; else empty.
  std::vector<Segment> other_document = {};
  /// Of another example, in cells of Documents::other_instruction.
  std::optional<std::string> other_query = {};

  friend bool operator==(const Example&, const Example&) = default;
};

/// An example with its position in the data set (the key of its output row).
struct NumberedExample {
  int64_t ordinal = 0;
  Example example;
};

/// Whether a text has nothing but white space.
inline bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

/// Whether some segment of the document is not blank.
inline bool has_text(const Example& example) {
  for (const Segment& segment : example.document) {
    if (!is_blank(segment.text)) return true;
  }
  return false;
}

/// One segment as methods and prompts see it: "speaker: text", or the text alone.
inline std::string rendered(const Segment& segment) {
  return segment.speaker.empty() ? segment.text : segment.speaker + ": " + segment.text;
}

/// The document as one string: rendered segments joined by a newline.
inline std::string rendered_document(const Example& example) {
  std::string text;
  for (const Segment& segment : example.document) {
    if (&segment != &example.document.front()) text += '\n';
    text += rendered(segment);
  }
  return text;
}

}  // namespace qfs

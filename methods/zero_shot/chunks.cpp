#include "methods/zero_shot/chunks.h"

#include <algorithm>
#include <string_view>

#include "harness/core/utf8.h"

namespace qfs::zero_shot {
namespace {

/// A place between two tokens of the document: the segment, and the byte where its next token
/// begins.
struct Border {
  size_t segment = 0;
  size_t byte = 0;
};

/// Borders before every token and at the end, and those among them that begin a segment.
struct Borders {
  std::vector<Border> all;             ///< one a token, and the end
  std::vector<size_t> segment_begins;  ///< indices into `all`, ascending; the end is one
};

Borders borders_of(const std::vector<std::string>& texts, const tokenizers::Tokenizer& tokenizer) {
  Borders borders;
  for (size_t i = 0; i < texts.size(); ++i) {
    borders.segment_begins.push_back(borders.all.size());
    bool first = true;
    for (const tokenizers::Token& token : tokenizer.encode(texts[i])) {
      // What stands before the first token belongs to the segment's beginning.
      const size_t byte = first ? 0 : whole_code_points(texts[i], static_cast<size_t>(token.begin));
      borders.all.push_back({i, byte});
      first = false;
    }
  }
  borders.segment_begins.push_back(borders.all.size());
  borders.all.push_back({texts.size(), 0});
  return borders;
}

std::string text_between(const std::vector<std::string>& texts, const Border& begin,
                         const Border& end) {
  std::string text;
  for (size_t i = begin.segment; i <= end.segment && i < texts.size(); ++i) {
    const size_t from = i == begin.segment ? begin.byte : 0;
    const size_t to = i == end.segment ? end.byte : texts[i].size();
    if (i == end.segment && to == 0) break;
    if (i > begin.segment) text += '\n';
    text += std::string_view(texts[i]).substr(from, to - from);
  }
  return text;
}

}  // namespace

std::vector<std::string> make_chunks(const prompting::TruncatedDocument& document,
                                     const tokenizers::Tokenizer& tokenizer, ChunkSizes sizes) {
  const Borders borders = borders_of(document.texts, tokenizer);
  const size_t total = borders.all.size() - 1;
  const auto most = static_cast<size_t>(sizes.tokens);
  const auto overlap = static_cast<size_t>(sizes.overlap);
  if (total <= most) return {document.joined()};
  std::vector<std::string> chunks;
  for (size_t begin = 0; begin < total;) {
    size_t end = std::min(begin + most, total);
    // The last beginning of a segment that is not behind the end.
    const auto after = std::ranges::upper_bound(borders.segment_begins, end);
    const size_t border = *std::prev(after);
    if (border > begin + most / 2) end = border;
    // Segments without tokens go with what stands before them.
    Border first = borders.all[begin];
    if (chunks.empty()) first = {0, 0};
    chunks.push_back(text_between(document.texts, first, borders.all[end]));
    if (end == total) break;
    begin = end - overlap;
  }
  return chunks;
}

std::vector<size_t> group_ends(const std::vector<int64_t>& counts, int64_t budget) {
  std::vector<size_t> ends;
  size_t begin = 0;
  int64_t sum = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (i >= begin + 2 && sum + counts[i] > budget) {
      ends.push_back(i);
      begin = i;
      sum = 0;
    }
    sum += counts[i];
  }
  if (!counts.empty()) ends.push_back(counts.size());
  return ends;
}

}  // namespace qfs::zero_shot

#include "methods/models/prompting/truncation.h"

#include <algorithm>
#include <iterator>

#include "harness/core/utf8.h"

namespace qfs::prompting {
namespace {

/// The rendered segments with their token counts.
struct CountedDocument {
  std::vector<std::string> texts;
  std::vector<int64_t> tokens;
  int64_t total = 0;
};

CountedDocument count_document(const Example& example, const tokenizers::Tokenizer& tokenizer) {
  CountedDocument document;
  for (const Segment& segment : example.document) {
    document.texts.push_back(rendered(segment));
    document.tokens.push_back(tokenizer.count(document.texts.back()));
    document.total += document.tokens.back();
  }
  return document;
}

struct Piece {
  ByteSpan span;
  int64_t tokens = 0;
};

Piece whole_segment(const CountedDocument& document, size_t index) {
  return {{static_cast<int64_t>(index), 0, static_cast<int64_t>(document.texts[index].size())},
          document.tokens[index]};
}

/// The first `count` tokens of a segment, fewer where the last one ends inside a code point.
Piece first_tokens(const CountedDocument& document, size_t index,
                   const tokenizers::Tokenizer& tokenizer, int64_t count) {
  const std::string& text = document.texts[index];
  const std::vector<tokenizers::Token> tokens = tokenizer.encode(text);
  const auto end_of_last = static_cast<size_t>(tokens[static_cast<size_t>(count - 1)].end);
  const auto end = static_cast<int64_t>(whole_code_points(text, end_of_last));
  Piece piece{{static_cast<int64_t>(index), 0, end}, 0};
  for (int64_t i = 0; i < count; ++i) piece.tokens += tokens[static_cast<size_t>(i)].end <= end;
  return piece;
}

/// The last `count` tokens of a segment, fewer where the first one begins inside a code point.
Piece last_tokens(const CountedDocument& document, size_t index,
                  const tokenizers::Tokenizer& tokenizer, int64_t count) {
  const std::string& text = document.texts[index];
  const std::vector<tokenizers::Token> tokens = tokenizer.encode(text);
  const size_t first = tokens.size() - static_cast<size_t>(count);
  auto begin = static_cast<size_t>(tokens[first].begin);
  const auto is_continuation = [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
  };
  while (begin < text.size() && is_continuation(text[begin])) ++begin;
  Piece piece{
      {static_cast<int64_t>(index), static_cast<int64_t>(begin), static_cast<int64_t>(text.size())},
      0};
  for (size_t i = first; i < tokens.size(); ++i) {
    piece.tokens += tokens[i].begin >= static_cast<int64_t>(begin);
  }
  return piece;
}

/// Pieces from the front until the budget is used up. The document has more tokens than that.
std::vector<Piece> take_head(const CountedDocument& document,
                             const tokenizers::Tokenizer& tokenizer, int64_t budget) {
  std::vector<Piece> pieces;
  for (size_t i = 0; budget > 0; ++i) {
    const bool fits = document.tokens[i] <= budget;
    pieces.push_back(fits ? whole_segment(document, i)
                          : first_tokens(document, i, tokenizer, budget));
    budget -= fits ? document.tokens[i] : budget;
  }
  return pieces;
}

/// The same from the back; pieces in document order.
std::vector<Piece> take_tail(const CountedDocument& document,
                             const tokenizers::Tokenizer& tokenizer, int64_t budget) {
  std::vector<Piece> pieces;
  for (size_t i = document.texts.size(); budget > 0; --i) {
    const bool fits = document.tokens[i - 1] <= budget;
    pieces.push_back(fits ? whole_segment(document, i - 1)
                          : last_tokens(document, i - 1, tokenizer, budget));
    budget -= fits ? document.tokens[i - 1] : budget;
  }
  std::reverse(pieces.begin(), pieces.end());
  return pieces;
}

std::vector<Piece> take_everything(const CountedDocument& document) {
  std::vector<Piece> pieces;
  for (size_t i = 0; i < document.texts.size(); ++i) pieces.push_back(whole_segment(document, i));
  return pieces;
}

std::vector<Piece> choose_pieces(const CountedDocument& document,
                                 const tokenizers::Tokenizer& tokenizer,
                                 std::optional<int64_t> budget, TruncationPolicy policy) {
  if (!budget || document.total <= *budget) return take_everything(document);
  switch (policy) {
    case TruncationPolicy::head:
      return take_head(document, tokenizer, *budget);
    case TruncationPolicy::tail:
      return take_tail(document, tokenizer, *budget);
    case TruncationPolicy::middle:
      break;
  }
  std::vector<Piece> pieces = take_head(document, tokenizer, *budget - *budget / 2);
  std::vector<Piece> tail = take_tail(document, tokenizer, *budget / 2);
  pieces.insert(pieces.end(), tail.begin(), tail.end());
  return pieces;
}

TruncatedDocument cut_to(const Example& example, const tokenizers::Tokenizer& tokenizer,
                         const CountedDocument& document, const std::vector<Piece>& pieces) {
  TruncatedDocument result;
  result.ledger.document_tokens = document.total;
  result.ledger.query_tokens = tokenizer.count(example.query);
  for (const Piece& piece : pieces) {
    const std::string& text = document.texts[static_cast<size_t>(piece.span.segment)];
    const auto length = static_cast<size_t>(piece.span.end - piece.span.begin);
    if (length == 0 && !text.empty()) continue;  // the cut left nothing of this segment
    result.ledger.kept.push_back(piece.span);
    result.ledger.kept_tokens += piece.tokens;
    result.texts.push_back(text.substr(static_cast<size_t>(piece.span.begin), length));
  }
  return result;
}

}  // namespace

std::vector<std::string> truncation_policy_names() { return {"head", "tail", "middle"}; }

std::optional<TruncationPolicy> truncation_policy_from(std::string_view name) {
  if (name == "head") return TruncationPolicy::head;
  if (name == "tail") return TruncationPolicy::tail;
  if (name == "middle") return TruncationPolicy::middle;
  return std::nullopt;
}

std::string TruncatedDocument::joined() const {
  std::string text;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) text += '\n';
    text += texts[i];
  }
  return text;
}

Result<TruncatedDocument> truncate_document(const Example& example,
                                            const tokenizers::Tokenizer& tokenizer,
                                            std::optional<int64_t> budget_tokens,
                                            TruncationPolicy policy) {
  if (budget_tokens && *budget_tokens < 1) {
    return invalid_argument("a document cannot be cut to " + std::to_string(*budget_tokens) +
                            " tokens; the least is 1");
  }
  const CountedDocument document = count_document(example, tokenizer);
  return cut_to(example, tokenizer, document,
                choose_pieces(document, tokenizer, budget_tokens, policy));
}

Result<TruncatedDocument> truncate_segments(const Example& example,
                                            const tokenizers::Tokenizer& tokenizer,
                                            std::optional<int64_t> budget_tokens) {
  const CountedDocument document = count_document(example, tokenizer);
  const auto segments = static_cast<int64_t>(document.texts.size());
  if (!budget_tokens || segments == 0) {
    return cut_to(example, tokenizer, document, take_everything(document));
  }
  const int64_t share = *budget_tokens / segments;
  if (share < 1) {
    return invalid_argument("the " + std::to_string(segments) + " documents of example '" +
                            example.key + "' cannot be cut to " + std::to_string(*budget_tokens) +
                            " tokens; the least is 1 of each");
  }
  std::vector<Piece> pieces;
  for (size_t i = 0; i < document.texts.size(); ++i) {
    pieces.push_back(document.tokens[i] <= share ? whole_segment(document, i)
                                                 : first_tokens(document, i, tokenizer, share));
  }
  return cut_to(example, tokenizer, document, pieces);
}

}  // namespace qfs::prompting

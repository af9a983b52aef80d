#include "methods/tokenizers/sentence_piece.h"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <utility>

#include "harness/core/utf8.h"
#include "methods/tokenizers/sentence_piece_check.h"

namespace qfs::tokenizers {

namespace {

int64_t code_points(std::string_view text, int64_t begin, int64_t end) {
  return count_code_points(
      text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
}

class SentencePieceTokenizer final : public VocabularyTokenizer {
 public:
  SentencePieceTokenizer(std::unique_ptr<sentencepiece::SentencePieceProcessor> processor,
                         bool prepends)
      : processor_(std::move(processor)), prepends_(prepends) {}

  std::vector<Token> encode(std::string_view text) const override {
    const auto pieces = processor_->EncodeAsImmutableProto(text);
    std::vector<Token> tokens;
    tokens.reserve(pieces.pieces_size());
    for (size_t i = 0; i < pieces.pieces_size(); ++i) {
      const auto piece = pieces.pieces(static_cast<int>(i));
      tokens.push_back({static_cast<int32_t>(piece.id()), static_cast<int64_t>(piece.begin()),
                        static_cast<int64_t>(piece.end())});
    }
    spread_bytes(text, tokens);
    return tokens;
  }

  int64_t count(std::string_view text) const override {
    return static_cast<int64_t>(processor_->EncodeAsIds(text).size());
  }

  int64_t vocabulary_size() const override { return processor_->GetPieceSize(); }

  std::string decode(std::span<const int32_t> ids) const override {
    std::vector<int> known;
    for (const int32_t id : ids) {
      if (id >= 0 && id < processor_->GetPieceSize() && !processor_->IsControl(id)) {
        known.push_back(id);
      }
    }
    return processor_->DecodeIds(known);
  }

  std::optional<int32_t> special_id(std::string_view text) const override {
    const int id = processor_->PieceToId(text);
    if (!processor_->IsControl(id) || processor_->IdToPiece(id) != text) return std::nullopt;
    return id;
  }

  std::vector<std::string> special_texts() const override {
    std::vector<std::string> texts;
    for (int id = 0; id < processor_->GetPieceSize(); ++id) {
      if (processor_->IsControl(id)) texts.push_back(processor_->IdToPiece(id));
    }
    return texts;
  }

  std::optional<int32_t> end_of_sequence_id() const override {
    return processor_->eos_id() < 0 ? std::nullopt : std::optional(processor_->eos_id());
  }
  std::optional<int32_t> prepended_id() const override {
    return prepends_ && processor_->bos_id() >= 0 ? std::optional(processor_->bos_id())
                                                  : std::nullopt;
  }

 private:
  /// The library gives a character to the last of its byte tokens; here each has its byte, or
  /// everything where normalization made the character of several.
  void spread_bytes(std::string_view text, std::vector<Token>& tokens) const {
    for (size_t i = 0; i < tokens.size();) {
      size_t end = i;
      while (end < tokens.size() && processor_->IsByte(tokens[end].id)) {
        const bool last = tokens[end].end > tokens[end].begin;
        ++end;
        if (last) break;
      }
      const auto bytes = static_cast<int64_t>(end - i);
      const Token last = end > i ? tokens[end - 1] : Token();
      const bool one_to_one =
          last.end - last.begin == bytes && code_points(text, last.begin, last.end) == 1;
      for (int64_t k = 0; k < bytes; ++k) {
        Token& token = tokens[i + static_cast<size_t>(k)];
        token.begin = one_to_one ? last.begin + k : last.begin;
        token.end = one_to_one ? token.begin + 1 : last.end;
      }
      i = std::max(end, i + 1);
    }
  }

  std::unique_ptr<sentencepiece::SentencePieceProcessor> processor_;
  bool prepends_;
};

}  // namespace

Result<std::shared_ptr<const VocabularyTokenizer>> make_sentence_piece(
    std::string_view model, const std::string& source, const TokenizerConfig& config) {
  if (Status status = check_sentence_piece_model(model, source); !status.ok()) {
    return status.error();
  }
  auto processor = std::make_unique<sentencepiece::SentencePieceProcessor>();
  std::string fault;
  try {
    const auto status = processor->LoadFromSerializedProto(model);
    if (!status.ok()) fault = status.ToString();
  } catch (const std::exception& error) {
    fault = error.what();
  }
  if (!fault.empty()) {
    return data_error("the sentencepiece library does not read this model: " + fault, source);
  }
  const bool prepends = config.add_bos_token.value_or(config.tokenizer_class.starts_with("Llama"));
  return std::shared_ptr<const VocabularyTokenizer>(
      std::make_shared<const SentencePieceTokenizer>(std::move(processor), prepends));
}

}  // namespace qfs::tokenizers

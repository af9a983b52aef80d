#include "methods/models/tokenizers/sentence_piece/sentence_piece.h"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <set>
#include <utility>

#include "harness/core/utf8.h"
#include "methods/models/tokenizers/pipeline/decoder.h"
#include "methods/models/tokenizers/sentence_piece/sentence_piece_layout.h"

/// libsentencepiece 0.1.97 and libc10 2.11 both have a variable of this name, which the loader
/// makes one: an object of 32 bytes came to lie on an int and the flag behind it by which LibTorch
/// aborts instead of throwing, so that memory that cannot be had ended the process. A place of our
/// own holds either.
extern "C" {
alignas(16) char FLAGS_minloglevel[64];  // NOLINT(*-non-const-global-variables)
}

namespace qfs::tokenizers {

namespace {

int64_t code_points(std::string_view text, int64_t begin, int64_t end) {
  return count_code_points(
      text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
}

class SentencePieceTokenizer final : public VocabularyTokenizer {
 public:
  SentencePieceTokenizer(std::unique_ptr<sentencepiece::SentencePieceProcessor> processor,
                         SentencePieceLayout layout, bool clean_up)
      : processor_(std::move(processor)),
        layout_(std::move(layout)),
        clean_up_(clean_up ? make_clean_up_decoder() : nullptr) {
    size_ = processor_->GetPieceSize() + layout_.shift;
    for (const auto& [text, id] : layout_.special) {
      special_ids_.insert(id);
      size_ = std::max(size_, id + 1);
    }
  }

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
    for (Token& token : tokens) token.id = id_of(token.id);
    return tokens;
  }

  int64_t count(std::string_view text) const override {
    return static_cast<int64_t>(processor_->EncodeAsIds(text).size());
  }

  int64_t vocabulary_size() const override { return size_; }

  std::string decode(std::span<const int32_t> ids) const override {
    std::vector<int> known;
    for (const int32_t id : ids) {
      const int32_t piece = id - layout_.shift;
      if (piece >= 0 && piece < processor_->GetPieceSize() && !special_ids_.contains(id)) {
        known.push_back(piece);
      }
    }
    std::vector<std::string> text = {processor_->DecodeIds(known)};
    if (clean_up_ != nullptr) clean_up_->apply(text);
    return std::move(text.front());
  }

  std::optional<int32_t> special_id(std::string_view text) const override {
    const auto found = layout_.special.find(text);
    return found == layout_.special.end() ? std::nullopt : std::optional(found->second);
  }

  std::vector<std::string> special_texts() const override {
    std::vector<std::string> texts;
    for (const auto& [text, id] : layout_.special) texts.push_back(text);
    return texts;
  }

  std::optional<int32_t> end_of_sequence_id() const override { return layout_.end; }

  TextFrame frame() const override { return {layout_.before, layout_.after}; }

 private:
  int32_t id_of(int32_t piece) const {
    const auto moved = layout_.moved.find(piece);
    return moved == layout_.moved.end() ? piece + layout_.shift : moved->second;
  }

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
  SentencePieceLayout layout_;
  DecoderPtr clean_up_;  ///< may be null
  std::set<int32_t> special_ids_;
  int32_t size_ = 0;
};

/// Of a file whose pieces' numbers are the ids.
SentencePieceLayout plain_layout(const sentencepiece::SentencePieceProcessor& processor,
                                 const TokenizerConfig& config) {
  SentencePieceLayout layout;
  for (int id = 0; id < processor.GetPieceSize(); ++id) {
    if (processor.IsControl(id)) layout.special.emplace(processor.IdToPiece(id), id);
  }
  const std::string_view name = config.base_class();
  const bool usual = name == "LlamaTokenizer" || name == "BlueLMTokenizer";
  const bool begins = config.add_bos_token.value_or(usual);
  if (begins && processor.bos_id() >= 0) layout.before = {processor.bos_id()};
  if (processor.eos_id() < 0) return layout;
  layout.end = processor.eos_id();
  if (config.add_eos_token.value_or(false)) layout.after = {processor.eos_id()};
  return layout;
}

/// Puts in the special tokens that the folder adds; refuses those that are looked for in texts.
Status add_tokens(const SentencePieceFile& file, const TokenizerConfig& config,
                  const std::string& source, SentencePieceLayout& layout) {
  for (const AddedToken& token : config.added_tokens) {
    const int32_t piece = token.id - layout.shift;
    const auto& texts = file.pieces.texts;
    const bool listed = piece >= 0 && static_cast<size_t>(piece) < texts.size() &&
                        texts[static_cast<size_t>(piece)] == token.content;
    if (listed) continue;
    if (!token.special) {
      return unavailable(
          "the added token '" + token.content +
              "' is not special, and a SentencePiece model alone does not find it in "
              "texts; use the model's tokenizer.json",
          source);
    }
    const auto [known, added] = layout.special.emplace(token.content, token.id);
    if (!added && known->second != token.id) {
      return data_error("the added token '" + token.content + "' has the id " +
                            std::to_string(token.id) + "; by its class it has " +
                            std::to_string(known->second),
                        source);
    }
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const VocabularyTokenizer>> make_sentence_piece(
    std::string_view model, const SentencePieceFile& file, const std::string& source,
    const TokenizerConfig& config) {
  if (!config.add_prefix_space.value_or(true)) {
    return unavailable(
        "add_prefix_space is false, and this SentencePiece model puts a space before every text; "
        "use the model's tokenizer.json",
        source);
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
  auto layout = sentence_piece_layout(config, processor->GetPieceSize());
  if (!layout.ok()) return Error{layout.error().kind, layout.error().message, source};
  if (!*layout) *layout = plain_layout(*processor, config);
  if (Status added = add_tokens(file, config, source, **layout); !added.ok()) return added.error();
  return std::shared_ptr<const VocabularyTokenizer>(std::make_shared<const SentencePieceTokenizer>(
      std::move(processor), **std::move(layout), config.clean_up && !file.bpe));
}

}  // namespace qfs::tokenizers

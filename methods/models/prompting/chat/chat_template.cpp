#include "methods/models/prompting/chat/chat_template.h"

#include <utility>

namespace qfs::prompting {

namespace {

struct KnownTemplate {
  std::string_view sha256;
  ChatFormat format;
};

constexpr KnownTemplate kKnownTemplates[] = {
    {"872be49dbb638044ad01b60388f48d469ff2980e5f0dccdc22ec907db54d0788", ChatFormat::smollm2},
};

/// Adds plain text, joined with plain text before it: a run between special tokens is one piece.
void add_plain(std::vector<PromptPiece>& pieces, std::string_view text) {
  if (pieces.empty() || pieces.back().special) pieces.push_back({});
  pieces.back().text += text;
}

void add_turn(std::vector<PromptPiece>& pieces, std::string_view role, std::string_view text) {
  pieces.push_back({"<|im_start|>", true});
  add_plain(pieces, role);
  add_plain(pieces, "\n");
  add_plain(pieces, text);
  pieces.push_back({"<|im_end|>", true});
  add_plain(pieces, "\n");
}

std::vector<PromptPiece> render_smollm2(std::span<const ChatMessage> messages) {
  std::vector<PromptPiece> pieces;
  if (!messages.empty() && messages.front().role != "system") {
    add_turn(pieces, "system",
             "You are a helpful AI assistant named SmolLM, trained by Hugging Face");
  }
  for (const ChatMessage& message : messages) add_turn(pieces, message.role, message.text);
  pieces.push_back({"<|im_start|>", true});
  add_plain(pieces, "assistant\n");
  return pieces;
}

}  // namespace

Result<ChatFormat> chat_format(std::string_view template_sha256) {
  for (const KnownTemplate& known : kKnownTemplates) {
    if (known.sha256 == template_sha256) return known.format;
  }
  if (template_sha256.empty()) {
    return unavailable("the checkpoint has no chat template; prompt it with \"chat\": false");
  }
  return unavailable("the chat template with SHA-256 " + std::string(template_sha256) +
                     " is unknown to this program; prompt the model with \"chat\": false");
}

std::vector<PromptPiece> render_chat(ChatFormat format, std::span<const ChatMessage> messages) {
  switch (format) {
    case ChatFormat::smollm2:
      return render_smollm2(messages);
  }
  return {};
}

std::vector<int32_t> encode_prompt(const tokenizers::VocabularyTokenizer& tokenizer,
                                   std::string_view text) {
  return tokenizers::ids_of(tokenizer.model_input(text).tokens);
}

Result<std::vector<tokenizers::Token>> piece_tokens(
    const tokenizers::VocabularyTokenizer& tokenizer, std::span<const PromptPiece> pieces) {
  std::vector<tokenizers::Token> tokens;
  int64_t begin = 0;
  for (const PromptPiece& piece : pieces) {
    const auto end = begin + static_cast<int64_t>(piece.text.size());
    if (piece.special) {
      const std::optional<int32_t> id = tokenizer.special_id(piece.text);
      if (!id) {
        return unavailable("the vocabulary has no special token '" + piece.text +
                           "', which the chat template needs");
      }
      tokens.push_back({*id, begin, end});
    } else {
      std::vector<tokenizers::Token> added = tokenizer.encode(piece.text);
      if (&piece != &pieces.front()) {
        // Without what the beginning of a text alone is given, at which they differ.
        const std::vector<int32_t> ids = tokenizer.ids_behind(piece.text);
        std::vector<tokenizers::Token> behind;
        for (const int32_t id : ids) behind.push_back({id, 0, 0});
        for (size_t i = 0; i < std::min(ids.size(), added.size()); ++i) {
          const tokenizers::Token& same = added[added.size() - 1 - i];
          if (same.id != ids[ids.size() - 1 - i]) break;
          behind[ids.size() - 1 - i] = same;
        }
        added = std::move(behind);
      }
      for (tokenizers::Token token : added) {
        token.begin += begin;
        token.end += begin;
        tokens.push_back(token);
      }
    }
    begin = end;
  }
  return tokens;
}

Result<std::vector<int32_t>> encode_pieces(const tokenizers::VocabularyTokenizer& tokenizer,
                                           std::span<const PromptPiece> pieces) {
  const auto tokens = piece_tokens(tokenizer, pieces);
  if (!tokens.ok()) return tokens.error();
  return tokenizers::ids_of(*tokens);
}

std::string prompt_text(std::span<const PromptPiece> pieces) {
  std::string text;
  for (const PromptPiece& piece : pieces) text += piece.text;
  return text;
}

}  // namespace qfs::prompting

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

Result<std::vector<int32_t>> encode_pieces(const tokenizers::VocabularyTokenizer& tokenizer,
                                           std::span<const PromptPiece> pieces) {
  std::vector<int32_t> ids;
  for (const PromptPiece& piece : pieces) {
    if (!piece.special) {
      const bool first = &piece == &pieces.front();
      const auto added = first ? tokenizers::ids_of(tokenizer.encode(piece.text))
                               : tokenizer.ids_behind(piece.text);
      ids.insert(ids.end(), added.begin(), added.end());
      continue;
    }
    const std::optional<int32_t> id = tokenizer.special_id(piece.text);
    if (!id) {
      return unavailable("the vocabulary has no special token '" + piece.text +
                         "', which the chat template needs");
    }
    ids.push_back(*id);
  }
  return ids;
}

std::string prompt_text(std::span<const PromptPiece> pieces) {
  std::string text;
  for (const PromptPiece& piece : pieces) text += piece.text;
  return text;
}

}  // namespace qfs::prompting

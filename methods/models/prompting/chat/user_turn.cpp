#include "methods/models/prompting/chat/user_turn.h"

#include <utility>

#include "methods/models/tokenizers/gguf/gguf_token_ids.h"

namespace qfs::prompting {

namespace {

constexpr const char* kSpace = " \t\r\n";

/// As chat templates put messages in.
std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

/// The text of a token whose id the file names under `key`.
std::optional<std::string> named_token(const checkpoints::GgufFile& file, const std::string& key) {
  const auto pieces = file.texts("tokenizer.ggml.tokens");
  if (!pieces.ok()) return std::nullopt;
  const auto id = tokenizers::read_token_id(file, key, pieces->size());
  if (!id.ok() || !*id) return std::nullopt;
  return std::string((*pieces)[static_cast<size_t>(**id)]);
}

}  // namespace

Result<UserTurn> user_turn(const ChatRenderer& chat,
                           const tokenizers::VocabularyTokenizer& tokenizer,
                           const std::optional<std::string>& system, const std::string& text) {
  std::vector<ChatMessage> messages;
  if (system) messages.push_back({"system", *system});
  messages.push_back({"user", text});
  const auto pieces = chat.render(messages);
  if (!pieces.ok()) return pieces.error();
  auto encoded = piece_tokens(tokenizer, *pieces);
  if (!encoded.ok()) return encoded.error();
  UserTurn turn{*std::move(encoded), prompt_text(*pieces), std::nullopt};
  const size_t found = turn.text.rfind(trimmed(text));
  const size_t own = text.find_first_not_of(kSpace);
  if (found != std::string::npos && own != std::string::npos) {
    turn.moved = static_cast<int64_t>(found) - static_cast<int64_t>(own);
  }
  return turn;
}

UserTurn plain_turn(const tokenizers::VocabularyTokenizer& tokenizer, const std::string& text) {
  return {tokenizer.model_input(text).tokens, text, 0};
}

ChatSettings gguf_chat_settings(const checkpoints::GgufFile& file) {
  ChatSettings settings;
  settings.source = file.path() + "#tokenizer.chat_template";
  if (const auto text = file.text("tokenizer.chat_template"); text.ok()) settings.text = *text;
  settings.bos = named_token(file, "tokenizer.ggml.bos_token_id");
  settings.eos = named_token(file, "tokenizer.ggml.eos_token_id");
  return settings;
}

}  // namespace qfs::prompting

#include "methods/models/prompting/chat/user_turn.h"

#include <utility>

namespace qfs::prompting {

namespace {

constexpr const char* kSpace = " \t\r\n";

/// As chat templates put messages in.
std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

}  // namespace

std::vector<ChatMessage> user_messages(const std::optional<std::string>& system, std::string text) {
  std::vector<ChatMessage> messages;
  if (system) messages.push_back({"system", *system});
  messages.push_back({"user", std::move(text)});
  return messages;
}

Result<UserTurn> user_turn(const ChatRenderer& chat,
                           const tokenizers::VocabularyTokenizer& tokenizer,
                           const std::optional<std::string>& system, const std::string& text) {
  const auto pieces = chat.render(user_messages(system, text));
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

}  // namespace qfs::prompting

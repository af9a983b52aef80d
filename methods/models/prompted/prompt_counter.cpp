#include "methods/models/prompted/prompt_counter.h"

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "harness/api/prompt_counter.h"
#include "methods/models/prompted/chat_params.h"
#include "methods/models/prompting/chat/user_turn.h"
#include "methods/models/tokenizers/folders/open_tokenizer.h"

namespace qfs::prompted {

namespace {

using prompting::ChatRenderer;
using prompting::ChatSettings;
using prompting::UserTurn;
using tokenizers::VocabularyTokenizer;

Result<ChatSettings> chat_settings_at(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    const auto folder = checkpoints::ModelDirectory::open(path);
    return folder.ok() ? prompting::read_chat_settings(*folder) : folder.error();
  }
  const auto file = checkpoints::GgufFile::open(path);
  if (!file.ok()) return file.error();
  return prompting::read_chat_settings(**file);
}

/// Tokens up to the end of a plain text.
int64_t tokens_through(const std::vector<Segment>& pieces, const VocabularyTokenizer& tokenizer) {
  size_t count = tokenizer.frame().before.size();
  for (const Segment& piece : pieces) count += tokenizer.encode(piece.text).size();
  return static_cast<int64_t>(count);
}

/// Tokens up to the last one with a byte of the user's text, which has `bytes` of them.
int64_t tokens_through(const UserTurn& turn, size_t bytes) {
  if (!turn.moved) return static_cast<int64_t>(turn.tokens.size());
  const int64_t end = *turn.moved + static_cast<int64_t>(bytes);
  int64_t count = 0;
  for (size_t i = 0; i < turn.tokens.size(); ++i) {
    const tokenizers::Token& token = turn.tokens[i];
    if (token.begin < token.end && token.begin < end) count = static_cast<int64_t>(i) + 1;
  }
  return count;
}

/// Stands for what follows a text in its turn, so that no template ends in the same words and none
/// takes blanks from the text's end.
constexpr const char* kRest = "\n\n...";

class PromptCounter final : public MethodSession {
 public:
  PromptCounter(std::shared_ptr<const VocabularyTokenizer> tokenizer,
                std::shared_ptr<const ChatRenderer> chat, std::optional<std::string> system)
      : tokenizer_(std::move(tokenizer)), chat_(std::move(chat)), system_(std::move(system)) {}

  Status run(std::span<const NumberedExample> unit, PredictionSink& sink) override {
    for (const NumberedExample& numbered : unit) {
      const Result<int64_t> count = tokens(numbered.example.document);
      if (!count.ok()) return count.error();
      Prediction prediction;
      prediction.truncation.emplace().document_tokens = *count;
      sink.emit(numbered.ordinal, std::move(prediction));
    }
    return {};
  }

 private:
  Result<int64_t> tokens(const std::vector<Segment>& pieces) const {
    if (!chat_) return tokens_through(pieces, *tokenizer_);
    const std::string& text = pieces.at(0).text;
    const auto turn = prompting::user_turn(*chat_, *tokenizer_, system_, text + kRest);
    if (!turn.ok()) return turn.error();
    return tokens_through(*turn, text.size());
  }

  std::shared_ptr<const VocabularyTokenizer> tokenizer_;
  std::shared_ptr<const ChatRenderer> chat_;  ///< null: plain texts
  std::optional<std::string> system_;
};

Result<std::unique_ptr<MethodSession>> open(const SessionRequest& request, ResourceCache&) {
  if (!request.tokenizer) return invalid_argument("prompts are counted by a model's tokenizer");
  auto tokenizer = tokenizers::open_vocabulary_tokenizer(*request.tokenizer);
  if (!tokenizer.ok()) return tokenizer.error();
  std::shared_ptr<const ChatRenderer> chat;
  if (request.params.find<bool>("chat").value_or(false)) {
    auto settings = chat_settings_at(request.tokenizer->path);
    if (!settings.ok()) return settings.error();
    add_chat_params(request.params, *settings);
    auto opened = ChatRenderer::open(*settings, **tokenizer);
    if (!opened.ok()) return opened.error();
    chat = *std::move(opened);
  }
  return std::unique_ptr<MethodSession>(std::make_unique<PromptCounter>(
      *std::move(tokenizer), std::move(chat), request.params.find<std::string>("system")));
}

}  // namespace

SessionFactory prompt_counter() { return {std::string(kPromptCounter), open}; }

}  // namespace qfs::prompted

#include "methods/tokenizers/chat_renderer.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/core/files.h"
#include "harness/core/json_dom.h"
#include "harness/core/sha256.h"
#include "methods/tokenizers/chat_program.h"
#include "methods/tokenizers/tokenizer_config.h"

namespace qfs::tokenizers {

namespace {

constexpr uint64_t kMaxFileBytes = uint64_t{16} << 20;

class KnownRenderer final : public ChatRenderer {
 public:
  KnownRenderer(ChatFormat format, std::shared_ptr<const VocabularyTokenizer> tokenizer)
      : format_(format), tokenizer_(std::move(tokenizer)) {}
  Result<std::vector<PromptPiece>> render(std::span<const ChatMessage> messages) const override {
    return render_chat(format_, messages);
  }
  Result<std::vector<int32_t>> encode(std::span<const PromptPiece> pieces) const override {
    return encode_prompt(*tokenizer_, pieces);
  }

 private:
  ChatFormat format_;
  std::shared_ptr<const VocabularyTokenizer> tokenizer_;
};

class ProgramRenderer final : public ChatRenderer {
 public:
  ProgramRenderer(std::shared_ptr<const ChatProgram> program, const ChatSettings& settings,
                  std::shared_ptr<const VocabularyTokenizer> tokenizer)
      : program_(std::move(program)),
        tokenizer_(std::move(tokenizer)),
        specials_(tokenizer_->special_texts()) {
    if (settings.bos) inputs_.tokens["bos_token"] = *settings.bos;
    if (settings.eos) inputs_.tokens["eos_token"] = *settings.eos;
    inputs_.date = settings.date;
    inputs_.variables = settings.variables;
  }

  Result<std::vector<PromptPiece>> render(std::span<const ChatMessage> messages) const override {
    ChatInputs inputs = inputs_;
    inputs.messages.assign(messages.begin(), messages.end());
    return program_->render(inputs, specials_);
  }

  Result<std::vector<int32_t>> encode(std::span<const PromptPiece> pieces) const override {
    return encode_pieces(*tokenizer_, pieces);
  }

 private:
  std::shared_ptr<const ChatProgram> program_;
  std::shared_ptr<const VocabularyTokenizer> tokenizer_;
  std::vector<std::string> specials_;
  ChatInputs inputs_;
};

/// `chat_template` is a text, or a list of {"name", "template"}.
std::string template_of(const nlohmann::json& config) {
  const auto it = config.find("chat_template");
  if (it == config.end()) return {};
  if (it->is_string()) return it->get<std::string>();
  if (!it->is_array()) return {};
  for (const nlohmann::json& item : *it) {
    if (item.is_object() && item.value("name", nlohmann::json()) == "default" &&
        item.contains("template") && item["template"].is_string()) {
      return item["template"].get<std::string>();
    }
  }
  return {};
}

}  // namespace

Result<ChatSettings> read_chat_settings(const std::string& folder) {
  ChatSettings settings;
  const Result<TokenizerConfig> config = read_tokenizer_config(folder);
  if (!config.ok()) return config.error();
  settings.bos = config->token("bos_token");
  settings.eos = config->token("eos_token");
  std::error_code error;
  settings.source = folder + "/chat_template.jinja";
  if (std::filesystem::exists(settings.source, error)) {
    Result<std::string> text = read_file(settings.source, kMaxFileBytes);
    if (!text.ok()) return text.error();
    settings.text = *std::move(text);
    return settings;
  }
  settings.source = folder + "/tokenizer_config.json";
  if (!std::filesystem::exists(settings.source, error)) return settings;
  const Result<std::string> text = read_file(settings.source, kMaxFileBytes);
  if (!text.ok()) return text.error();
  const Result<nlohmann::json> object = parse_json(*text, settings.source);
  if (!object.ok()) return object.error();
  settings.text = template_of(*object);
  return settings;
}

Result<std::shared_ptr<const ChatRenderer>> ChatRenderer::open(
    const ChatSettings& settings, std::shared_ptr<const VocabularyTokenizer> tokenizer) {
  const std::string digest = settings.text.empty() ? "" : sha256_hex(settings.text);
  const Result<ChatFormat> known = chat_format(digest);
  if (known.ok()) {
    return std::shared_ptr<const ChatRenderer>(
        std::make_shared<const KnownRenderer>(*known, std::move(tokenizer)));
  }
  if (settings.text.empty()) return known.error();
  const auto program = ChatProgram::parse(settings.text, settings.source);
  if (!program.ok()) return program.error();
  return std::shared_ptr<const ChatRenderer>(
      std::make_shared<const ProgramRenderer>(*program, settings, std::move(tokenizer)));
}

}  // namespace qfs::tokenizers

#include "methods/models/prompting/chat/chat_program.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/core/json_dom.h"
#include "methods/models/prompting/jinja/globals.h"
#include "methods/models/prompting/jinja/interpreter.h"
#include "methods/models/prompting/jinja/parser.h"

namespace qfs::prompting {

namespace {

constexpr size_t kLongestTemplate = size_t{1} << 20;

Error to_error(const jinja::TemplateError& error, const std::string& name) {
  const std::string where =
      name + ":" + std::to_string(error.line) + ":" + std::to_string(error.column);
  const std::string message = error.what();
  if (error.refused) {
    return invalid_argument("the chat template refuses the conversation: " + message, where);
  }
  if (error.unsupported) {
    return unavailable("the chat template uses what this program does not have: " + message, where);
  }
  return data_error("the chat template: " + message, where);
}

/// Joins stretches into pieces: special tokens where a trusted stretch has one, the rest together.
class Pieces {
 public:
  explicit Pieces(std::span<const std::string> specials) : specials_(specials) {}

  void add(std::string_view text, bool plain) {
    size_t rest = 0;
    for (size_t at = 0; !plain && at < text.size();) {
      const std::string* special = longest_at(text.substr(at));
      if (special == nullptr) {
        ++at;
        continue;
      }
      add_plain(text.substr(rest, at - rest));
      pieces_.push_back({*special, true});
      at += special->size();
      rest = at;
    }
    add_plain(text.substr(rest));
  }

  std::vector<PromptPiece> take() { return std::move(pieces_); }

 private:
  const std::string* longest_at(std::string_view text) const {
    const std::string* longest = nullptr;
    for (const std::string& special : specials_) {
      if (!special.empty() && text.starts_with(special) &&
          (longest == nullptr || special.size() > longest->size())) {
        longest = &special;
      }
    }
    return longest;
  }

  void add_plain(std::string_view text) {
    if (text.empty()) return;
    if (pieces_.empty() || pieces_.back().special) pieces_.push_back({});
    pieces_.back().text += text;
  }

  std::span<const std::string> specials_;
  std::vector<PromptPiece> pieces_;
};

class ParsedProgram final : public ChatProgram {
 public:
  ParsedProgram(jinja::Block block, std::string name)
      : block_(std::move(block)), name_(std::move(name)) {}

  Result<std::vector<PromptPiece>> render(const ChatInputs& inputs,
                                          std::span<const std::string> specials) const override {
    const Result<nlohmann::json> variables =
        parse_json(inputs.variables, "variables of the template");
    if (!variables.ok()) return variables.error();
    if (!variables->is_object()) {
      return invalid_argument("the variables of a chat template are no JSON object");
    }
    // Checked above; read again because tools are printed with their members in order.
    const auto ordered = nlohmann::ordered_json::parse(inputs.variables);
    try {
      jinja::Interpreter interpreter(globals(inputs, ordered), {});
      const jinja::Text text = interpreter.run(block_);
      Pieces pieces(specials);
      text.for_each_stretch([&](std::string_view part, bool plain) { pieces.add(part, plain); });
      return pieces.take();
    } catch (const jinja::TemplateError& error) {
      return to_error(error, name_);
    }
  }

 private:
  static jinja::Dict globals(const ChatInputs& inputs, const nlohmann::ordered_json& variables) {
    jinja::Dict names = jinja::template_functions(inputs.date);
    jinja::List messages;
    for (const ChatMessage& message : inputs.messages) {
      const auto plain = [](const std::string& text) {
        return jinja::Value(jinja::Value::Data(jinja::Text::plain(text)));
      };
      messages.push_back(
          jinja::Value::dict({{"role", plain(message.role)}, {"content", plain(message.text)}}));
    }
    names.emplace_back("messages", jinja::Value::list(std::move(messages)));
    names.emplace_back("add_generation_prompt",
                       jinja::Value::boolean(inputs.add_generation_prompt));
    names.emplace_back("tools", jinja::Value(jinja::None{}));
    names.emplace_back("documents", jinja::Value(jinja::None{}));
    for (const auto& [name, text] : inputs.tokens)
      names.emplace_back(name, jinja::Value::text(text));
    for (const auto& [name, value] : variables.items())
      names.emplace_back(name, jinja::value_of(value));
    return names;
  }

  jinja::Block block_;
  std::string name_;
};

}  // namespace

Result<std::shared_ptr<const ChatProgram>> ChatProgram::parse(std::string_view source,
                                                              std::string name) {
  if (source.size() > kLongestTemplate) {
    return data_error("a chat template of " + std::to_string(source.size()) + " bytes",
                      std::move(name));
  }
  try {
    jinja::Block block = jinja::parse_template(source);
    return std::shared_ptr<const ChatProgram>(
        std::make_shared<const ParsedProgram>(std::move(block), std::move(name)));
  } catch (const jinja::TemplateError& error) {
    return to_error(error, name);
  }
}

}  // namespace qfs::prompting

#include "methods/endpoint/answer.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "harness/core/json_dom.h"
#include "harness/core/utf8.h"

namespace qfs::endpoint {
namespace {

using nlohmann::json;

constexpr size_t kShownBytes = 400;
constexpr int64_t kMostTokens = int64_t{1} << 40;

const json& member(const json& object, const char* name) {
  static const json none;
  if (!object.is_object()) return none;
  const auto it = object.find(name);
  return it == object.end() ? none : *it;
}

std::string text_or_empty(const json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

/// The beginning of a text, cut at a whole character.
std::string beginning(std::string_view text) {
  const std::string whole = repair_utf8(text.substr(0, kShownBytes + 8)).text;
  if (whole.size() <= kShownBytes) return whole;
  return whole.substr(0, whole_code_points(whole, kShownBytes)) + "…";
}

std::string lower_ascii(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return text;
}

/// {"error": {…}}, {"error": "…"}, or the members of an error without an envelope.
json error_object(const json& body) {
  const json& error = member(body, "error");
  if (error.is_object()) return error;
  if (error.is_string()) return json{{"message", error}};
  if (member(body, "object") == "error" || member(body, "message").is_string()) return body;
  if (member(body, "detail").is_string()) return json{{"message", member(body, "detail")}};
  return {};
}

int64_t count_of(const json& object, const char* name) {
  const json& value = member(object, name);
  if (!value.is_number_integer() && !value.is_number_unsigned()) return 0;
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(kMostTokens)) {
    return kMostTokens;
  }
  return std::clamp(value.get<int64_t>(), int64_t{0}, kMostTokens);
}

Usage usage_of(const json& usage) {
  Usage counts;
  counts.prompt_tokens = count_of(usage, "prompt_tokens");
  counts.completion_tokens = count_of(usage, "completion_tokens");
  counts.cached_tokens = count_of(member(usage, "prompt_tokens_details"), "cached_tokens");
  counts.reasoning_tokens =
      count_of(member(usage, "completion_tokens_details"), "reasoning_tokens");
  return counts;
}

/// The content of a message: a text, nothing, or a list of parts of which some are texts.
Result<std::string> content_of(const json& content) {
  if (content.is_null()) return std::string();
  if (content.is_string()) return content.get<std::string>();
  if (!content.is_array()) {
    return data_error(std::string("'content' of the answer is a ") + content.type_name());
  }
  std::string text;
  for (const json& part : content) {
    if (member(part, "type") == "text") text += text_or_empty(member(part, "text"));
  }
  return text;
}

/// Servers put reasoning beside the content under one of these names.
bool has_reasoning(const json& message, const Usage& usage) {
  if (usage.reasoning_tokens > 0) return true;
  constexpr std::array kNames = {"reasoning_content", "reasoning"};
  return std::ranges::any_of(
      kNames, [&](const char* name) { return !text_or_empty(member(message, name)).empty(); });
}

Status read_chat(const json& choice, Completion& completion, bool& reasoned) {
  const json& message = member(choice, "message");
  if (!message.is_object()) return data_error("the answer's choice has no object 'message'");
  Result<std::string> text = content_of(member(message, "content"));
  if (!text.ok()) return text.error();
  completion.text = *std::move(text);
  reasoned = has_reasoning(message, completion.usage);
  if (completion.text.empty() && !text_or_empty(member(message, "refusal")).empty()) {
    completion.finish = FinishReason::filtered;
  }
  return {};
}

Status read_text(const json& choice, Completion& completion) {
  const json& text = member(choice, "text");
  if (!text.is_string()) return data_error("the answer's choice has no text 'text'");
  completion.text = text.get<std::string>();
  return {};
}

}  // namespace

Result<Completion> read_completion(std::string_view body, bool chat) {
  Completion completion;
  const RepairedText repaired = repair_utf8(body);
  completion.repaired_bytes = repaired.replaced_bytes;
  const Result<json> parsed = parse_json(repaired.text, "the server's answer");
  if (!parsed.ok()) {
    return data_error("the server's answer is no JSON: " + parsed.error().to_string() +
                      "; it begins '" + beginning(body) + "'");
  }
  const json& choices = member(*parsed, "choices");
  if (!choices.is_array() || choices.empty()) {
    const std::string said = error_message(body);
    return data_error("the server's answer has no list 'choices': " + said);
  }
  const json& choice = choices[0];
  completion.usage = usage_of(member(*parsed, "usage"));
  completion.usage_known = member(*parsed, "usage").is_object();
  completion.model = text_or_empty(member(*parsed, "model"));
  completion.fingerprint = text_or_empty(member(*parsed, "system_fingerprint"));

  bool reasoned = completion.usage.reasoning_tokens > 0;
  Status read = chat ? read_chat(choice, completion, reasoned) : read_text(choice, completion);
  if (!read.ok()) return read.error();
  const json& reason = member(choice, "finish_reason");
  if (!reason.is_null() && !reason.is_string()) {
    return data_error(std::string("'finish_reason' of the answer is a ") + reason.type_name());
  }
  if (reason == "length") {
    completion.finish =
        completion.text.empty() && reasoned ? FinishReason::reasoning : FinishReason::length;
  }
  if (reason == "content_filter") completion.finish = FinishReason::filtered;
  return completion;
}

std::string error_message(std::string_view body) {
  const RepairedText repaired = repair_utf8(body);
  const Result<json> parsed = parse_json(repaired.text, "error");
  if (parsed.ok()) {
    const std::string message = text_or_empty(member(error_object(*parsed), "message"));
    if (!message.empty()) return "'" + beginning(message) + "'";
  }
  if (body.empty()) return "(an empty body)";
  return "'" + beginning(body) + "'";
}

bool says_overlength(std::string_view body) {
  const RepairedText repaired = repair_utf8(body);
  const Result<json> parsed = parse_json(repaired.text, "error");
  if (!parsed.ok()) return false;
  const json error = error_object(*parsed);
  // OpenAI: code context_length_exceeded; llama.cpp (pull request 15780): a type of its own.
  for (const char* name : {"code", "type"}) {
    const std::string kind = text_or_empty(member(error, name));
    if (kind == "context_length_exceeded" || kind == "exceed_context_size_error") return true;
  }
  // vLLM says it in words, which differ between its versions; so do older llama.cpp servers and
  // text-generation-inference.
  constexpr std::array<std::string_view, 8> kWords = {"maximum context length",
                                                      "longer than the maximum model length",
                                                      "too long to fit into the model",
                                                      "max_tokens must be at least 1, got -",
                                                      "exceeds the available context size",
                                                      "exceed context window",
                                                      "`inputs` tokens + `max_new_tokens` must be",
                                                      "prompt is too long"};
  const std::string message = lower_ascii(text_or_empty(member(error, "message")));
  return std::ranges::any_of(
      kWords, [&](std::string_view words) { return message.find(words) != message.npos; });
}

}  // namespace qfs::endpoint

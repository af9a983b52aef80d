#include "harness/cli/model_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "harness/cli/output.h"
#include "harness/core/log.h"

namespace qfs::cli {
namespace {

using nlohmann::json;

/// 134515008 as "134,515,008".
std::string grouped(int64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<int64_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<size_t>(at), ",");
  }
  return digits;
}

std::string mebibytes(int64_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

std::string shape_text(const json& shape) {
  std::string text;
  for (const json& extent : shape) text += (text.empty() ? "" : " x ") + extent.dump();
  return text.empty() ? "scalar" : text;
}

std::string parameters_text(const json& parameters) {
  std::string parts;
  for (const char* part : {"embedding", "attention", "feed_forward", "norm", "head", "other"}) {
    const auto count = parameters.at(part).get<int64_t>();
    if (count > 0) parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", part, grouped(count));
  }
  return fmt::format("{}: {}", grouped(parameters.at("total").get<int64_t>()), parts);
}

std::string types_text(const json& answer) {
  std::string text = mebibytes(answer.at("stored_bytes").get<int64_t>());
  for (const auto& [type, count] : answer.at("tensor_types").items()) {
    text += fmt::format(", {} tensors {}", count.get<int64_t>(), type);
  }
  return text;
}

std::string tokenizer_text(const json& tokenizer) {
  if (tokenizer.contains("error")) return tokenizer.at("error").get<std::string>();
  return grouped(tokenizer.at("vocabulary").get<int64_t>()) + " tokens";
}

std::string tensor_table(const json& tensors) {
  std::vector<std::vector<std::string>> rows = {{"tensor", "type", "shape", "bytes"}};
  for (const json& tensor : tensors) {
    rows.push_back({tensor.at("name").get<std::string>(), tensor.at("type").get<std::string>(),
                    shape_text(tensor.at("shape")), grouped(tensor.at("bytes").get<int64_t>())});
  }
  return aligned(rows);
}

std::string ids_text(const json& ids) {
  std::string text;
  for (const json& id : ids) text += (text.empty() ? "" : ",") + id.dump();
  return text;
}

}  // namespace

std::string inspected_text(const json& answer, bool tensors) {
  std::vector<std::vector<std::string>> rows = {
      {"path", answer.at("path").get<std::string>()},
      {"format", answer.at("format").get<std::string>()},
      {"model type", answer.at("model_type").get<std::string>()},
      {"computed here", answer.at("computed").get<std::string>()},
      {"digest", answer.at("digest").get<std::string>()},
      {"parameters", parameters_text(answer.at("parameters"))},
      {"stored", types_text(answer)},
      {"tokenizer", tokenizer_text(answer.at("tokenizer"))}};
  if (answer.contains("context")) {
    rows.push_back({"longest text", grouped(answer.at("context").get<int64_t>()) + " tokens"});
  }
  rows.push_back({"weights on a CPU", mebibytes(answer.at("loaded_bytes").get<int64_t>()) +
                                          "; the process and what it computes with come on top"});
  if (answer.contains("memory")) {
    for (const json& row : answer.at("memory")) {
      rows.push_back({"", fmt::format("{} with the cache of {} tokens, batch {}",
                                      mebibytes(row.at("bytes").get<int64_t>()),
                                      grouped(row.at("context").get<int64_t>()),
                                      row.at("batch").get<int64_t>())});
    }
  }
  std::string text = aligned(rows);
  if (tensors) text += "\n" + tensor_table(answer.at("tensors"));
  return terminal_safe(text);
}

std::string verified_text(const json& answer) {
  const json& problems = answer.at("problems");
  std::string text;
  for (const json& problem : problems) text += "problem: " + problem.get<std::string>() + "\n";
  if (problems.empty()) {
    const bool declared = answer.at("declared").get<bool>();
    text = fmt::format(
        "{}: {} tensors of the right names and shapes, every number finite; the tokenizer can be "
        "read; {} {}\n",
        answer.at("path").get<std::string>(), answer.at("tensors").get<int64_t>(),
        declared ? "the digest is the registered one," : "no digest is registered for it, it has",
        answer.at("digest").get<std::string>().substr(0, 12));
  }
  return terminal_safe(text);
}

std::string logits_text(const json& answer) {
  std::vector<std::vector<std::string>> rows = {{"id", "token", "logit", "probability"}};
  for (const json& row : answer.at("top")) {
    rows.push_back({row.at("id").dump(), json(row.at("text")).dump(),
                    fmt::format("{:.6f}", row.at("logit").get<double>()),
                    fmt::format("{:.6f}", row.at("probability").get<double>())});
  }
  return terminal_safe(fmt::format("after ids {}\n{}", ids_text(answer.at("ids")), aligned(rows)));
}

std::string generated_text(const json& answer) {
  return terminal_safe(fmt::format(
      "{}\n[{} tokens after {}, ended by {}; ids {}]\n",
      answer.at("text").is_null() ? "(no tokenizer, no text)"
                                  : answer.at("text").get<std::string>(),
      answer.at("ids").size(), answer.at("prompt_ids").size(),
      answer.at("finish") == "stop" ? "a stop" : "the limit", ids_text(answer.at("ids"))));
}

}  // namespace qfs::cli

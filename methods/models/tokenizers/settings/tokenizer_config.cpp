#include "methods/models/tokenizers/settings/tokenizer_config.h"

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/core/files.h"
#include "harness/core/json_dom.h"

namespace qfs::tokenizers {

namespace {

using nlohmann::json;

constexpr uint64_t kMaxConfigBytes = uint64_t{16} << 20;
constexpr uint64_t kLargestId = 1'000'000'000;
constexpr std::array<const char*, 7> kNames = {"bos_token", "eos_token", "unk_token", "sep_token",
                                               "pad_token", "cls_token", "mask_token"};

/// The object in a file; an empty one when there is no such file.
Result<json> read_object(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return json::object();
  const Result<std::string> text = read_file(path, kMaxConfigBytes);
  if (!text.ok()) return text.error();
  Result<json> object = parse_json(*text, path, {.python_numbers = true});
  if (object.ok() && !object->is_object()) return data_error("the file is no JSON object", path);
  return object;
}

/// A token is written as its text or as an object with `content`.
void read_named_tokens(const json& object, TokenizerConfig& config) {
  for (const char* name : kNames) {
    const auto it = object.find(name);
    if (it == object.end()) continue;
    if (it->is_string()) config.named_tokens[name] = it->get<std::string>();
    if (it->is_object() && it->contains("content") && (*it)["content"].is_string()) {
      config.named_tokens[name] = (*it)["content"].get<std::string>();
    }
  }
}

std::optional<std::string> read_text(const json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end() || !it->is_string()) return std::nullopt;
  return it->get<std::string>();
}

/// The class by config.json, where the ids depend on it.
std::string class_of_model(const json& model) {
  const std::string type = read_text(model, "model_type").value_or("");
  if (type != "mbart" && type != "pegasus") return "";
  const char* const usual = type == "mbart" ? "MBartTokenizer" : "PegasusTokenizer";
  return read_text(model, "tokenizer_class").value_or(usual);
}

std::optional<bool> read_switch(const json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end() || !it->is_boolean()) return std::nullopt;
  return it->get<bool>();
}

std::optional<int64_t> read_integer(const json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end() || !it->is_number_integer()) return std::nullopt;
  return it->get<int64_t>();
}

/// A length of tokens; files write 1e30, whole or not, where there is no limit.
std::optional<int64_t> read_length(const json& object, const char* key) {
  constexpr int64_t kAny = int64_t{1} << 40;
  const auto it = object.find(key);
  if (it == object.end() || !it->is_number_integer()) return std::nullopt;
  if (it->is_number_unsigned() && it->get<uint64_t>() >= static_cast<uint64_t>(kAny)) {
    return std::nullopt;
  }
  const auto length = it->get<int64_t>();
  return length > 0 ? std::optional(length) : std::nullopt;
}

Status read_added_tokens(const json& object, const std::string& path, TokenizerConfig& config) {
  const auto map = object.find("added_tokens_decoder");
  if (map == object.end() || !map->is_object()) return {};
  for (const auto& [key, value] : map->items()) {
    AddedToken token;
    const bool digits =
        !key.empty() && key.size() < 9 && key.find_first_not_of("0123456789") == std::string::npos;
    if (!digits || !value.is_object() || !value.contains("content") ||
        !value["content"].is_string()) {
      return data_error("an entry is no token", path + "#/added_tokens_decoder/" + key);
    }
    token.id = std::stoi(key);
    token.content = value["content"].get<std::string>();
    token.special = read_switch(value, "special").value_or(false);
    token.single_word = read_switch(value, "single_word").value_or(false);
    token.lstrip = read_switch(value, "lstrip").value_or(false);
    token.rstrip = read_switch(value, "rstrip").value_or(false);
    token.normalized = read_switch(value, "normalized").value_or(!token.special);
    config.added_tokens.push_back(std::move(token));
  }
  return {};
}

/// The texts of a list of special tokens; nothing where the file has no such list.
std::optional<std::vector<std::string>> read_texts(const json& object, const char* key) {
  const auto list = object.find(key);
  if (list == object.end() || !list->is_array()) return std::nullopt;
  std::vector<std::string> texts;
  for (const json& token : *list) {
    if (token.is_string()) texts.push_back(token.get<std::string>());
    if (token.is_object()) texts.push_back(read_text(token, "content").value_or(""));
  }
  return texts;
}

/// The tokens with a name, and those of the first list that there is.
std::set<std::string> special_texts_of(const TokenizerConfig& config, const json& tokenizer_config,
                                       const json& special_tokens_map) {
  std::set<std::string> texts;
  for (const auto& [name, text] : config.named_tokens) texts.insert(text);
  auto list = read_texts(tokenizer_config, "extra_special_tokens");
  for (const json* file : {&tokenizer_config, &special_tokens_map}) {
    if (!list) list = read_texts(*file, "additional_special_tokens");
  }
  if (list) texts.insert(list->begin(), list->end());
  texts.erase("");
  return texts;
}

/// added_tokens.json: texts with their ids, as files older than `added_tokens_decoder` have them.
Status read_added_file(const std::string& folder, TokenizerConfig& config) {
  const std::string path = folder + "/added_tokens.json";
  const Result<json> object = read_object(path);
  if (!object.ok()) return object.error();
  std::set<std::string> known;
  for (const AddedToken& token : config.added_tokens) known.insert(token.content);
  for (const auto& [text, id] : object->items()) {
    if (known.contains(text)) continue;
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= kLargestId) {
      return data_error("the id of the token '" + text + "' is none", path);
    }
    AddedToken token{.id = id.get<int32_t>(), .content = text};
    token.special = config.special_texts.contains(text);
    token.normalized = !token.special;
    config.added_tokens.push_back(std::move(token));
  }
  return {};
}

/// Switches are true, false or null: another value would be passed over.
Status check_switches(const json& object, const std::string& path) {
  for (const char* key :
       {"add_bos_token", "add_eos_token", "add_prefix_space", "clean_up_tokenization_spaces",
        "do_lower_case", "legacy", "strip_accents", "tokenize_chinese_chars"}) {
    const auto it = object.find(key);
    if (it == object.end() || it->is_boolean() || it->is_null()) continue;
    return data_error(std::string("a ") + it->type_name() + " instead of true or false",
                      path + "#/" + key);
  }
  return {};
}

}  // namespace

Result<TokenizerConfig> read_tokenizer_config(const std::string& folder) {
  TokenizerConfig config;
  const Result<json> map = read_object(folder + "/special_tokens_map.json");
  if (!map.ok()) return map.error();
  read_named_tokens(*map, config);
  const std::string path = folder + "/tokenizer_config.json";
  const Result<json> object = read_object(path);
  if (!object.ok()) return object.error();
  if (Status status = check_switches(*object, path); !status.ok()) return status.error();
  read_named_tokens(*object, config);
  if (Status status = read_added_tokens(*object, path, config); !status.ok()) return status.error();
  config.special_texts = special_texts_of(config, *object, *map);
  if (Status status = read_added_file(folder, config); !status.ok()) return status.error();
  config.tokenizer_class = read_text(*object, "tokenizer_class").value_or("");
  const Result<json> model = read_object(folder + "/config.json");
  if (!model.ok()) return model.error();
  config.model_type = read_text(*model, "model_type").value_or("");
  if (config.tokenizer_class.empty()) config.tokenizer_class = class_of_model(*model);
  config.source_language = read_text(*object, "src_lang");
  config.add_bos_token = read_switch(*object, "add_bos_token");
  config.add_eos_token = read_switch(*object, "add_eos_token");
  config.add_prefix_space = read_switch(*object, "add_prefix_space");
  config.clean_up = read_switch(*object, "clean_up_tokenization_spaces").value_or(false);
  config.do_lower_case = read_switch(*object, "do_lower_case");
  config.legacy = read_switch(*object, "legacy");
  config.strip_accents = read_switch(*object, "strip_accents");
  config.tokenize_chinese_chars = read_switch(*object, "tokenize_chinese_chars");
  config.offset = read_integer(*object, "offset");
  config.model_max_length = read_length(*object, "model_max_length");
  return config;
}

}  // namespace qfs::tokenizers

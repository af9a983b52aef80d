#include "methods/endpoint/settings.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/core/json_dom.h"

namespace qfs::endpoint {
namespace {

using nlohmann::json;

constexpr size_t kMaxSettingBytes = size_t{1} << 20;
constexpr std::array<std::string_view, 3> kOwnHeaders = {"content-type", "content-length", "host"};

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) {
    return c < 0x80 ? static_cast<char>(std::tolower(c)) : static_cast<char>(c);
  });
  return result;
}

/// Names under which services take keys.
bool is_secret_header(std::string_view name) {
  const std::string low = lower(name);
  return low == "authorization" || low == "proxy-authorization" || low == "cookie" ||
         low.find("key") != low.npos || low.find("token") != low.npos ||
         low.find("secret") != low.npos;
}

/// Members of a request's body under which services take keys; "max_tokens" and "eos_token" are
/// none.
bool is_secret_member(std::string_view name) {
  constexpr std::array<std::string_view, 9> kNames = {"key",          "token",      "access_key",
                                                      "access_token", "auth_token", "bearer",
                                                      "bearer_token", "hf_token",   "private_key"};
  constexpr std::array<std::string_view, 8> kParts = {"api_key",       "api-key",   "apikey",
                                                      "secret",        "passwd",    "password",
                                                      "authorization", "credential"};
  const std::string low = lower(name);
  return std::ranges::find(kNames, low) != kNames.end() ||
         std::ranges::any_of(kParts, [&](auto part) { return low.find(part) != low.npos; });
}

/// The first text, at any depth, whose name looks like a secret's: "a/b". Objects of such names are
/// descriptions, as in the schema of an answer.
std::optional<std::string> secret_member(const json& value) {
  if (!value.is_structured()) return std::nullopt;
  for (const auto& [name, member] : value.items()) {
    if (value.is_object() && member.is_string() && is_secret_member(name)) return name;
    if (const auto inner = secret_member(member)) return name + "/" + *inner;
  }
  return std::nullopt;
}

bool is_header_name(std::string_view name) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::ranges::all_of(name, [&](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) != 0 || kMarks.find(static_cast<char>(c)) != kMarks.npos);
  });
}

/// No line ends inside: a value cannot add a header.
bool is_header_value(std::string_view value) {
  return std::ranges::none_of(value, [](unsigned char c) { return c < 0x20 || c == 0x7F; });
}

/// Capital letters, as variables have them: a key that was pasted in by mistake hardly reads so.
bool is_variable_name(std::string_view name) {
  const auto capital = [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && capital(name[0]) &&
         std::ranges::all_of(name, [&](char c) { return capital(c) || (c >= '0' && c <= '9'); });
}

Result<json> object_of(const Params& params, const std::string& name) {
  const auto text = params.find<std::string>(name);
  if (!text) return json::object();
  Result<json> object = parse_json(*text, "'" + name + "'", {.max_bytes = kMaxSettingBytes});
  if (!object.ok()) return invalid_argument("'" + name + "' is no JSON: " + object.error().message);
  if (!object->is_object()) return invalid_argument("'" + name + "' is a JSON object");
  return object;
}

/// The variable's name of {"env": "NAME"}.
std::optional<std::string> variable_of(const json& value) {
  if (!value.is_object() || value.size() != 1) return std::nullopt;
  const auto env = value.find("env");
  if (env == value.end() || !env->is_string()) return std::nullopt;
  return env->get<std::string>();
}

Status check_header(const std::string& name, const json& value) {
  if (!is_header_name(name)) return invalid_argument("'headers': '" + name + "' is no header name");
  const std::string low = lower(name);
  if (std::ranges::find(kOwnHeaders, low) != kOwnHeaders.end()) {
    return invalid_argument("'headers': " + name + " is set by the program");
  }
  if (const auto variable = variable_of(value)) {
    if (is_variable_name(*variable)) return {};
    return invalid_argument("'headers': {\"env\": …} of " + name +
                            " names no environment variable (A-Z, 0-9, '_')");
  }
  if (!value.is_string() || !is_header_value(value.get<std::string>())) {
    return invalid_argument("'headers': " + name +
                            " is a text of one line, or {\"env\": \"NAME\"}");
  }
  if (is_secret_header(low)) {
    return invalid_argument("'headers': " + name +
                            " looks like a secret, and what a sweep file says is stored; name an "
                            "environment variable instead: {\"env\": \"NAME\"}, or 'api_key_env'");
  }
  return {};
}

Status check_address(const std::string& url) {
  const bool web = url.starts_with("http://") || url.starts_with("https://");
  const size_t host = url.find("://") + 3;
  const std::string_view rest = web ? std::string_view(url).substr(host) : std::string_view();
  const bool plain = std::ranges::all_of(
      url, [](unsigned char c) { return c > 0x20 && c < 0x7F && c != '"' && c != '\\'; });
  if (!web || rest.empty() || rest[0] == '/' || !plain) {
    return invalid_argument("'base_url' is an address such as http://127.0.0.1:8000/v1");
  }
  if (rest.find('@') != rest.npos) {
    return invalid_argument(
        "'base_url' holds a user or password, and what a sweep file says is stored; use "
        "'api_key_env' or 'headers'");
  }
  if (rest.find_first_of("?#") == rest.npos) return {};
  return invalid_argument("'base_url' ends before any '?' or '#'");
}

Result<std::string> secret_value(const std::string& variable) {
  const char* const value = std::getenv(variable.c_str());
  if (value == nullptr || *value == '\0') {
    return unavailable("the environment variable " + variable + " is not set");
  }
  if (is_header_value(value)) return std::string(value);
  return unavailable("the environment variable " + variable +
                     " holds line ends or control characters, which no header may");
}

}  // namespace

std::vector<std::string> secret_variables(const Params& params) {
  std::vector<std::string> names;
  if (const auto key = params.find<std::string>("api_key_env")) names.push_back(*key);
  const Result<json> headers = object_of(params, "headers");
  if (!headers.ok()) return names;  // check_settings says why
  for (const json& value : *headers) {
    if (const auto variable = variable_of(value)) names.push_back(*variable);
  }
  return names;
}

Status check_settings(const Params& params) {
  if (Status status = check_address(params.get<std::string>("base_url")); !status.ok()) {
    return status;
  }
  for (const char* name : {"model", "revision"}) {
    if (params.get<std::string>(name).empty()) {
      return invalid_argument("'" + std::string(name) + "' is empty");
    }
  }
  if (params.has("system") && params.get<std::string>("api") != "chat") {
    return invalid_argument("'system' needs \"api\": \"chat\"; a plain prompt has no roles");
  }
  if (params.find<std::string>("stop") == "") {
    return invalid_argument("'stop' is empty; leave it out");
  }
  const auto key = params.find<std::string>("api_key_env");
  if (key && !is_variable_name(*key)) {
    return invalid_argument(
        "'api_key_env' is the name of an environment variable (A-Z, 0-9, '_'), never the "
        "key itself");
  }
  const Result<json> headers = object_of(params, "headers");
  if (!headers.ok()) return headers.error();
  for (const auto& [name, value] : headers->items()) {
    if (Status status = check_header(name, value); !status.ok()) return status;
  }
  const Result<json> body = object_of(params, "extra_body");
  if (!body.ok()) return body.error();
  for (const char* name : {"messages", "prompt", "model", "stream", "n"}) {
    if (body->contains(name)) {
      return invalid_argument("'extra_body' cannot replace '" + std::string(name) + "'");
    }
  }
  if (const auto member = secret_member(*body)) {
    return invalid_argument("'extra_body': " + *member +
                            " looks like a secret, and what a sweep file says is stored; give the "
                            "key by 'api_key_env' or 'headers'");
  }
  return {};
}

Result<HttpSettings> http_settings(const Params& params) {
  HttpSettings settings;
  settings.headers = {"Content-Type: application/json", "Accept: application/json",
                      "Expect:"};  // no pause before large bodies
  if (const auto key = params.find<std::string>("api_key_env")) {
    Result<std::string> value = secret_value(*key);
    if (!value.ok()) return value.error();
    settings.headers.push_back("Authorization: Bearer " + *value);
    settings.secrets.push_back(*std::move(value));
  }
  const Result<json> headers = object_of(params, "headers");
  if (!headers.ok()) return headers.error();
  for (const auto& [name, value] : headers->items()) {
    if (const auto variable = variable_of(value)) {
      Result<std::string> secret = secret_value(*variable);
      if (!secret.ok()) return secret.error();
      settings.headers.push_back(name + ": " + *secret);
      settings.secrets.push_back(*std::move(secret));
    } else {
      settings.headers.push_back(name + ": " + value.get<std::string>());
    }
  }
  settings.ca_file = params.find<std::string>("ca_file").value_or("");
  settings.connect_timeout_s = params.get<double>("connect_timeout");
  settings.timeout_s = params.get<double>("timeout");
  return settings;
}

std::string base_address(const Params& params) {
  std::string url = params.get<std::string>("base_url");
  while (url.ends_with('/')) url.pop_back();
  return url;
}

std::string tokenize_address(const Params& params) {
  std::string url = base_address(params);
  if (url.ends_with("/v1")) url.resize(url.size() - 3);
  return url + "/tokenize";
}

}  // namespace qfs::endpoint

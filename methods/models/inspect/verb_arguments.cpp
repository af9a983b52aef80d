#include "methods/models/inspect/verb_arguments.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/api/param_specs.h"
#include "harness/core/suggest.h"
#include "methods/models/decoding/chosen_decoding.h"
#include "methods/models/decoding/decoding_params.h"
#include "methods/models/prompting/chat/chat_renderer.h"
#include "methods/models/prompting/source_layout.h"

namespace qfs::inspect {

namespace {

using architectures::Backbone;
using nlohmann::json;
using nn::SequenceInput;

Result<std::vector<int32_t>> prompt_of(const json& arguments, const std::string& text,
                                       const Backbone& backbone) {
  if (!arguments.value("chat", false)) {
    return prompting::encode_prompt(*backbone.tokenizer, text);
  }
  prompting::ChatSettings settings = backbone.chat;
  if (arguments.contains("chat_date")) settings.date = arguments.at("chat_date");
  settings.variables = arguments.value("chat_variables", "{}");
  const auto renderer = prompting::ChatRenderer::open(settings, *backbone.tokenizer);
  if (!renderer.ok()) return renderer.error();
  const prompting::ChatMessage message = {"user", text};
  const auto pieces = (*renderer)->render({&message, 1});
  if (!pieces.ok()) return pieces.error();
  return prompting::encode_pieces(*backbone.tokenizer, *pieces);
}

Result<SequenceInput> encode_text(const json& arguments, const Backbone& backbone) {
  const auto text = arguments.value("text", std::string());
  SequenceInput input;
  if (!backbone.network->shape().encoder_decoder()) {
    auto ids = prompt_of(arguments, text, backbone);
    if (!ids.ok()) return ids.error();
    input.ids = *std::move(ids);
    return input;
  }
  if (arguments.value("chat", false))
    return invalid_argument("an encoder-decoder has no chat template");
  auto source = prompting::encode_layout(*backbone.tokenizer, "{document}", "",
                                         prompting::GlobalTokens::none, {text}, "");
  if (!source.ok()) return source.error();
  input.ids = std::move(source->ids);
  return input;
}

const char* json_kind(ParamType type) {
  switch (type) {
    case ParamType::boolean:
      return "true or false";
    case ParamType::integer:
      return "an integer";
    case ParamType::real:
      return "a number";
    case ParamType::text:
      return "a text";
  }
  return "a text";
}

bool is_kind(const json& value, ParamType type) {
  switch (type) {
    case ParamType::boolean:
      return value.is_boolean();
    case ParamType::integer:
      return value.is_number_integer();
    case ParamType::real:
      return value.is_number();
    case ParamType::text:
      return value.is_string();
  }
  return false;
}

/// 64 and not 64.0.
std::string shown(double limit) {
  const auto whole = static_cast<int64_t>(limit);
  return static_cast<double>(whole) == limit ? std::to_string(whole) : json(limit).dump();
}

Result<ParamValue> value_of(const ParamSpec& spec, const json& value) {
  const std::string what = "'" + spec.name + "' is " + value.dump() + "; expected ";
  if (!is_kind(value, spec.type)) return invalid_argument(what + json_kind(spec.type));
  if (spec.type == ParamType::boolean) return ParamValue(value.get<bool>());
  if (spec.type == ParamType::text) {
    const auto text = value.get<std::string>();
    if (std::ranges::count(spec.choices, text) > 0) return ParamValue(text);
    return invalid_argument(what + "a value it has" + suggestion(text, spec.choices));
  }
  const auto number = value.get<double>();
  if (number < spec.minimum.value_or(number) || number > spec.maximum.value_or(number)) {
    return invalid_argument(what + shown(*spec.minimum) + " to " + shown(*spec.maximum));
  }
  if (spec.type == ParamType::integer) return ParamValue(value.get<int64_t>());
  return ParamValue(number);
}

std::vector<ParamSpec> known_params() {
  std::vector<ParamSpec> specs = decoding::decoding_params();
  ParamSpec whole;
  whole.name = "decoding";
  whole.type = ParamType::text;
  whole.choices = {"given", "checkpoint"};
  specs.push_back(std::move(whole));
  specs.push_back(integer_param("max_new_tokens", "tokens", 1, 1 << 20, "Longest output"));
  return specs;
}

json own_word(const std::string& name, const json& value) {
  if (!value.is_boolean()) return value;
  return std::visit([](const auto& word) { return json(word); },
                    decoding::foreign_decoding().own_value(name, value.get<bool>()));
}

Result<Params> params_of(const json& given) {
  const std::vector<ParamSpec> specs = known_params();
  std::vector<std::string> names;
  for (const ParamSpec& spec : specs) names.push_back(spec.name);
  Params params;
  for (const auto& [written, value] : given.items()) {
    const Result<std::string> name = decoding::foreign_decoding().own_name(specs, written);
    if (!name.ok()) return name.error();
    const auto spec = std::ranges::find(specs, *name, &ParamSpec::name);
    if (spec == specs.end()) {
      return invalid_argument("unknown parameter of decoding '" + written + "'" +
                              suggestion(written, names));
    }
    if (params.has(*name)) {
      return invalid_argument("'" + written + "' and another name of it are given; remove one");
    }
    auto checked = value_of(*spec, own_word(*name, value));
    if (!checked.ok()) return checked.error();
    params.set(*name, *std::move(checked));
  }
  return params;
}

}  // namespace

Result<SequenceInput> input_of(const json& arguments, const Backbone& backbone) {
  if (arguments.contains("ids") && arguments.contains("text")) {
    return invalid_argument("give ids or a text, not both");
  }
  SequenceInput input;
  if (arguments.contains("ids")) {
    input.ids = arguments.at("ids").get<std::vector<int32_t>>();
  } else {
    auto encoded = encode_text(arguments, backbone);
    if (!encoded.ok()) return encoded.error();
    input = *std::move(encoded);
  }
  if (input.ids.empty()) return invalid_argument("the prompt has no tokens");
  if (arguments.contains("global_positions")) {
    if (!backbone.network->shape().global_attention) {
      return invalid_argument("global positions for a model without windowed attention");
    }
    input.global_positions = arguments.at("global_positions").get<std::vector<int64_t>>();
  } else if (backbone.network->shape().global_attention) {
    input.global_positions = {0};
  }
  return input;
}

Result<decoding::DecodingOptions> decoding_of(const json& arguments, const Backbone& backbone) {
  const auto params = params_of(arguments.value("decoding", json::object()));
  if (!params.ok()) return params.error();
  if (Status status = decoding::check_decoding(*params); !status.ok()) return status.error();
  Result<decoding::DecodingOptions> decoding =
      decoding::chosen_decoding(*params, backbone.generation, backbone.network->shape());
  if (!decoding.ok()) return decoding.error();
  decoding::DecodingOptions options = *std::move(decoding);
  options.max_new_tokens = params->find<int64_t>("max_new_tokens")
                               .value_or(arguments.value("max_new_tokens", int64_t{64}));
  options.stop_texts = arguments.value("stop", std::vector<std::string>());
  if (std::ranges::count(options.stop_texts, "") > 0) {
    return invalid_argument("a stop text is empty; leave it out to stop at the end token only");
  }
  if (params->has("min_new_tokens") && options.min_new_tokens > options.max_new_tokens) {
    return invalid_argument("'min_new_tokens' is above the limit of " +
                            std::to_string(options.max_new_tokens) + " new tokens");
  }
  options.min_new_tokens = std::min(options.min_new_tokens, options.max_new_tokens);
  return options;
}

}  // namespace qfs::inspect

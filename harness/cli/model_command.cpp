#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/cli/catalogs.h"
#include "harness/cli/commands.h"
#include "harness/cli/model_text.h"
#include "harness/cli/output.h"
#include "harness/cli/tensor_host.h"
#include "harness/core/available_cores.h"
#include "harness/core/log.h"
#include "harness/core/utf8.h"
#include "harness/core/whole_number.h"

namespace qfs::cli {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kTimeout{3600};

struct ModelOptions {
  std::string verb;
  std::string model;
  std::string device = "cpu";
  std::optional<std::string> dtype;
  bool tensors = false;
  std::optional<std::string> text;
  std::optional<std::string> ids;
  bool chat = false;
  std::optional<std::string> chat_date;
  std::optional<std::string> chat_variables;
  int64_t top = 10;
  int64_t max_new_tokens = 64;
  std::vector<std::string> stop;
  std::vector<std::string> decoding;  ///< name=value
  std::optional<std::string> global_positions;
  uint64_t seed = 0;
};

/// "1, 2,3" as numbers.
Result<std::vector<int32_t>> parse_ids(std::string_view option, std::string_view text) {
  std::vector<int32_t> ids;
  for (bool more = !text.empty(); more;) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view number = text.substr(0, comma);
    while (number.starts_with(' ')) number.remove_prefix(1);
    const auto id = whole_number<int32_t>(number);
    if (!id || *id < 0) {
      return invalid_argument(fmt::format(
          "{0}: '{1}' is no number from 0; expected numbers such as {0} 1,42,7", option, number));
    }
    ids.push_back(*id);
    more = comma < text.size();
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return ids;
}

/// "num_beams=4" among the members of an object; a value that is no JSON is a text.
Status add_setting(std::string_view text, json& object) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return invalid_argument(
        fmt::format("--set: '{}' has no value; expected one such as num_beams=4", text));
  }
  const std::string value(text.substr(equals + 1));
  json parsed = json::parse(value, nullptr, false);
  object[std::string(text.substr(0, equals))] = parsed.is_discarded() ? json(value) : parsed;
  return {};
}

bool reads_a_prompt(const ModelOptions& options) {
  return options.verb == "logits" || options.verb == "generate";
}

Status check_utf8(const char* option, std::string_view value) {
  const std::optional<size_t> at = first_ill_formed_utf8(value);
  if (!at) return {};
  return invalid_argument(fmt::format("{}: byte {} of the text is no UTF-8", option, *at));
}

/// Everything that crosses to the host as JSON.
Status check_texts(const ModelOptions& options) {
  Status status = check_utf8("--text", options.text.value_or(""));
  for (const std::string& text : options.stop) {
    if (status.ok()) status = check_utf8("--stop", text);
  }
  for (const std::string& text : options.decoding) {
    if (status.ok()) status = check_utf8("--set", text);
  }
  return status;
}

Result<json> arguments_of(const ModelOptions& options) {
  json arguments = json::object();
  if (!reads_a_prompt(options)) return arguments;
  if (Status texts = check_texts(options); !texts.ok()) return texts.error();
  if (options.text.has_value() == options.ids.has_value()) {
    return invalid_argument("give the prompt as --text TEXT or as --ids ID,ID,…");
  }
  if (options.ids && options.chat) {
    return invalid_argument("--chat wraps a text; with --ids give the ids of the whole prompt");
  }
  if (options.ids) {
    Result<std::vector<int32_t>> ids = parse_ids("--ids", *options.ids);
    if (!ids) return ids.error();
    arguments["ids"] = *ids;
  } else {
    arguments["text"] = *options.text;
    arguments["chat"] = options.chat;
    if (options.chat_date) arguments["chat_date"] = *options.chat_date;
    if (options.chat_variables) arguments["chat_variables"] = *options.chat_variables;
  }
  if (options.global_positions) {
    Result<std::vector<int32_t>> positions = parse_ids("--global", *options.global_positions);
    if (!positions) return positions.error();
    arguments["global_positions"] = *positions;
  }
  if (options.verb == "logits") arguments["top"] = options.top;
  if (options.verb == "generate") {
    arguments["max_new_tokens"] = options.max_new_tokens;
    arguments["stop"] = options.stop;
    arguments["seed"] = options.seed;
    json& decoding = arguments["decoding"] = json::object();
    for (const std::string& setting : options.decoding) {
      if (Status added = add_setting(setting, decoding); !added.ok()) return added.error();
    }
  }
  return arguments;
}

std::string shown(const ModelOptions& options, const json& answer) {
  if (options.verb == "inspect") return inspected_text(answer, options.tensors);
  if (options.verb == "verify") return verified_text(answer);
  return options.verb == "logits" ? logits_text(answer) : generated_text(answer);
}

Result<ExitCode> run_model(const ModelOptions& options, const GlobalOptions& global) {
  Result<json> arguments = arguments_of(options);
  if (!arguments) return arguments.error();
  Catalogs catalogs;
  Result<Resource> model = catalogs.methods().backbone(options.model);
  if (!model) return model.error();
  host::ModelRequest request;
  request.verb = options.verb;
  request.model = *model;
  request.runtime.device = options.device;
  request.runtime.dtype = options.dtype.value_or(options.device == "cpu" ? "float32" : "bfloat16");
  request.runtime.threads = available_cores();
  request.arguments.text = arguments->dump();
  Result<host::HostClient> host = start_tensor_host("model");
  if (!host) return host.error();
  Result<Json> text = host->ask(request, kTimeout);
  if (!text) return text.error();
  json answer = json::parse(text->text);
  const bool broken = options.verb == "verify" && !answer.at("problems").empty();
  answer["schema"] = "qfs-bench/model-" + options.verb + "/1";
  const Status printed = print_result(global.json ? terminal_safe_json(answer.dump(2)) + "\n"
                                                  : shown(options, answer));
  if (!printed) return printed.error();
  return broken ? ExitCode::environment : ExitCode::ok;
}

void add_prompt_options(CLI::App& command, ModelOptions& options) {
  may_be_empty(command.add_option("--text", options.text,
                                  "Prompt; special tokens written in it are plain characters"))
      ->type_name("TEXT");
  command.add_option("--ids", options.ids, "Prompt as token ids; needs no tokenizer")
      ->type_name("ID,ID,...");
  CLI::Option* const chat =
      command.add_flag("--chat", options.chat, "Wrap the text in the model's chat template");
  command
      .add_option("--chat-date", options.chat_date,
                  "What the template takes for today, e.g. 2024-07-26")
      ->needs(chat);
  command
      .add_option("--chat-variables", options.chat_variables,
                  "Variables of the template as JSON, e.g. {\"enable_thinking\": false}")
      ->needs(chat)
      ->type_name("OBJECT");
  command
      .add_option("--global", options.global_positions,
                  "Token positions with global attention, for encoders with windows (default: 0)")
      ->type_name("POS,POS,...");
  command.add_option("--device", options.device, "Where to compute (default: cpu)")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  command
      .add_option("--dtype", options.dtype,
                  "Type of the weights (default: float32 on a CPU, bfloat16 on CUDA)")
      ->check(CLI::IsMember({"float32", "bfloat16", "float16"}));
}

struct Verb {
  const char* name;
  const char* summary;
  const char* example;
};

constexpr Verb kVerbs[] = {
    {"inspect", "Shows what a checkpoint holds: parameters, tensors, digest, memory",
     "qfs-bench model inspect ~/models/Llama-3.1-8B --tensors"},
    {"verify",
     "Reads every byte of a checkpoint and checks digest, tensors, tokenizer; exit code 5 if wrong",
     "qfs-bench model verify hf:HuggingFaceTB/SmolLM2-135M-Instruct"},
    {"logits", "Prints the logits that follow a prompt",
     "qfs-bench model logits smollm2-135m --text \"The capital of France is\" --top 5"},
    {"generate", "Continues a prompt, or prints what an encoder-decoder makes of a text",
     "qfs-bench model generate smollm2-135m --chat --text \"Name three rivers.\""},
};

}  // namespace

void add_model_command(const CommandLine& line) {
  CLI::App& model = add_subcommand(line.app, "model", "Inspects checkpoints and runs them",
                                   "qfs-bench model inspect smollm2-135m");
  model.require_subcommand(1);
  for (const Verb& verb : kVerbs) {
    auto options = std::make_shared<ModelOptions>();
    options->verb = verb.name;
    CLI::App& command = add_subcommand(model, verb.name, verb.summary, verb.example);
    command
        .add_option("MODEL", options->model,
                    "Registered name, Hugging Face folder, GGUF file or hf:org/name@revision")
        ->required();
    if (options->verb == "inspect") {
      command.add_flag("--tensors", options->tensors, "Add the table of all tensors");
    }
    if (reads_a_prompt(*options)) add_prompt_options(command, *options);
    if (options->verb == "logits") {
      command.add_option("--top", options->top, "Most probable tokens to print (default: 10)")
          ->check(CLI::Range(int64_t{1}, int64_t{1000}))
          ->type_name("N");
    }
    if (options->verb == "generate") {
      command
          .add_option("--max-new-tokens", options->max_new_tokens,
                      "Longest output, in tokens (default: 64)")
          ->check(CLI::Range(int64_t{1}, int64_t{1} << 20))
          ->type_name("N");
      repeatable(command.add_option(
                     "--set", options->decoding,
                     "A decoding parameter of zero_shot, e.g. num_beams=4, temperature=0.7, "
                     "decoding=checkpoint; names of transformers are taken too; repeatable"))
          ->type_name("NAME=VALUE");
      command.add_option("--seed", options->seed, "Seed of sampling (default: 0)")
          ->check(CLI::NonNegativeNumber)
          ->type_name("N");
      repeatable(
          command.add_option("--stop", options->stop, "Text that ends the output; repeatable"))
          ->type_name("TEXT");
    }
    add_json_option(command, line.global);
    command.callback([options, &global = line.global, &chosen = line.chosen] {
      chosen = [options, &global] { return run_model(*options, global); };
    });
  }
}

}  // namespace qfs::cli

#include "methods/compressors/demonstrations.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/api/param_specs.h"
#include "harness/core/json_dom.h"
#include "harness/core/postprocess_transforms.h"
#include "methods/compressors/params.h"
#include "methods/models/decoding/decoding_params.h"
#include "methods/models/prompted/trained_spec.h"

namespace qfs::compressors {

namespace {

using prompting::PlaceholderRule;
using prompting::PromptPart;

constexpr std::string_view kTemplate = "{query}: {document} -> {summary}";
constexpr std::string_view kAnswer = "summary";
constexpr std::array<PlaceholderRule, 3> kRules = {
    {{"document", 1, 1}, {"query", 0, 1}, {kAnswer, 1, 1}}};
constexpr double kMostDemonstrations = 1 << 20;
constexpr const char* kDemonstrationTokens = "demonstration_tokens";
constexpr double kMostShots = 4096;

std::string value_of(const PromptPart& part, const Example& example) {
  if (!part.placeholder) return std::string(part.text);
  if (part.text == "document") return rendered_document(example);
  return std::string(prompting::query_or_request(example.query));
}

Status check_template(const Params& params) {
  const std::string text = demonstration_template(params);
  if (Status status = prompting::check_template("'demonstration'", text, kRules); !status.ok()) {
    return status;
  }
  const size_t answer = text.find("{summary}");
  if (answer > text.find("{document}")) return {};
  return invalid_argument("'demonstration' shows {summary} before {document}; it is the answer");
}

/// What is read to write a summary, and not to choose a label.
constexpr const char* kOfSummaries[] = {
    "stop",       "decoding",        "prompt_pieces",  "local_context",  "input_tokens",
    "strategy",   "memory_position", "n_mem_rounding", "compress_short", "window_counts",
    "pass_ratio", "max_new_tokens",  "prompt",         "truncate"};

Status check_unread(const Params& params, const std::vector<ParamSpec>& own) {
  std::vector<ParamSpec> decoding = decoding::decoding_params();
  // Which is of demonstrations, too, where they are read by windows.
  const bool by_windows = std::ranges::count(own, kSegmentRows, &ParamSpec::name) > 0;
  for (const ParamSpec& param : own) {
    if (by_windows && param.name == "local_context") continue;
    const auto has_name = [&](const auto& named) { return param.name == named; };
    if (std::ranges::none_of(kOfSummaries, has_name) &&
        std::ranges::none_of(decoding, has_name, &ParamSpec::name)) {
      continue;
    }
    const auto asked = params.values().find(param.name);
    if (asked == params.values().end() || asked->second == param.default_value) continue;
    return invalid_argument("'" + param.name +
                            "' is of summaries; where 'labels' are given one of them is chosen, "
                            "behind the whole document");
  }
  return {};
}

Status check_labels(const Params& params, const std::vector<ParamSpec>& own) {
  if (!params.has("labels")) {
    if (!params.has("label_scope")) return {};
    return invalid_argument("'label_scope' needs 'labels' to choose from");
  }
  std::vector<std::string> labels = labels_of(params);
  if (std::ranges::count(labels, "") > 0) {
    return invalid_argument("'labels' has an empty label between commas");
  }
  std::ranges::sort(labels);
  const auto twice = std::ranges::adjacent_find(labels);
  if (twice == labels.end()) return check_unread(params, own);
  return invalid_argument("'labels' names '" + *twice + "' twice");
}

Status needs_bank(const char* name) {
  return invalid_argument("'" + std::string(name) +
                          "' needs a 'bank': how many demonstrations are kept");
}

/// A row of a bank stands for `bank_ratio` tokens of a demonstration.
Status check_bank_ratio(const Params& recipe) {
  const int64_t longest = demonstration_tokens(recipe);
  if (bank_ratio(recipe) <= static_cast<double>(longest)) return {};
  return invalid_argument("'bank_ratio' is " + shortest_decimal(bank_ratio(recipe)) +
                          "; a demonstration has at most " + std::to_string(longest) +
                          " tokens ('" + kDemonstrationTokens +
                          "'), and that number gives one memory token");
}

}  // namespace

std::vector<ParamSpec> demonstration_params() {
  using prompted::of_both;
  return {
      of_both(from_source(
          integer_param("bank", "demonstrations", 1, kMostDemonstrations,
                        "Of the training split, drawn by the seed, that are kept to be shown; all "
                        "where it has fewer, none are kept when left out"),
          "SelfCP, section 3.4: 5000")),
      of_both(from_source(
          text_param("demonstration",
                     "Template of a demonstration with {query}, {document} and {summary}; "
                     "\"{query}: {document} -> {summary}\" when left out"),
          "SelfCP's release")),
      of_both(from_source(integer_param(kDemonstrationTokens, "tokens", 1, kMost,
                                        "Of a demonstration, the front of a longer one; 512 when "
                                        "left out"),
                          "SelfCP, section 3.4")),
      from_source(integer_param("shots", "demonstrations", 0, kMostShots,
                                "In front of a prompt; none when left out"),
                  "SelfCP, Table 4"),
      text_param("labels",
                 "Answers with commas between, of which the one with the least perplexity is "
                 "chosen in place of {summary}; when left out a summary is written"),
      choice_param("label_scope", {"label", "full"},
                   "What the perplexity is of: the answer's tokens, or all of the template; "
                   "'label' when left out")};
}

std::vector<ParamSpec> memory_bank_params() {
  return {
      prompted::of_both(real_param("bank_ratio", "tokens", 1, kMostDemonstrations,
                                   "Tokens of a demonstration that a row of the bank stands for; "
                                   "12 when left out")),
      choice_param("demonstrations", {"retrieved", "fixed"},
                   "Those of the bank that are nearest to the example, best first, or the same for "
                   "all, drawn by the seed; 'retrieved' when left out"),
      from_source(choice_param("bank_score", {"cosine", "dot"},
                               "How near first memory tokens are; 'cosine' when left out"),
                  "cosine: the paper; dot: its release"),
      choice_param("shots_as", {"memory", "recomputed", "tokens"},
                   "The bank's memory, the same computed again for each prompt, or the "
                   "demonstrations as they are; 'memory' when left out")};
}

ParamSpec token_shots_as() {
  return choice_param("shots_as", {"memory", "recomputed"},
                      "Demonstrations are compressed once for all prompts, or again for each; "
                      "'memory' when left out");
}

Status check_demonstrations(const Params& params, const std::vector<ParamSpec>& own) {
  if (Status status = check_template(params); !status.ok()) return status;
  if (Status status = check_labels(params, own); !status.ok()) return status;
  if (params.has("shots_as") && !params.has("shots")) {
    return invalid_argument("'shots_as' needs 'shots'");
  }
  const auto bank = params.find<int64_t>("bank");
  if (!bank && params.has(kDemonstrationTokens)) return needs_bank(kDemonstrationTokens);
  if (!bank && params.has("demonstration") && !params.has("labels")) {
    return needs_bank("demonstration");
  }
  const int64_t shots = shots_of(params);
  if (shots == 0) return {};
  if (!bank) return needs_bank("shots");
  if (shots > *bank) {
    return invalid_argument("'shots' is " + std::to_string(shots) + "; the 'bank' has " +
                            std::to_string(*bank));
  }
  if (params.find<double>("ratio") == 0 && params.find<std::string>("shots_as") != "tokens") {
    return invalid_argument("a 'ratio' of 0 leaves nothing of demonstrations to read");
  }
  return {};
}

Status check_memory_bank(const Params& params) {
  if (params.has("bank_ratio") && !has_bank(params)) return needs_bank("bank_ratio");
  for (const char* name : {"demonstrations", "bank_score"}) {
    if (params.has(name) && !params.has("shots")) {
      return invalid_argument("'" + std::string(name) + "' needs 'shots'");
    }
  }
  if (params.has("bank_score") && params.find<std::string>("demonstrations") == "fixed") {
    return invalid_argument("'bank_score' ranks demonstrations that \"fixed\" draws");
  }
  return {};
}

Status check_bank_data(const Params& params, const TrainingFacts& facts) {
  if (shots_of(params) <= facts.examples) return {};
  return invalid_argument("'shots' is " + std::to_string(shots_of(params)) +
                          "; the training split has " + std::to_string(facts.examples) +
                          " examples to be demonstrations");
}

Status check_bank_file(const Params& params, const Params& recipe) {
  if (shots_of(params) == 0 || !has_bank(recipe)) return {};
  // What is left out is as the recipe has it.
  if (params.has("demonstration") &&
      demonstration_template(params) != demonstration_template(recipe)) {
    return invalid_argument("'demonstration' is \"" + demonstration_template(params) +
                            "\", but those of the bank are \"" + demonstration_template(recipe) +
                            "\"");
  }
  if (params.has(kDemonstrationTokens) &&
      demonstration_tokens(params) != demonstration_tokens(recipe)) {
    return invalid_argument("'" + std::string(kDemonstrationTokens) + "' is " +
                            std::to_string(demonstration_tokens(params)) +
                            ", but those of the bank have at most " +
                            std::to_string(demonstration_tokens(recipe)));
  }
  return {};
}

Status check_memory_bank_file(const Params& params, const Params& recipe) {
  if (!has_bank(recipe)) return {};
  if (Status status = check_bank_ratio(recipe); !status.ok()) return status;
  if (shots_of(params) == 0 || params.find<std::string>("shots_as") == "tokens") return {};
  if (params.has("bank_ratio") && bank_ratio(params) != bank_ratio(recipe)) {
    return invalid_argument("'bank_ratio' is " + shortest_decimal(bank_ratio(params)) +
                            ", but the bank was made with " + shortest_decimal(bank_ratio(recipe)));
  }
  if (params.get<double>("ratio") >= bank_ratio(recipe)) return {};
  return invalid_argument("a 'ratio' of " + shortest_decimal(params.get<double>("ratio")) +
                          " is below the bank's: it has a row for " +
                          shortest_decimal(bank_ratio(recipe)) + " tokens ('bank_ratio')");
}

Status check_demonstration_positions(const Params& params, int64_t positions) {
  const auto asked = params.find<int64_t>(kDemonstrationTokens);
  if (!asked || positions == 0 || *asked < positions) return {};
  return invalid_argument("'" + std::string(kDemonstrationTokens) + "' is " +
                          std::to_string(*asked) +
                          "; with what stands around it that goes over the " +
                          std::to_string(positions) + " positions of the backbone");
}

bool compresses(const Params& params) { return !params.has("labels") || shots_of(params) > 0; }

int64_t shots_of(const Params& params) { return params.find<int64_t>("shots").value_or(0); }

bool has_bank(const Params& params) { return params.has("bank"); }

bool bank_alone(const Params& params) { return params.find<std::string>("objective") == "bank"; }

double bank_ratio(const Params& params) {
  return params.find<double>("bank_ratio").value_or(kRatio);
}

int64_t demonstration_tokens(const Params& params) {
  return params.find<int64_t>(kDemonstrationTokens).value_or(kWindow);
}

std::string demonstration_template(const Params& params) {
  return params.find<std::string>("demonstration").value_or(std::string(kTemplate));
}

std::vector<std::string> labels_of(const Params& params) {
  std::vector<std::string> labels;
  const auto listed = params.find<std::string>("labels");
  if (!listed) return labels;
  for (size_t begin = 0; begin <= listed->size();) {
    const size_t comma = std::min(listed->find(',', begin), listed->size());
    labels.push_back(transforms::stripped(std::string_view(*listed).substr(begin, comma - begin)));
    begin = comma + 1;
  }
  return labels;
}

AnsweredText demonstration_text(std::string_view text, const Example& example,
                                std::string_view answer) {
  AnsweredText filled;
  for (const PromptPart& part : prompting::split_template(text)) {
    if (part.placeholder && part.text == kAnswer) {
      filled.answer = {filled.text.size(), filled.text.size() + answer.size()};
      filled.text += answer;
    } else {
      filled.text += value_of(part, example);
    }
  }
  return filled;
}

std::string asked_text(std::string_view text, const Example& example) {
  std::string filled;
  size_t end = 0;
  for (const PromptPart& part : prompting::split_template(text)) {
    if (part.placeholder && part.text == kAnswer) break;
    filled += value_of(part, example);
    if (part.placeholder) end = filled.size();
  }
  return filled.substr(0, end);
}

std::vector<bool> answer_tokens(std::span<const tokenizers::Token> tokens,
                                prompting::TextRange answer) {
  const auto begin = static_cast<int64_t>(answer.begin);
  const auto end = static_cast<int64_t>(answer.end);
  std::vector<bool> overlap;
  for (const tokenizers::Token& token : tokens) {
    overlap.push_back(token.begin < end && token.end > begin);
  }
  return overlap;
}

Perplexities perplexities(std::span<const double> losses, const std::vector<bool>& of_answer) {
  double label = 0;
  double full = 0;
  for (size_t i = 0; i < losses.size(); ++i) {
    full += losses[i];
    if (of_answer[i]) label += losses[i];
  }
  const auto labels = static_cast<double>(std::ranges::count(of_answer, true));
  return {std::exp(label / labels), std::exp(full / static_cast<double>(losses.size()))};
}

}  // namespace qfs::compressors

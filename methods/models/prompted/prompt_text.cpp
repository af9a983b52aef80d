#include "methods/models/prompted/prompt_text.h"

#include <utility>

#include "methods/models/prompted/memory_params.h"
#include "methods/models/prompted/prompted_params.h"
#include "methods/models/prompting/length_params.h"

namespace qfs::prompted {

namespace {

std::string prompt_template(const Params& params) {
  const std::string& prompt = params.get<std::string>("prompt");
  if (!params.find<bool>(kRepeatQuery).value_or(false)) return prompt;
  return prompting::with_query_repeated(prompt, !memory_form(params).released);
}

}  // namespace

prompting::FilledPrompt filled_prompt(const Params& params, std::string_view document,
                                      std::string_view query) {
  const std::string text = prompt_template(params);
  prompting::FilledPrompt filled = prompting::fill_marked_prompt(text, document, query);
  const size_t heading = prompting::shown_query(text).begin;
  // Nothing was filled in front of the query's paragraph.
  if (memory_form(params).released && heading > 0 && heading < filled.joints.front()) {
    filled.joints.insert(filled.joints.begin(), heading);
  }
  return filled;
}

std::vector<std::string_view> prompt_pieces(const Params& params,
                                            const prompting::FilledPrompt& filled) {
  const std::string_view text = filled.text;
  std::vector<std::string_view> pieces;
  size_t begin = 0;
  if (params.find<bool>(kPromptPieces).value_or(false)) {
    for (const size_t joint : filled.joints) {
      if (joint >= text.size()) break;
      pieces.push_back(text.substr(begin, joint - begin));
      begin = joint;
    }
  }
  pieces.push_back(text.substr(begin));
  return pieces;
}

namespace {

/// What reads the query there; none: nothing does.
std::optional<std::string> first_segment_reader(const Params& params) {
  if (params.find<std::string>("memory") == "qf_infini") return "asks \"memory\": \"qf_infini\"";
  const bool pools = params.find<std::string>("generated") == "upper" &&
                     params.find<std::string>("pooling") == "instruction" &&
                     params.find<std::string>("hyper_instruction") != "general";
  if (has_memory(params) && pools) return "the hypernetwork pools";
  return std::nullopt;
}

}  // namespace

Status check_first_segment(const Params& params, int64_t query_end, int64_t segment) {
  const auto reader = first_segment_reader(params);
  if (!reader || query_end <= segment) return {};
  return invalid_argument("the query ends behind token " + std::to_string(query_end) +
                          " of the prompt; the first segment, which " + *reader + ", has " +
                          std::to_string(segment));
}

namespace {

std::vector<std::string> texts_of(const Params& params, const prompting::FilledPrompt& prompt) {
  const std::vector<std::string_view> pieces = prompt_pieces(params, prompt);
  return {pieces.begin(), pieces.end()};
}

}  // namespace

std::optional<TokenBound> prompt_bound(const Params& params, const Example& example) {
  const auto reader = first_segment_reader(params);
  const auto total = params.find<int64_t>(prompting::kTotalTokens);
  if (!reader && !total) return std::nullopt;
  prompting::FilledPrompt prompt = filled_prompt(params, "", example.query);
  if (!reader) {
    const int64_t reserved = params.get<int64_t>(prompting::kReservedTokens);
    return TokenBound{texts_of(params, prompt), *total - reserved - 1,
                      "the prompt without a document",
                      "'total_tokens' without 'reserved_tokens' and a token of the document"};
  }
  prompt.text.resize(prompt.query.end);
  const bool learns = !params.has("local_context");
  const int64_t segment = learns ? params.find<int64_t>("train_segment").value_or(kTrainSegment)
                                 : params.get<int64_t>("local_context");
  return TokenBound{texts_of(params, prompt), segment, "the prompt up to the end of the query",
                    "the first segment, which " + *reader + " ('" +
                        (learns ? "train_segment" : "local_context") + "')"};
}

}  // namespace qfs::prompted

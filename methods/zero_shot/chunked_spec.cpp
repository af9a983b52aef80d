#include "methods/zero_shot/chunked_spec.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>

#include "harness/api/param_specs.h"
#include "methods/models/decoding/decoding_params.h"
#include "methods/models/decoding/generation_layers.h"
#include "methods/models/prompted/chat_params.h"
#include "methods/models/prompted/prompted_params.h"
#include "methods/models/prompting/length_params.h"
#include "methods/models/prompting/prompt_template.h"
#include "methods/models/prompting/source_layout.h"
#include "methods/zero_shot/spec.h"

namespace qfs::zero_shot {

namespace {

using prompting::PlaceholderRule;

constexpr std::string_view kMergePrompt =
    "These are summaries of consecutive parts of one document, made for a request. Combine them "
    "into one short summary in plain sentences that answers the request. Use only what they "
    "say.\n\nSummaries:\n{summaries}\n\nRequest: {query}\n\nSummary:";
constexpr std::string_view kRefinePrompt =
    "A summary of the first parts of a document answers a request. Rewrite it with what the next "
    "part adds, and keep it short and in plain sentences; where the part adds nothing, repeat the "
    "summary.\n\nSummary so far:\n{summary}\n\nNext part of the document:\n{document}\n\n"
    "Request: {query}\n\nSummary:";
constexpr std::array<PlaceholderRule, 2> kMergeRules = {{{"summaries", 1, 1}, {"query", 0, 1}}};
constexpr std::array<PlaceholderRule, 3> kRefineRules = {
    {{"summary", 1, 1}, {"document", 1, 1}, {"query", 0, 1}}};
constexpr const char* kMergeSource =
    "Wu et al. 2021 (arXiv:2109.10862), section 2; Chang et al. 2024 (arXiv:2310.00785), "
    "hierarchical merging";
constexpr const char* kRefineSource =
    "Chang et al. 2024 (arXiv:2310.00785), incremental updating; LangChain's refine chain";
constexpr double kTokensOfAPart = 1 << 20;

/// Up to a million.
ParamSpec part_integer(std::string name, std::string unit, double minimum, std::string doc) {
  return integer_param(std::move(name), std::move(unit), minimum, kTokensOfAPart, std::move(doc));
}

/// What is read, and in which parts.
std::vector<ParamSpec> reading_params() {
  std::vector<ParamSpec> params;
  params.push_back(with_default(
      part_integer("local_context", "tokens", 1,
                   "Document tokens of a chunk, at most: what the model reads at once"),
      int64_t{1024}));
  params.push_back(
      with_default(part_integer("overlap", "tokens", 0,
                                "Last tokens of a chunk that begin the next; at most half of one"),
                   int64_t{0}));
  params.push_back(part_integer("input_tokens", "tokens", 1,
                                "Document tokens of all chunks; the whole document when left out"));
  params.push_back(prompting::truncate_param());
  params.push_back(prompting::max_new_tokens_param());
  return params;
}

/// How the model is asked, as zero_shot declares it.
void add_asking_params(std::vector<ParamSpec>& params, std::span<const std::string_view> names) {
  for (const ParamSpec& param : ZeroShotSpec().params()) {
    if (std::ranges::find(names, param.name) != names.end()) params.push_back(param);
  }
  for (ParamSpec& param : decoding::decoding_params()) params.push_back(std::move(param));
}

constexpr std::array<std::string_view, 7> kAsking = {
    "prompt", "system", "chat", "chat_date", "chat_variables", "stop", "decoding"};
constexpr std::array<std::string_view, 10> kAskingAnyBackbone = {
    "prompt", "system",   "chat",   "chat_date", "chat_variables",
    "stop",   "decoding", "source", "separator", "global_attention"};

Status check_parts(const Params& params) {
  if (Status status = prompting::check_prompt(params.get<std::string>("prompt")); !status.ok()) {
    return status;
  }
  const int64_t chunk = params.get<int64_t>("local_context");
  const int64_t overlap = params.get<int64_t>("overlap");
  if (overlap > chunk / 2) {
    return invalid_argument("'overlap' is " + std::to_string(overlap) +
                            ", more than half of a chunk ('local_context' is " +
                            std::to_string(chunk) + ")");
  }
  if (Status status = prompted::check_chat(params); !status.ok()) return status;
  if (params.find<std::string>("stop") == "") {
    return invalid_argument("'stop' is empty; leave it out to stop at the end token only");
  }
  if (const auto source = params.find<std::string>("source")) {
    if (Status status = prompting::check_source_layout(*source); !status.ok()) return status;
    if (prompting::separates_documents(*source)) {
      return invalid_argument("'source' has {documents}; a chunk is one text: {document}");
    }
  }
  return decoding::check_decoding(params);
}

/// Chunks of a mean document.
double chunks_of(const Params& params, const DatasetStats& stats) {
  constexpr double kTokensOfAWord = 1.35;
  double document = stats.mean_document_words * kTokensOfAWord;
  if (const auto limit = params.find<int64_t>("input_tokens")) {
    document = std::min(document, static_cast<double>(*limit));
  }
  const auto chunk = static_cast<double>(params.get<int64_t>("local_context"));
  const auto step = chunk - static_cast<double>(params.get<int64_t>("overlap"));
  return document <= chunk ? 1 : 1 + std::ceil((document - chunk) / step);
}

/// Work of `calls` calls that read a chunk and produce `produced` tokens each.
Cost cost_of_calls(const Params& params, const DatasetStats& stats, double calls, double produced) {
  constexpr double kPromptAround = 160;
  const auto chunk = static_cast<double>(params.get<int64_t>("local_context"));
  const auto beams = static_cast<double>(params.find<int64_t>("num_beams").value_or(1));
  const double made = static_cast<double>(stats.examples) * calls;
  return {.flops = made * prompted::reading_flops(chunk + kPromptAround + beams * produced),
          .bytes = made * prompted::weight_bytes(1 + produced),
          .tokens_out = made * produced};
}

}  // namespace

std::vector<std::string> ChunkedSpec::layers(const Params&, const BackboneFacts& facts) const {
  std::vector<std::string> layers = decoding::generation_layers(facts);
  layers.emplace_back("chunks@1");
  std::ranges::sort(layers);
  return layers;
}

Needs ChunkedSpec::needs(const Params&) const {
  return {.tensors = true, .backbone = true, .tokenizer = true};
}

Status ChunkedSpec::check_backbone(const Params& params, const BackboneFacts& facts) const {
  return prompted::check_window(params, facts);
}

std::string_view ChunkMergeSpec::doc() const {
  return "A language model summarizes every chunk of the document, then the summaries";
}

std::vector<ParamSpec> ChunkMergeSpec::params() const {
  std::vector<ParamSpec> params = reading_params();
  params.push_back(
      with_default(part_integer("chunk_new_tokens", "tokens", 1,
                                "Longest summary of a chunk, and of several when there is another "
                                "round"),
                   int64_t{128}));
  params.push_back(with_default(text_param("merge_prompt", "Template with {summaries} and {query}"),
                                std::string(kMergePrompt)));
  params.back().source = kMergeSource;
  params.push_back(
      with_default(part_integer("chunk_batch", "chunks", 1,
                                "Chunks decoded together; outputs do not depend on it"),
                   int64_t{4}));
  params.back().maximum = 4096;
  params.back().numerics = true;
  add_asking_params(params, kAskingAnyBackbone);
  return params;
}

Status ChunkMergeSpec::validate(const Params& params) const {
  if (Status status = prompting::check_template(
          "the merge prompt", params.get<std::string>("merge_prompt"), kMergeRules);
      !status.ok()) {
    return status;
  }
  return check_parts(params);
}

Cost ChunkMergeSpec::cost(const Params& params, const DatasetStats& stats) const {
  const double chunks = chunks_of(params, stats);
  const auto produced = static_cast<double>(params.get<int64_t>("chunk_new_tokens"));
  return cost_of_calls(params, stats, chunks > 1 ? chunks + 1 : 1, produced);
}

std::string_view RefineSpec::doc() const {
  return "A language model summarizes the first chunk and rewrites the summary with each further "
         "one";
}

std::vector<ParamSpec> RefineSpec::params() const {
  std::vector<ParamSpec> params = reading_params();
  params.push_back(
      with_default(text_param("refine_prompt", "Template with {summary}, {document} and {query}"),
                   std::string(kRefinePrompt)));
  params.back().source = kRefineSource;
  add_asking_params(params, kAsking);
  return params;
}

Status RefineSpec::validate(const Params& params) const {
  if (Status status = prompting::check_template(
          "the refine prompt", params.get<std::string>("refine_prompt"), kRefineRules);
      !status.ok()) {
    return status;
  }
  return check_parts(params);
}

Cost RefineSpec::cost(const Params& params, const DatasetStats& stats) const {
  return cost_of_calls(params, stats, chunks_of(params, stats),
                       static_cast<double>(params.get<int64_t>("max_new_tokens")));
}

}  // namespace qfs::zero_shot

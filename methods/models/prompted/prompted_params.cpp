#include "methods/models/prompted/prompted_params.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "harness/api/param_specs.h"
#include "methods/models/decoding/decoding_params.h"
#include "methods/models/prompted/chat_params.h"
#include "methods/models/prompted/memory_params.h"
#include "methods/models/prompted/recipe_params.h"
#include "methods/models/prompting/length_params.h"
#include "methods/models/prompting/prompt_template.h"
#include "methods/models/prompting/source_layout.h"
#include "methods/models/tokenizers/builtin_tokenizers.h"

namespace qfs::prompted {

namespace {

// Nominal model of the estimate: which cell costs more than another does not depend on it.
constexpr double kParameters = 135e6;
constexpr double kBytesPerParameter = 0.69;    // Q4_1 stays packed; embedding and norms do not
constexpr double kCacheBytesPerToken = 46080;  // 2 x 30 layers x 3 heads x 64 x 4 bytes
constexpr double kTokensPerWord = 1.35;
constexpr double kPromptTokens = 80;

/// What concerns encoder-decoder backbones alone.
void add_source_params(std::vector<ParamSpec>& params) {
  params.push_back(text_param("source",
                              "What an encoder-decoder reads, of {document}, {query} and {sep}; "
                              "{query}{sep}{document} when left out, the document alone where an "
                              "example has no query. {documents}: its segments, cut to as many "
                              "tokens each and to what the encoder reads, {sep} behind each"));
  params.push_back(text_param(
      "separator", "The special token of {sep}; the backbone's end token when left out"));
  params.push_back(
      from_source(choice_param("global_attention", prompting::global_token_names(),
                               "Tokens that see all and are seen by all in an encoder with "
                               "windows; 'first' when left out"),
                  "Beltagy et al. 2020; SQuALITY's models use 'query'"));
  constexpr double kMaxPositions = 1 << 24;
  params.push_back(from_source(
      integer_param("window", "tokens", 2, kMaxPositions,
                    "Runs a BART as the LED that it is converted to: its encoder attends to so "
                    "many tokens around each"),
      "Beltagy et al. 2020"));
  params.push_back(integer_param("source_positions", "tokens", 1, kMaxPositions,
                                 "Longest source with 'window'; 16384 when left out"));
}

/// Ordinals, those of short documents first; of equally long ones as they stand.
std::vector<int64_t> by_words(std::span<const NumberedExample> examples) {
  const auto words = tokenizers::make_builtin_tokenizer("words");
  std::vector<std::pair<int64_t, int64_t>> sorted;
  for (const NumberedExample& numbered : examples) {
    sorted.emplace_back(words->count(rendered_document(numbered.example)), numbered.ordinal);
  }
  std::ranges::stable_sort(sorted, {}, &std::pair<int64_t, int64_t>::first);
  std::vector<int64_t> ordinals;
  for (const auto& [count, ordinal] : sorted) ordinals.push_back(ordinal);
  return ordinals;
}

std::vector<Unit> batches(const Params& params, std::span<const int64_t> ordinals) {
  const auto size = static_cast<size_t>(params.get<int64_t>("batch_size"));
  std::vector<Unit> units;
  for (size_t begin = 0; begin < ordinals.size(); begin += size) {
    const auto batch = ordinals.subspan(begin, std::min(size, ordinals.size() - begin));
    units.push_back({{batch.begin(), batch.end()}});
  }
  return units;
}

}  // namespace

std::vector<ParamSpec> prompted_params() {
  std::vector<ParamSpec> params = {prompting::local_context_param(), prompting::truncate_param(),
                                   prompting::max_new_tokens_param()};
  params.push_back(
      with_default(integer_param("batch_size", "examples", 1, 4096,
                                 "Examples decoded together; outputs do not depend on it"),
                   int64_t{1}));
  params.back().numerics = true;
  params.push_back(from_source(
      choice_param("batch_order", {"given", "words"},
                   "Which examples are decoded together: neighbours, as when left out, or those "
                   "of documents with about as many words; outputs do not depend on it"),
      "IDEAL's release: words"));
  params.back().numerics = true;
  params.push_back(with_default(text_param("prompt", "Template with {document} and {query}"),
                                std::string(prompting::default_prompt())));
  ParamSpec pieces = flag_param(
      kPromptPieces, false,
      "What stands around {document} and {query}, and each of them, is tokenized by itself; one "
      "text when left out");
  pieces.default_value.reset();  // so that cells that do not ask for it have no such parameter
  params.push_back(from_source(std::move(pieces), "IDEAL's release, without a memory"));
  for (ParamSpec& param : chat_params()) params.push_back(std::move(param));
  params.push_back(text_param("stop", "Text that ends the output, besides the end token"));
  params.push_back(numerics_flag(
      "prefix_reuse",
      "Examples of one document are decoded together, and what their prompts begin with in common "
      "is read once; a decoder-only backbone's"));
  add_source_params(params);
  params.push_back(choice_param("decoding", {"given", "checkpoint"},
                                "'checkpoint': beams, sampling and lengths that are not given are "
                                "those of the checkpoint's own settings"));
  for (ParamSpec& param : decoding::decoding_params()) params.push_back(std::move(param));
  return params;
}

std::vector<Unit> prompted_units(const MethodSpec& spec, const Params& params,
                                 std::span<const NumberedExample> examples) {
  if (params.find<std::string>("batch_order") == "words") {
    return batches(params, by_words(examples));
  }
  if (!params.find<bool>("prefix_reuse").value_or(false))
    return spec.MethodSpec::units(params, examples);
  // As many batches as without, but none goes across documents.
  std::vector<Unit> units;
  for (size_t begin = 0; begin < examples.size();) {
    const auto of_another = [&](const NumberedExample& other) {
      return other.example.document_id != examples[begin].example.document_id;
    };
    const auto end = std::ranges::find_if(examples.subspan(begin), of_another);
    const auto count = static_cast<size_t>(end - examples.begin()) - begin;
    for (Unit& unit : spec.MethodSpec::units(params, examples.subspan(begin, count))) {
      units.push_back(std::move(unit));
    }
    begin += count;
  }
  return units;
}

Status check_outputs(const Params& params, const BackboneFacts& facts) {
  if (facts.decoder_context == 0) return {};
  const auto refused = [&](const char* name, int64_t room, int64_t as_default) -> Status {
    const auto tokens = params.find<int64_t>(name);
    if (!tokens || *tokens <= std::max(room, as_default)) return {};
    return invalid_argument("'" + std::string(name) + "' is " + std::to_string(*tokens) +
                            "; the backbone's decoder has room for " + std::to_string(room));
  };
  // A decoder begins with one token of its own. Labels that nobody asked for are as many as fit.
  Status fits = refused("max_new_tokens", facts.decoder_context - 1, 0);
  return fits.ok() ? refused("label_tokens", facts.decoder_context, kLabelTokens) : fits;
}

Status check_layout(const Params& params, bool encoder_decoder) {
  const auto refuse = [](const char* name, const char* kind) {
    return invalid_argument(std::string("'") + name + "' is for " + kind +
                            " backbones, which this one is not");
  };
  if (!encoder_decoder) {
    for (const char* name : {"source", "separator", "global_attention", "window"}) {
      if (params.has(name)) return refuse(name, "encoder-decoder");
    }
    return {};
  }
  for (const char* name : {"system", "chat_date", "chat_variables", "prefix_reuse", kPromptPieces,
                           prompting::kTotalTokens}) {
    if (params.has(name)) return refuse(name, "decoder-only");
  }
  const auto prompt = params.find<std::string>("prompt");
  if (!prompt || *prompt == prompting::default_prompt()) return {};
  return invalid_argument(
      "'prompt' is for decoder-only backbones; what an encoder-decoder reads is laid out by "
      "'source'");
}

Status check_window(const Params& params, const BackboneFacts& facts) {
  if (!facts.architecture.empty()) {
    const Status layout = check_layout(params, facts.architecture == "bart");
    if (!layout.ok()) return layout;
  }
  if (Status status = check_outputs(params, facts); !status.ok()) return status;
  const auto total = params.find<int64_t>(prompting::kTotalTokens);
  if (const int64_t most = positions_of(params, facts); total && most > 0 && *total > most) {
    return invalid_argument("'total_tokens' is " + std::to_string(*total) + "; a sequence has " +
                            std::to_string(most) + " tokens at most");
  }
  const auto window = params.find<int64_t>("local_context");
  if (!window || facts.context == 0 || *window <= facts.context) return {};
  if (params.has("source_positions")) return {};
  return invalid_argument("'local_context' is " + std::to_string(*window) +
                          "; the backbone was trained to read " + std::to_string(facts.context) +
                          " tokens at once");
}

Status check_prompted(const Params& params) {
  if (Status status = prompting::check_prompt(params.get<std::string>("prompt")); !status.ok())
    return status;
  if (Status status = check_chat(params); !status.ok()) return status;
  if (params.find<bool>(kPromptPieces).value_or(false) && params.get<bool>("chat")) {
    return invalid_argument("'prompt_pieces' needs \"chat\": false; a chat template has its own");
  }
  if (params.find<std::string>("stop") == "") {
    return invalid_argument("'stop' is empty; leave it out to stop at the end token only");
  }
  if (params.find<bool>("prefix_reuse").value_or(false) &&
      params.find<std::string>("batch_order") == "words") {
    return invalid_argument(
        "'prefix_reuse' decodes examples of one document together, 'batch_order' those of equally "
        "long ones; give one of them");
  }
  if (params.find<bool>("prefix_reuse").value_or(false) && params.get<int64_t>("batch_size") < 2) {
    return invalid_argument(
        "'prefix_reuse' needs a 'batch_size' of at least 2: what is decoded together shares");
  }
  const char* budget = has_memory(params) ? "input_tokens" : "local_context";
  if (Status status = prompting::check_total_length(params, budget); !status.ok()) return status;
  if (const auto layout = params.find<std::string>("source")) {
    if (Status status = prompting::check_source_layout(*layout); !status.ok()) return status;
    if (prompting::separates_documents(*layout) && params.get<std::string>("truncate") != "head") {
      return invalid_argument("'truncate' is '" + params.get<std::string>("truncate") +
                              "'; of {documents} the head of each is kept");
    }
  }
  if (params.has("source_positions") && !params.has("window")) {
    return invalid_argument("'source_positions' needs 'window'");
  }
  return decoding::check_decoding(params);
}

double reading_flops(double tokens) { return 2 * kParameters * tokens; }

double weight_bytes(double times) { return kBytesPerParameter * kParameters * times; }

double cache_bytes(double tokens) { return kCacheBytesPerToken * tokens; }

Cost prompted_cost(const Params& params, const DatasetStats& stats) {
  double document = stats.mean_document_words * kTokensPerWord;
  for (const auto& limit :
       {document_budget(params), params.find<int64_t>(prompting::kTotalTokens)}) {
    if (limit) document = std::min(document, static_cast<double>(*limit));
  }
  double read = document + stats.mean_query_words * kTokensPerWord + kPromptTokens;
  // Demonstrations are as long as documents, and shorter where they are compressed.
  const double ratio = params.find<double>("ratio").value_or(1);
  const bool compressed = ratio > 0 && params.find<std::string>("shots_as") != "tokens";
  const auto shots = static_cast<double>(params.find<int64_t>("shots").value_or(0));
  read += shots * document / (compressed ? ratio : 1);
  // The likeliest of given labels is found by reading.
  const auto produced =
      params.has("labels") ? 0.0 : static_cast<double>(params.get<int64_t>("max_new_tokens"));
  const auto beams = static_cast<double>(params.find<int64_t>("num_beams").value_or(1));
  const auto batch = static_cast<double>(params.get<int64_t>("batch_size"));
  const auto examples = static_cast<double>(stats.examples);
  Cost cost;
  cost.tokens_out = examples * produced;
  cost.flops = examples * reading_flops(read + beams * produced);
  // Each step reads all weights once for its batch, and the cache of every row.
  cost.bytes = examples * (weight_bytes(1 + produced / batch) +
                           cache_bytes(beams * produced * (read + produced / 2)));
  return cost;
}

}  // namespace qfs::prompted

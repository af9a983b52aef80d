#include "methods/models/prompted/memory_params.h"

#include <algorithm>
#include <span>
#include <string>

#include "harness/api/param_specs.h"
#include "methods/models/prompted/trained_spec.h"

namespace qfs::prompted {

namespace {

constexpr double kMostTokens = 1 << 24;

ParamSpec at_stage(Stage stage, ParamSpec spec) {
  spec.stage = stage;
  return spec;
}

/// What means nothing without a memory.
constexpr const char* kOfMemory[] = {"memory_rule",  "alpha_scale", "gamma_bias",  "first_beta",
                                     "memory_rate",  kRepeatQuery,  "memory_read", "train_segment",
                                     "input_tokens", "positions",   "kept_tokens"};
/// What means nothing to a memory that no query asks.
constexpr const char* kOfAsking[] = {"alpha_scale", "gamma_bias"};

}  // namespace

ParamSpec segment_loss_param() {
  return at_stage(
      Stage::train,
      from_source(choice_param("segment_loss", {"token_mean", "sum"},
                               "The mean over a batch's tokens, or of each example's sum of "
                               "segments' means, its mean without a memory; 'token_mean' when left "
                               "out, with a memory and the preset as_released 'sum'"),
                  "sum: IDEAL's release"));
}

std::vector<ParamSpec> memory_params() {
  std::vector<ParamSpec> params;
  const auto add = [&](Stage stage, ParamSpec spec, const char* source = "") {
    params.push_back(at_stage(stage, *source == 0 ? spec : from_source(std::move(spec), source)));
  };
  add(Stage::both,
      choice_param("memory", {"none", "infini", "qf_infini"},
                   "What attention keeps of tokens beyond 'local_context': nothing, a compressive "
                   "memory, or beside it one of what the query asks for; 'none' when left out"),
      "Munkhdalai et al. 2024; IDEAL, section 3.3");
  add(Stage::both,
      choice_param(
          "alpha_scale", {"head", "model"},
          "Whose width divides the relevance of a key to the query; 'head' when left out, of the "
          "preset as_written 'model'"),
      "head: IDEAL's release; model: its equation 7");
  ParamSpec bias = flag_param(
      "gamma_bias", true,
      "The merge of what two memories gave has a bias, as when left out but in the preset "
      "as_written");
  bias.default_value.reset();  // so that cells without a memory have no such parameter
  add(Stage::train, std::move(bias), "IDEAL's release; its equation has none");
  add(Stage::both,
      choice_param(
          "memory_rule", {"delta", "linear"},
          "How values are written; 'delta' when left out, of the preset as_written 'linear'"),
      "delta: IDEAL's release; linear: its equations");
  add(Stage::train,
      real_param("first_beta", "", -100, 100,
                 "What beta of every head begins with, whose logistic is the memory's share of "
                 "attention; 0, the release's, when left out"));
  add(Stage::train,
      real_param("memory_rate", "", 0, 1e6,
                 "What the learning rate is multiplied by for the memory's scalars; 1 when left "
                 "out"));
  ParamSpec repeat = flag_param(
      kRepeatQuery, false, "What shows the query in the prompt stands behind the document, too");
  repeat.default_value.reset();
  add(Stage::both, std::move(repeat), "IDEAL's release");
  add(Stage::predict,
      choice_param("memory_read", {"trained", "none"},
                   "'none': nothing is read from the memory, a control; 'trained' when left out"));
  add(Stage::train, integer_param("train_segment", "tokens", 1, kMostTokens,
                                  "Attended to at once in training; 512 when left out"));
  add(Stage::both,
      integer_param(
          "kept_tokens", "tokens", 1, 1024,
          "First tokens of the prompt that stay in the window for all that follow, beside "
          "those attended to at once; none when left out"),
      "beyond the paper; Xiao et al. 2024, section 3.2");
  params.push_back(segment_loss_param());
  add(Stage::predict, integer_param("input_tokens", "tokens", 1, kMostTokens,
                                    "Document tokens that are read with a memory; the whole "
                                    "document when left out"));
  add(Stage::both,
      integer_param("positions", "tokens", 1, kMostTokens,
                    "Of a sequence with a memory, at most, where the window that the backbone was "
                    "trained with has fewer; that window when left out"),
      "IDEAL's release: up to 9200 of LLaMA-2");
  return params;
}

bool has_memory(const Params& params) {
  return params.find<std::string>("memory").value_or("none") != "none";
}

int64_t positions_of(const Params& params, const BackboneFacts& facts) {
  return std::max(facts.context, params.find<int64_t>("positions").value_or(0));
}

MemoryForm memory_form(const Params& params) {
  const std::string preset = params.find<std::string>("preset").value_or("");
  const bool written = preset == "as_written";
  MemoryForm form;
  form.rule = params.find<std::string>("memory_rule").value_or(written ? "linear" : "delta");
  form.alpha_scale = params.find<std::string>("alpha_scale").value_or(written ? "model" : "head");
  form.gamma_bias = params.find<bool>("gamma_bias").value_or(!written);
  form.segment_sums = params.find<std::string>("segment_loss")
                          .value_or(preset == "as_released" ? "sum" : "token_mean") == "sum";
  form.released = has_memory(params) && preset == "as_released";
  return form;
}

namespace {

/// A recipe of the first version of `ideal`, which does not say how its memory is written.
bool is_version_1(const Params& recipe) {
  return !recipe.has("memory_rule") && recipe.find<std::string>("preset") == "as_written";
}

/// Tokens that a file keeps and a row does not ask for are fewer than the row's window has.
Status check_kept(const Params& params, const Params& recipe) {
  const auto said = recipe.values().find("kept_tokens");
  const auto* kept =  // a file may say anything
      said == recipe.values().end() ? nullptr : std::get_if<int64_t>(&said->second);
  const auto window = params.find<int64_t>("local_context");
  if (!kept || !window || params.has("kept_tokens") || *kept < *window) return {};
  return invalid_argument("the file was trained with " + std::to_string(*kept) +
                          " 'kept_tokens', and " + std::to_string(*window) +
                          " tokens are attended to at once ('local_context')");
}

/// Of a training: its sequences are longer than a window.
Status check_segments(const Params& params) {
  const int64_t segment = params.find<int64_t>("train_segment").value_or(kTrainSegment);
  const int64_t kept = params.find<int64_t>("kept_tokens").value_or(0);
  const auto most = params.find<int64_t>("train_tokens");
  if (!most || *most > segment + kept) return {};
  return invalid_argument("'train_tokens' is " + std::to_string(*most) + ", and " +
                          std::to_string(segment + kept) +
                          " tokens are attended to at once ('train_segment'), so that nothing "
                          "would reach the memory that is trained");
}

}  // namespace

Status check_memory_file(const Params& params, const Params& recipe) {
  if (Status fits = check_kept(params, recipe); !fits.ok()) return fits;
  // What lies beside a file of IDEAL's release does not say whether it has one; its tensors do.
  const bool release = recipe.has("pooling") && !recipe.has("preset");
  if (!has_memory(params) || recipe.values().empty() || release) return {};
  if (params.values() == recipe.values()) return check_segments(params);  // its own training's
  if (!has_memory(recipe)) {
    if (params.find<std::string>("memory_read") == "none") return {};
    return invalid_argument("the file was trained without a memory, of which 'memory' would read");
  }
  const bool asks = recipe.find<std::string>("memory") == "qf_infini";
  if (is_version_1(recipe)) {
    if (params.has("memory_rule") && (params.has("alpha_scale") || !asks)) return {};
    return invalid_argument(
        "the file does not say how its memory is written, as those of version 1 of 'ideal', which "
        "had \"memory_rule\": \"delta\" and \"alpha_scale\": \"head\"; give both here");
  }
  if (params.has("kept_tokens") && !recipe.has("kept_tokens") &&
      params.find<std::string>("memory_read") != "none") {
    return invalid_argument(
        "'kept_tokens' is " + std::to_string(params.get<int64_t>("kept_tokens")) +
        ", but the file was trained without; \"memory_read\": \"none\" may keep some");
  }
  const MemoryForm trained = memory_form(recipe);
  for (const auto& [name, its] :
       {std::pair("memory_rule", trained.rule), std::pair("alpha_scale", trained.alpha_scale)}) {
    const auto asked = params.find<std::string>(name);
    if (!asked || *asked == its) continue;
    return invalid_argument("'" + std::string(name) + "' is '" + *asked +
                            "', but the file was trained with '" + its + "'");
  }
  return {};
}

Status check_memory_init(const Params& params, const Params& recipe) {
  if (!has_memory(recipe)) return {};
  // Of version 1 it is not known how its memory is written.
  const bool known = !is_version_1(recipe);
  const auto with_form = [&](const Params& of) {
    const MemoryForm form = memory_form(of);
    Params full;
    full.set("memory", of.find<std::string>("memory").value_or("none"));
    if (known) full.set("memory_rule", form.rule);
    if (!known || full.get<std::string>("memory") != "qf_infini") return full;
    full.set("alpha_scale", form.alpha_scale);
    full.set("gamma_bias", form.gamma_bias);
    return full;
  };
  return check_same(with_form(params), with_form(recipe),
                    {"memory", "memory_rule", "alpha_scale", "gamma_bias"});
}

Status check_memory_window(const Params& params, const BackboneFacts& facts) {
  const int64_t most = positions_of(params, facts);
  if (!has_memory(params) || most == 0) return {};
  const int64_t kept = params.find<int64_t>("kept_tokens").value_or(0);
  for (const char* name : {"local_context", "train_segment", "input_tokens"}) {
    const auto tokens = params.find<int64_t>(name);
    const int64_t beside = std::string_view(name) == "input_tokens" ? 0 : kept;
    if (!tokens || *tokens + beside <= most) continue;
    return invalid_argument(
        "'" + std::string(name) + "' is " + std::to_string(*tokens) +
        (beside > 0 ? " behind " + std::to_string(beside) + " 'kept_tokens'" : "") +
        "; a sequence has " + std::to_string(most) +
        " tokens at most, unless 'positions' asks for more");
  }
  return {};
}

Status check_memory_params(const Params& params) {
  const auto refuse_first = [&](std::span<const char* const> names, const char* needs) -> Status {
    for (const char* name : names) {
      if (params.has(name)) {
        return invalid_argument(std::string("'") + name + "' needs " + needs);
      }
    }
    return {};
  };
  if (!has_memory(params)) return refuse_first(kOfMemory, "'memory'");
  if (params.find<bool>("prefix_reuse").value_or(false)) {
    return invalid_argument("'prefix_reuse' is for attention without 'memory'");
  }
  if (!params.has("local_context")) {
    return invalid_argument(
        "'memory' needs 'local_context', the tokens that are attended to at once; 'input_tokens' "
        "are the document's");
  }
  const int64_t kept = params.find<int64_t>("kept_tokens").value_or(0);
  const int64_t attended = std::min(params.get<int64_t>("local_context"),
                                    params.find<int64_t>("train_segment").value_or(kTrainSegment));
  if (kept >= attended) {
    return invalid_argument("'kept_tokens' is " + std::to_string(kept) + ", and " +
                            std::to_string(attended) + " tokens are attended to at once");
  }
  const std::string& prompt = params.get<std::string>("prompt");
  if (params.find<bool>(kRepeatQuery).value_or(false) &&
      prompt.find("{query}") == std::string::npos) {
    return invalid_argument(std::string("'") + kRepeatQuery +
                            "' repeats what 'prompt' shows of the query; it has no {query}");
  }
  if (params.get<std::string>("memory") != "qf_infini") {
    return refuse_first(kOfAsking, "\"memory\": \"qf_infini\"");
  }
  if (prompt.find("{query}") < prompt.find("{document}")) return {};
  return invalid_argument(
      "\"memory\": \"qf_infini\" is asked by the query of the first segment; 'prompt' needs "
      "{query} in front of {document}");
}

std::optional<int64_t> document_budget(const Params& params) {
  const bool in_windows = has_memory(params) || params.has("ratio");
  return params.find<int64_t>(in_windows ? "input_tokens" : "local_context");
}

}  // namespace qfs::prompted

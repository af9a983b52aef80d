// MethodSpec and MethodSession: the two halves of a summarization method.
//
// A *spec* says what a method is called, which parameters it has and what it needs. It is
// stateless, thread-safe, links no LibTorch and is known to the driver, which validates every cell
// with it before the first one runs. A *session* (weights, caches) lives in a host process, handles
// one cell at a time and is not thread-safe. Protocol: the host opens one session per cell, calls
// `run` once per unit, the next after the previous returned, `measure_limits` after the last of a
// timed pass, and destroys the session; nothing else is called.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/example.h"
#include "harness/api/params.h"
#include "harness/api/prediction.h"
#include "harness/api/resource_cache.h"
#include "harness/api/result.h"
#include "harness/api/training.h"
#include "harness/api/work.h"

namespace qfs {

/// A file that a cell rests on (weights, tokenizer): a registered name or `local:<digest>`, where
/// it lies on this machine, and the SHA-256 that ids declare and hosts verify. Only `digest` is
/// part of an id. Built-in tokenizers (`words`, `characters`) have an empty path.
struct Resource {
  std::string name;
  std::string path;
  std::string digest;

  friend bool operator==(const Resource&, const Resource&) = default;
};

/// What the driver knows of a cell's backbone before a host opens it.
struct BackboneFacts {
  std::string
      architecture;  ///< whose code computes it: "bart", "gpt2", "llama"; empty: no backbone
  /// Tokens that it was trained to read at once, an encoder-decoder's encoder where there is one;
  /// 0: the checkpoint does not say. Not part of ids.
  int64_t context = 0;
  int64_t decoder_context = 0;  ///< likewise of an encoder-decoder's decoder

  friend bool operator==(const BackboneFacts&, const BackboneFacts&) = default;
};

/// What a method needs, given its parameters.
struct Needs {
  bool tensors = false;   ///< runs in qfs-host (LibTorch); otherwise in `qfs-bench host`
  bool backbone = false;  ///< wants SessionRequest::backbone
  /// Roles of further models ("extractor"): wants SessionRequest::backbones.
  std::vector<std::string> backbones = {};
  bool tokenizer = false;   ///< counts tokens: wants SessionRequest::tokenizer
  bool references = false;  ///< reads the answers; its rows are marked `oracle` in every table
  bool evidence = false;    ///< reads gold evidence; likewise
  bool external = false;    ///< the host is the user's own program
  bool imported = false;    ///< outputs are in a file that the driver reads; there is no session
  bool network = false;     ///< sends documents to a server: runs only where the user agreed to it
  /// Environment variables that hold secrets and that the host may see, by name.
  std::vector<std::string> secrets = {};
  /// Roles of trained files ("adapter") that it predicts with: a training cell makes them, or the
  /// sweep names a file. Not empty: SessionFactory::open_training is there.
  std::vector<std::string> artifacts = {};
  /// Other methods ("lora") whose trained files a training may begin with, besides its own.
  std::vector<std::string> begins_with = {};
  /// Other methods whose trained files it predicts with, besides its own.
  std::vector<std::string> reads_files_of = {};
  /// Those of `artifacts` that another method alone trains, and its name: the sweep names a file or
  /// a row that trains it. Such a file is of the model in `backbones` with the same role.
  std::map<std::string, std::string> made_by = {};
  /// Of models that have to be of a kind, by role in `backbones`, and "backbone" for the one that
  /// writes: what config.json's "model_type" may be.
  std::map<std::string, std::vector<std::string>> model_types = {};
  /// Training reads gold evidence, of its own examples.
  bool learns_evidence = false;
  /// The outputs of a unit do not depend on one another: those that arrived before a failure are
  /// kept, and only the others run again.
  bool separate_rows = false;
  /// Part of a document is read as memory, which may be made of Example::other_document.
  bool memory = false;
  /// Weights are made of the query, which may be Example::other_query.
  bool instruction = false;
};

/// Ordinals of the examples that are run, prefix-shared and committed together.
struct Unit {
  std::vector<int64_t> ordinals;

  friend bool operator==(const Unit&, const Unit&) = default;
};

/// Sizes that a cost estimate may use.
struct DatasetStats {
  int64_t examples = 0;
  double mean_document_words = 0;
  double mean_query_words = 0;
};

/// Predicted work of a cell. Monotone in lengths: it orders cells, balances shards and gives the
/// ETA.
struct Cost {
  double flops = 0;
  double bytes = 0;  ///< memory traffic
  double tokens_out = 0;
};

/// The name of a layer without its version: "generation" of "generation@4", "rouge" of a metric's
/// signature.
constexpr std::string_view layer_name(std::string_view layer) {
  return layer.substr(0, layer.find_first_of("@|"));
}

/// What must fit into so many tokens of the backbone's tokenizer for an example to be read at all.
struct TokenBound {
  std::vector<std::string> pieces;  ///< of a text, in order; each is tokenized by itself
  int64_t tokens = 0;
  std::string what;    ///< "the prompt up to the end of the query", for people
  std::string holder;  ///< "the first segment ('local_context')"
};

/// What a training has beside its parameters.
struct TrainingFacts {
  int64_t examples = 0;      ///< to learn from
  bool development = false;  ///< whether there are others that choose
  bool begins = false;       ///< with a trained file
};

class MethodSpec {
 public:
  virtual ~MethodSpec() = default;
  virtual std::string_view name() const = 0;  ///< snake_case, unique
  virtual std::string_view doc() const = 0;   ///< one line
  virtual int version() const = 0;            ///< raised when equal parameters give other outputs
  /// Versions of the shared code it rests on, e.g. "generation@1"; sorted. Part of the cell id.
  /// `facts`: of its backbone.
  virtual std::vector<std::string> layers(const Params& params,
                                          const BackboneFacts& facts) const = 0;
  virtual std::vector<ParamSpec> params() const = 0;
  virtual Needs needs(const Params& params) const = 0;

  /// What ranges and choices cannot say: rules between parameters. Called once per cell at plan
  /// time.
  virtual Status validate(const Params&) const { return {}; }

  /// Rules between parameters and the backbone; likewise.
  virtual Status check_backbone(const Params&, const BackboneFacts&) const { return {}; }

  /// Rules between a training and the recipe of a file that it begins with; likewise.
  virtual Status check_init(const Params&, const Params& /*recipe*/) const { return {}; }

  /// Rules between parameters, those of predicting too, and the training that the cell waits for;
  /// likewise.
  virtual Status check_training(const Params&, const TrainingFacts&) const { return {}; }

  /// Where an example can be too long for the method, whatever is cut. Likewise, once an example.
  virtual std::optional<TokenBound> token_bound(const Params&, const Example&) const {
    return std::nullopt;
  }

  /// What is refused of an example, to read or to learn from, as far as its texts say it. Likewise,
  /// once an example.
  virtual Status check_example(const Params&, const Example&) const { return {}; }

  /// Whether a training with these parameters depends on the one of this name, whose stage is not
  /// predicting alone. Only those are the training cell's, and part of its id.
  virtual bool trains_with(const Params&, std::string_view /*name*/) const { return true; }

  /// How a cell is cut: a pure function of (examples, parameters), never of what is already done.
  /// `examples` are the selected ones in order. Default: `batch_size` consecutive examples
  /// (1 without that parameter).
  virtual std::vector<Unit> units(const Params& params,
                                  std::span<const NumberedExample> examples) const;

  virtual Cost cost(const Params& params, const DatasetStats& stats) const = 0;
  /// The same of a training cell, for methods that train; `stats`: of the training split.
  virtual Cost training_cost(const Params&, const DatasetStats&) const { return {}; }

  /// Whether outputs may depend on the seed of predicting (a training cell has the sweep's in any
  /// case). Where they do not, a cell is computed once, with seed 0, whatever seeds a sweep has.
  virtual bool seed_matters(const Params&) const { return true; }

  /// What ties outputs to one sweep (the address of a server whose model may change any day). Not
  /// empty: the cell id holds it and the sweep's name, so that no other sweep reuses them.
  virtual std::string sweep_bound(const Params&) const { return {}; }
};

/// Time spent in a part of a unit.
struct Phase {
  std::string name;  ///< "prefill", "decode", "first_token"
  int64_t ns = 0;
  int64_t tokens = 0;             ///< of the whole unit processed in that phase
  std::optional<Work> work = {};  ///< what the phase had to compute and read, where it is known

  friend bool operator==(const Phase&, const Phase&) = default;
};

/// Where a session puts its results. Thread-compatible; calls come from `run` only.
class PredictionSink {
 public:
  virtual ~PredictionSink() = default;
  /// Exactly one call per example of the unit, in any order.
  virtual void emit(int64_t ordinal, Prediction prediction) = 0;
  /// For `measure` results; once a name and unit.
  virtual void phase(const Phase& phase) = 0;
};

/// How outputs are produced without being part of what is asked (cell id): part of numerics_id.
struct RuntimeOptions {
  std::string device = "cpu";
  std::string dtype = "float32";
  int threads = 1;          ///< intra-op threads
  bool ignore_eos = false;  ///< `fixed_n` measuring: always produce the maximum number of tokens
};

struct SessionRequest {
  Params params;
  uint64_t seed = 0;
  std::optional<Resource> backbone;  ///< what writes
  std::optional<Resource> tokenizer;
  RuntimeOptions runtime;
  std::map<std::string, Resource> backbones = {};  ///< further models, by role
  std::map<std::string, Resource> artifacts = {};  ///< by role; of a training: what it begins with
};

class MethodSession {
 public:
  virtual ~MethodSession() = default;
  /// Summarizes the examples of one unit. After an error the session is closed.
  virtual Status run(std::span<const NumberedExample> unit, PredictionSink& sink) = 0;

  /// What this machine does at most of what the session's model does, measured now in under two
  /// seconds with the threads that the model uses. std::nullopt: there is no model, or its device
  /// is not measured.
  virtual Result<std::optional<MachineLimits>> measure_limits() {
    return std::optional<MachineLimits>();
  }
};

/// Opens sessions of one method; one per method, listed in methods/light_sessions.h or
/// tensor_sessions.h.
struct SessionFactory {
  std::string method;
  /// Weights and tokenizers are taken from `cache`, which outlives the session.
  Result<std::unique_ptr<MethodSession>> (*open)(const SessionRequest& request,
                                                 ResourceCache& cache) = nullptr;
  /// Of methods that train.
  Result<std::unique_ptr<TrainingSession>> (*open_training)(const SessionRequest& request,
                                                            ResourceCache& cache) = nullptr;
};

/// A trained file, and what it says of itself; empty where it says nothing.
struct ArtifactFacts {
  Resource file;
  std::string method;
  std::string backbone;                               ///< digest
  std::map<std::string, std::string> backbones = {};  ///< of other models and files, by role
  std::string training_cell;                          ///< id in hex
  Params recipe;                                      ///< parameters of its training
};

/// The methods and model files that this build knows; the driver's view of `methods/`.
class MethodCatalog {
 public:
  virtual ~MethodCatalog() = default;
  virtual std::vector<const MethodSpec*> specs() const = 0;
  /// The spec with this name; `not_found` names the nearest one.
  virtual Result<const MethodSpec*> find(std::string_view name) const = 0;
  /// A backbone by registered name, directory or GGUF file; checks that the file is there.
  virtual Result<Resource> backbone(std::string_view name) const = 0;
  /// What its checkpoint says; `unavailable` for an architecture that no code computes.
  virtual Result<BackboneFacts> backbone_facts(const Resource& backbone) const = 0;
  /// What a model's config.json calls its "model_type", or a GGUF file its architecture; empty: not
  /// known here.
  virtual Result<std::string> model_type(const Resource& /*model*/) const { return std::string(); }
  /// A tokenizer by backbone name, built-in name (`words`, `characters`) or file.
  virtual Result<Resource> tokenizer(std::string_view name) const = 0;
  /// A trained file, or a folder in PEFT's form. `data` for one that is neither.
  virtual Result<ArtifactFacts> artifact(std::string_view path) const = 0;
  /// Names that `backbone` accepts without a path, for `list` and suggestions.
  virtual std::vector<std::string> backbone_names() const = 0;
};

}  // namespace qfs

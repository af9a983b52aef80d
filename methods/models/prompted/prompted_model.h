// PromptedModel: a backbone that is asked, with how it is prompted, how its tokens are chosen, and
// who counts a document's; what sessions that prompt open first.
//
// Not thread-safe. Weights and tokenizers are shared through the host's cache.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "harness/api/method.h"
#include "methods/models/decoding/generator.h"
#include "methods/models/nn/infini_memory.h"
#include "methods/models/prompted/prompt_maker.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::prompted {

/// A backbone and what it reads for an example.
struct Prompts {
  std::shared_ptr<const architectures::Backbone> backbone;
  std::shared_ptr<const tokenizers::Tokenizer> counter;
  PromptMaker maker;
};

/// A backbone that writes, however it is prompted.
struct Writer {
  std::shared_ptr<const architectures::Backbone> backbone;
  decoding::DecodingOptions options;  ///< for outputs of max_new_tokens
  decoding::Generator generator;
  RuntimeOptions runtime;
};

struct PromptedModel {
  Prompts prompts;
  decoding::DecodingOptions options;  ///< for outputs of max_new_tokens
  decoding::Generator generator;
  RuntimeOptions runtime;
  /// Prompts with a memory are read in segments as far as the batch's shortest and their own query,
  /// the rest of each token by token, so that an output depends on its batch: as IDEAL's release
  /// reads.
  bool reads_together = false;
};

/// Configures LibTorch. Errors: those of the backbone and of the cell's tokenizer, `unavailable`
/// for a chat template that does not run, `invalid_argument` for parameters that the kind of
/// backbone has no use for.
Result<Prompts> open_prompts(const SessionRequest& request, ResourceCache& cache);

/// The memory of a model's rows.
using MakeMemory =
    std::function<Result<std::shared_ptr<const nn::InfiniMemory>>(const nn::Decoder& decoder)>;

/// What a model computes in the place of its backbone's network.
using ChangeNetwork = std::function<Result<std::shared_ptr<const nn::Network>>(
    std::shared_ptr<const nn::Network> network)>;

/// The same, with the model that answers; where `memory` is given, its rows have that. Errors
/// likewise, those of the decoding's parameters, of `memory` and of `change`.
Result<PromptedModel> open_prompted_model(const SessionRequest& request, ResourceCache& cache,
                                          const MakeMemory& memory = {},
                                          const ChangeNetwork& change = {});

/// Configures LibTorch and opens the backbone of a request: with windows, or with more positions,
/// where its parameters say so.
Result<std::shared_ptr<const architectures::Backbone>> open_backbone(const SessionRequest& request,
                                                                     ResourceCache& cache);

/// A backbone that open_backbone opened as it writes. Errors: those of the decoding's parameters
/// and of the model.
Result<Writer> open_writer(const SessionRequest& request,
                           std::shared_ptr<const architectures::Backbone> backbone,
                           ResourceCache& cache, const MakeMemory& memory = {});

/// An output as it is stored, with what it was told.
Prediction prediction_of(const PreparedPrompt& prompt, const decoding::Generated& generated,
                         std::map<std::string, double> observed = {});

/// The phases of a unit whose time went into `calls` outputs.
void tell_times(const decoding::GenerationTimes& times, int64_t calls, PredictionSink& sink);

/// The machine's limits for the shapes of a model, where and in the type that it is run.
Result<std::optional<MachineLimits>> measure_limits(const decoding::Generator& generator,
                                                    const RuntimeOptions& runtime);

}  // namespace qfs::prompted

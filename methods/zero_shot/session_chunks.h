// ChunkedSession: a session whose outputs take several calls of the model each; ChunkedCalls: those
// of one example, and what they add up to.
//
// Base of chunk_merge's and refine's sessions. The model's caches are shared by all examples. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/api/method.h"
#include "methods/models/prompted/prompted_model.h"

namespace qfs::zero_shot {

using prompted::PreparedPrompt;
using prompted::PromptedModel;

/// Where the time of a unit went.
struct UnitTimes {
  decoding::GenerationTimes sum;
  int64_t calls = 0;

  void tell(PredictionSink& sink) const;
};

/// An example's document, cut to input_tokens and in chunks.
struct ChunkedExample {
  Truncation ledger;
  std::vector<std::string> chunks;
};

Result<ChunkedExample> read_chunks(const Example& example, const PromptedModel& model,
                                   const Params& params);

class ChunkedCalls {
 public:
  /// `stream`: names the draws of this example; all references outlive the object.
  ChunkedCalls(PromptedModel& model, UnitTimes& times, uint64_t stream)
      : model_(model), times_(times), stream_(stream) {}

  /// The outputs of `prompts`, `batch` of them decoded together, in order. Ill-formed UTF-8 is
  /// repaired.
  Result<std::vector<std::string>> outputs(const std::vector<PreparedPrompt>& prompts,
                                           int64_t new_tokens, int64_t batch);
  Result<std::string> output(const PreparedPrompt& prompt, int64_t new_tokens);

  /// The last output with the sums of all calls, and in its extra how many chunks were read, in how
  /// many rounds.
  Prediction finish(std::string text, const Truncation& ledger, size_t chunks,
                    int64_t rounds) const;

 private:
  PromptedModel& model_;
  UnitTimes& times_;
  uint64_t stream_;
  uint64_t calls_ = 0;
  int64_t cut_ = 0;  ///< outputs that their limit ended
  Prediction sums_;  ///< tokens, repaired bytes; finish and prompt of the last call
};

/// A session whose outputs each take several calls: a subclass says which.
class ChunkedSession : public MethodSession {
 public:
  ChunkedSession(const SessionRequest& request, std::string_view method, PromptedModel model)
      : params_(request.params), seed_(request.seed), method_(method), model_(std::move(model)) {}

  Status run(std::span<const NumberedExample> unit, PredictionSink& sink) final;
  Result<std::optional<MachineLimits>> measure_limits() final {
    return prompted::measure_limits(model_.generator, model_.runtime);
  }

 protected:
  virtual Result<Prediction> summarize(const Example& example, ChunkedCalls& calls) = 0;

  const Params& params() const { return params_; }
  const PromptedModel& model() const { return model_; }

 private:
  Params params_;
  uint64_t seed_;
  std::string method_;  ///< names the streams of draws
  PromptedModel model_;
};

}  // namespace qfs::zero_shot

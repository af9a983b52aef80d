// PromptedSession: a session whose output is what the backbone writes behind an example's prompt.
//
// Opened by zero_shot, and with adapters by methods that trained them. Not thread-safe. Errors of
// `run`: `invalid_argument` for an example whose prompt and output exceed the backbone's window,
// naming it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "methods/models/nn/adapters.h"
#include "methods/models/prompted/prompted_model.h"

namespace qfs::prompted {

/// What a row has beside its prompt.
struct RowAddition {
  std::shared_ptr<const nn::Adapters> adapters;  ///< bound to the generator's model
  std::map<std::string, double> observed = {};   ///< numbers that are said of its output
  /// In the place of the prompt's.
  std::optional<std::vector<int64_t>> global_positions = {};
};

class PromptedSession final : public MethodSession {
 public:
  /// That of an example whose row begins with `input`.
  using AdaptersOf = std::function<Result<RowAddition>(
      const Example& example, const nn::SequenceInput& input, PromptedModel& model)>;

  /// `draws`: names the streams of random numbers. Without `adapters` rows have none.
  /// `cuts_to_window`: a document that does not fit is cut until it does.
  PromptedSession(uint64_t seed, std::string_view draws, PromptedModel model,
                  AdaptersOf adapters = {}, bool cuts_to_window = false)
      : seed_(seed),
        draws_(draws),
        model_(std::move(model)),
        adapters_(std::move(adapters)),
        cuts_to_window_(cuts_to_window) {}

  Status run(std::span<const NumberedExample> unit, PredictionSink& sink) override;
  Result<std::optional<MachineLimits>> measure_limits() override {
    return prompted::measure_limits(model_.generator, model_.runtime);
  }

 private:
  /// What has left the window when a prompt ends becomes tokens of the example's other document,
  /// which begins again where it ends; how many.
  Result<int64_t> put_other_memory(const Example& example, nn::SequenceInput& input) const;

  uint64_t seed_;
  std::string draws_;
  PromptedModel model_;
  AdaptersOf adapters_;
  bool cuts_to_window_;
};

}  // namespace qfs::prompted

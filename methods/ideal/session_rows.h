// RowAdapters: what rows that ideal, parallel_adapter and prompt_tuning write are given beside
// their prompts; of a hypernetwork, generated once for each instruction.
//
// Held by a session. Not thread-safe. Errors: those of the model, and `invalid_argument` for an
// example with another query where there is no hypernetwork to read it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "methods/models/peft/layer_adapter.h"
#include "methods/models/prompted/prompted_session.h"

namespace qfs::ideal {

/// In a file's metadata: decoders of its hypernetwork that learned nothing.
inline constexpr const char* kDeadMark = "qfs.dead_hypernetwork";
/// Of its training's curve, and of what is written with it.
inline constexpr const char* kDeadWarning = "warning.dead_hypernetwork";

class RowAdapters {
 public:
  /// Instructions whose adapters are kept; of a large backbone they have some megabytes each.
  static constexpr size_t kMostKept = 32;

  /// `of_general_request`: all are made of the request for any summary.
  RowAdapters(peft::LayerAdapter adapter, bool of_general_request);

  /// Those of a row of `model` that begins with `input`.
  Result<prompted::RowAddition> of(const Example& example, const nn::SequenceInput& input,
                                   prompted::PromptedModel& model);

 private:
  /// Adapters, and what hypernetworks made of them: all numbers in a row, [numbers].
  struct Generated {
    std::shared_ptr<const nn::Adapters> adapters;
    at::Tensor numbers;
  };
  struct Key {
    std::vector<int32_t> ids;
    int64_t query_first;
    int64_t query_count;
    int64_t document_first;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  Result<Generated> generated_for(const nn::SequenceInput& input, decoding::Generator& generator);
  Result<Generated> generated_of(const nn::SequenceInput& prefix, decoding::Generator& generator);
  /// Those of the prompt with another query; an empty one asks for a summary of the document.
  Result<Generated> generated_for_query(Example example, std::string query,
                                        prompted::PromptedModel& model);

  peft::LayerAdapter adapter_;
  bool of_general_request_;
  bool dead_;  ///< the file says so
  std::map<Key, Generated> made_;
  std::deque<Key> order_;  ///< the oldest first
};

}  // namespace qfs::ideal

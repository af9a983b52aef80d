// The parameters of a training: its steps, its data, what chooses among its evaluations, and the
// rules between them.
//
// Declared by the specs of all methods that train tensors here. Torch-free. Pure; thread-safe.
#pragma once

#include <string_view>
#include <vector>

#include "harness/api/method.h"
#include "methods/models/nn/dropout_rates.h"

namespace qfs::prompted {

/// One of the parameters of training: part of its id, not of predicting's.
ParamSpec of_training(ParamSpec spec);
/// Part of both ids: predicting has to know it, too, where a file does not say it.
ParamSpec of_both(ParamSpec spec);

/// The parameters of training and of its data: `learning_rate` … `checkpoint_every`.
std::vector<ParamSpec> training_params();

/// Names what chooses among evaluations, in front of all parameters about that; whether outputs do.
inline constexpr std::string_view kSelect = "select_";
inline constexpr const char* kSelectBy = "select_by";
bool chosen_by_outputs(const Params& params);
/// What is asked of outputs that choose (`select_num_beams` …, `label_tokens` at most), by its
/// names in writing.
Params selecting_decoding(const Params& params);
/// The rules about how long a training is and what its evaluations decide.
Status check_recipe(const Params& params);
/// Of MethodSpec::check_training: what chooses or ends by development examples needs some.
Status check_training_data(const Params& params, const TrainingFacts& facts);

/// `dropout`, `attention_dropout`, `activation_dropout`, and `dropout_rates`, which says what those
/// are that are left out.
std::vector<ParamSpec> dropout_params();
/// What they ask for; `checkpoint`: of its configuration. `data`: what that says is no probability
/// below 1.
Result<nn::DropoutRates> dropout_rates(const Params& params, const nn::DropoutRates& checkpoint);
/// Names of those and of others that are of training with an encoder-decoder.
inline constexpr const char* kDecoderStart = "decoder_start";
std::vector<std::string_view> encoder_decoder_names();

/// Evaluations without a better one that halve the learning rate.
inline constexpr const char* kHalveAfter = "halve_after";
/// Tokens of an example where nobody says how many.
inline constexpr int64_t kTrainTokens = 1024;
/// 'label_tokens' likewise.
inline constexpr int64_t kLabelTokens = 96;

}  // namespace qfs::prompted

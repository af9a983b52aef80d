// What methods declare alike whose attention can have a compressive memory (nn/infini_memory.h):
// their parameters and the rules between them.
//
// Used by specs (lora) and by what prompts them; torch-free. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/method.h"
#include "methods/models/prompting/prompt_template.h"

namespace qfs::prompted {

/// The flag of prompts that show the query behind the document, too.
inline constexpr const char* kRepeatQuery = "repeat_query";

/// With a memory `local_context` is the length of a segment, and `input_tokens` that of the
/// document.
std::vector<ParamSpec> memory_params();
/// The one of them that means something without a memory, too.
ParamSpec segment_loss_param();
/// MethodSpec::validate of them.
Status check_memory_params(const Params& params);

bool has_memory(const Params& params);

/// `invalid_argument`: the query has to end within the first segment of so many tokens and does
/// not.
Status check_first_segment(const Params& params, int64_t query_end, int64_t segment);

/// What is left out is as in IDEAL's release, with the preset "as_written" as in its equations.
struct MemoryForm {
  std::string rule;         ///< "delta", "linear"
  std::string alpha_scale;  ///< "head", "model"
  bool gamma_bias = true;
  bool segment_sums = false;  ///< the loss is of sums of segments' means
  /// As the release reads: learned sequences are filled up to whole segments, each of which has
  /// draws of its own, and the repeated query stands right behind the document.
  bool released = false;
};
MemoryForm memory_form(const Params& params);

/// ModelRules::check_file of them: a memory is read as the file's was trained.
Status check_memory_file(const Params& params, const Params& recipe);
/// MethodSpec::check_init of them: a file that has a memory begins a training whose memory has the
/// same form.
Status check_memory_init(const Params& params, const Params& recipe);
/// The tokens of a sequence, at most: the backbone's window, or more where `positions` asks for it;
/// 0: neither is known.
int64_t positions_of(const Params& params, const BackboneFacts& facts);
/// MethodSpec::check_backbone of them: nothing is longer than a sequence.
Status check_memory_window(const Params& params, const BackboneFacts& facts);

/// MethodSpec::token_bound of them: the first segment has the whole query where that asks a memory,
/// or a hypernetwork pools it.
std::optional<TokenBound> first_segment_bound(const Params& params, const Example& example);

/// The prompt's template, with the query repeated where it is asked for.
std::string prompt_template(const Params& params);
/// It filled; where the release's form of a memory shows the query again, what shows it first is
/// parted by a joint from what is in front, too.
prompting::FilledPrompt filled_prompt(const Params& params, std::string_view document,
                                      std::string_view query);
/// The stretches that are tokenized each by itself: between joints with `prompt_pieces`, else all.
std::vector<std::string_view> prompt_pieces(const Params& params,
                                            const prompting::FilledPrompt& filled);

/// Document tokens that a method reads; nothing: all. Where they are read in windows, with a memory
/// or compressed by a "ratio", `local_context` is that of one.
std::optional<int64_t> document_budget(const Params& params);

/// Tokens of a segment where `train_segment` is left out.
inline constexpr int64_t kTrainSegment = 512;

}  // namespace qfs::prompted
